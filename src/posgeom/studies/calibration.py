"""Calibration: are the estimates unbiased, and do the intervals cover, on corpora whose truth is known.

Documents are drawn token by token, so that everything that real documents do can be in them: a Zipf vocabulary,
positions that drift or change regime, unequal lengths, and topics that make the tokens of a document depend on each
other. Each scenario is drawn many times, and every estimate is set against the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.corpus.counts import PositionCounts
from posgeom.corpus.tokenizers import TokenizerIdentity
from posgeom.encodings.alibi import alibi
from posgeom.encodings.base import Encoding
from posgeom.encodings.random import random
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import PosgeomError
from posgeom.geometry.build import geometry
from posgeom.geometry.depth_curve import depth_curve
from posgeom.geometry.distance_matrix import DistanceMatrix
from posgeom.geometry.significance import DEFAULT_ALPHA, significance
from posgeom.progress import ProgressHook, silent
from posgeom.scores.interval import mean_interval
from posgeom.scores.scorecard import EncodingScores, Scorecard, scorecard
from posgeom.seeds import make_rng

N_POSITIONS, VOCAB_SIZE, N_DOCUMENTS, N_FOLDS, N_NULL = 24, 2000, 2000, 10, 5
LEVEL = 0.95
SCORED = ("stress_scaled", "pearson")
SCENARIOS = ("drift", "regimes", "unequal depth", "bursty", "none")


@dataclass(frozen=True, eq=False)
class Scenario:
    """A corpus with known truth.

    Attributes
    ----------
    name : str
    what : str
        In one sentence.
    distributions : ndarray of float, shape (n_topics, n_positions, vocab_size)
        Token distribution of each position in documents of each topic; topics are equally likely.
    lengths : ndarray of int, shape (n_documents,)
        Tokens of each document. Document k is in fold k mod `N_FOLDS`, so that depths are the same in every draw.
    has_structure : bool
        Whether position means anything.
    """

    name: str
    what: str
    distributions: NDArray[np.float64]
    lengths: NDArray[np.int64]
    has_structure: bool = True

    @property
    def marginal(self) -> NDArray[np.float64]:
        """True token distribution of each position, shape (n_positions, vocab_size)."""
        return np.asarray(self.distributions.mean(axis=0))

    def true_squared(self, depth: int | None) -> NDArray[np.float64]:
        """True squared distances, or what samples of one depth show on average, shape (n_positions, n_positions)."""
        roots = np.sqrt(self.marginal) if depth is None else expected_roots(self.marginal, depth)
        gram = roots @ roots.T
        norms = np.diagonal(gram)
        squared = norms[:, None] + norms - 2 * gram
        np.fill_diagonal(squared, 0)
        return np.asarray(np.maximum(squared, 0))

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        return np.cumsum(self.distributions, axis=2)

    def draw(self, rng: np.random.Generator, n_null: int = N_NULL) -> PositionCounts:
        """Counts of a corpus, with null corpora.

        Parameters
        ----------
        rng : numpy.random.Generator
        n_null : int

        Returns
        -------
        PositionCounts
        """
        n_topics, m, vocab_size = self.distributions.shape
        n = self.lengths.size
        topics = rng.integers(n_topics, size=n)
        uniform = rng.random((n, m))
        tokens = np.empty((n, m), np.int64)
        for topic in range(n_topics):
            rows = topics == topic
            for i in range(m):
                tokens[rows, i] = np.searchsorted(self._cumulative[topic, i], uniform[rows, i])
        tokens = np.minimum(tokens, vocab_size - 1)  # a cumulative sum may end just below 1
        outside = np.arange(m) >= self.lengths[:, None]
        counts = _count(tokens, outside, vocab_size, self.name)
        null = []
        for _ in range(n_null):
            order = rng.random((n, m))
            order[outside] = 2.0  # stays behind the tokens that are there
            permuted = np.take_along_axis(tokens, np.argsort(order, axis=1), axis=1)
            part = _count(permuted, outside, vocab_size, self.name)
            null.append((part.fold, part.position, part.token, part.count))
        return counts.with_null(null, 0) if null else counts


def _count(tokens: NDArray[np.int64], outside: NDArray[np.bool_], vocab_size: int, name: str) -> PositionCounts:
    n, m = tokens.shape
    fold = np.arange(n) % N_FOLDS
    keys = ((fold[:, None] * m + np.arange(m)) * vocab_size + tokens)[~outside]
    distinct, count = np.unique(keys, return_counts=True)
    cell, token = np.divmod(distinct, vocab_size)
    return PositionCounts(
        fold=cell // m,
        position=cell % m,
        token=token,
        count=count.astype(np.int64),
        n_positions=m,
        tokenizer=TokenizerIdentity("tokenizers", name, None, vocab_size, 0),
        documents=np.bincount(fold, minlength=N_FOLDS).astype(np.int64),
        empty_documents=int(outside.all(axis=1).sum()),
        sources=(name,),
    )


def expected_roots(distributions: NDArray[np.float64], depth: int) -> NDArray[np.float64]:
    """E sqrt(X / K) for X binomial with K = `depth` draws, of each probability; shape as given.

    Interpolated in the logarithm of the probability, to about 1e-5 of the root.
    """
    log_p, relative = _root_ratios(depth)
    with np.errstate(divide="ignore"):
        logs = np.log(distributions)
    return np.asarray(np.sqrt(distributions) * np.interp(logs, log_p, relative))


@cache
def _root_ratios(depth: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    log_p = np.linspace(np.log(1e-9), 0, 600)
    p = np.exp(log_p)[:, None]
    x = np.arange(depth + 1)
    with np.errstate(divide="ignore"):
        pmf = scipy.stats.binom.pmf(x, depth, p)
    return log_p, (pmf * np.sqrt(x / depth)).sum(axis=1) / np.sqrt(p[:, 0])


def scenarios() -> tuple[Scenario, ...]:
    """The corpora of the study."""
    rng = make_rng(1)
    base = 1 / (np.arange(VOCAB_SIZE) + 2.7)
    time = np.linspace(0, 1, N_POSITIONS)[:, None]
    waves = [0.4 / k * rng.normal(size=VOCAB_SIZE) * np.cos(np.pi * k * time / 2 + phase) for k, phase in _WAVES]
    drift = _normalised(base * np.exp(np.sum(waves, axis=0)))
    third = np.arange(VOCAB_SIZE) % 3
    regime = np.searchsorted([N_POSITIONS // 4, 3 * N_POSITIONS // 4], np.arange(N_POSITIONS), side="right")
    regimes = _normalised(base * np.where(third == regime[:, None], 3.0, 1.0))
    full = np.full(N_DOCUMENTS, N_POSITIONS)
    # A quarter of the documents reaches the end, evenly over the folds.
    steps = np.linspace(4, 4 * N_POSITIONS / 3, N_DOCUMENTS // N_FOLDS).astype(np.int64)
    unequal = np.minimum(np.repeat(steps, N_FOLDS), N_POSITIONS)
    topics = np.exp(1.2 * rng.normal(size=(8, 1, VOCAB_SIZE)))
    bursty = _normalised(drift * topics)
    flat = np.repeat(_normalised(base)[None], N_POSITIONS, axis=0)
    return (
        Scenario(SCENARIOS[0], "Zipf vocabulary whose tokens drift smoothly", drift[None], full),
        Scenario(SCENARIOS[1], "Zipf vocabulary in three regimes", regimes[None], full),
        Scenario(SCENARIOS[2], "the drift, in documents of unequal length", drift[None], unequal),
        Scenario(SCENARIOS[3], "the drift, in documents of eight topics", bursty, full),
        Scenario(
            SCENARIOS[4], "topics and unequal lengths, and no position", _normalised(flat * topics), unequal, False
        ),
    )


_WAVES = ((1, 0.3), (2, 1.9), (3, 4.0), (4, 5.5))


def _normalised(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, slots=True)
class Calibrated:
    """How an estimate does in one scenario.

    Attributes
    ----------
    scenario, estimate : str
    truth : float
        What it estimates.
    mean, spread : float
        Of the estimate, over replications.
    coverage : float or None
        Share of the intervals that hold the truth; None where there are none.
    n_replications : int
    plugin_mean : float or None
        Mean of the plug-in estimate of the same.
    """

    scenario: str
    estimate: str
    truth: float
    mean: float
    spread: float
    coverage: float | None
    n_replications: int
    plugin_mean: float | None

    @property
    def bias_in_spreads(self) -> float | None:
        """Bias over the standard deviation of the estimate; None where that is 0."""
        return (self.mean - self.truth) / self.spread if self.spread else None


@dataclass(frozen=True, slots=True)
class _Draw:
    """Value, lower and upper bound of one estimate in one replication, and the plug-in value."""

    value: float
    low: float
    high: float
    plugin: float


def calibrate(
    n_replications: int = 200,
    *,
    which: Sequence[str] | None = None,
    method: str = "jackknife",
    seed: int = 0,
    progress: ProgressHook = silent,
) -> list[Calibrated]:
    """Draw every scenario many times and set all estimates against the truth.

    Parameters
    ----------
    n_replications : int
        At least 2.
    which : sequence of str, optional
        Scenarios; all by default.
    method : {"jackknife", "bootstrap"}
        Of the intervals of scores.
    seed : int
    progress : callable
        Called as ``progress("calibrating", done, total)``.

    Returns
    -------
    list of Calibrated

    Raises
    ------
    PosgeomError
        When there are too few replications, or a scenario is unknown.
    """
    names = list(SCENARIOS if which is None else which)
    if n_replications < 2:
        raise PosgeomError(f"{n_replications} replications: expected at least 2")
    for name in names:
        if name not in SCENARIOS:
            raise PosgeomError(f"no scenario {name!r}: expected one of {', '.join(SCENARIOS)}")
    known = dict(zip(SCENARIOS, scenarios(), strict=True))
    out = []
    total = n_replications * len(names)
    for number, name in enumerate(names):
        rng = make_rng(1000 * seed + SCENARIOS.index(name))
        draws: dict[str, list[_Draw]] = {}
        truths: dict[str, float] = {}
        for replication in range(n_replications):
            progress("calibrating", number * n_replications + replication, total)
            for estimate, truth, draw in _replicate(known[name], rng, method):
                draws.setdefault(estimate, []).append(draw)
                truths[estimate] = truth
        out += [_summary(name, estimate, truths[estimate], draws[estimate]) for estimate in draws]
    progress("calibrating", total, total)
    return out


def _summary(scenario: str, estimate: str, truth: float, draws: Sequence[_Draw]) -> Calibrated:
    values = np.array([draw.value for draw in draws])
    inside = [draw.low <= truth <= draw.high for draw in draws if np.isfinite([draw.low, draw.high]).all()]
    plugin = np.array([draw.plugin for draw in draws])
    return Calibrated(
        scenario,
        estimate,
        truth,
        float(values.mean()),
        float(values.std(ddof=1)),
        float(np.mean(inside)) if inside else None,
        len(draws),
        None if np.isnan(plugin).all() else float(plugin.mean()),
    )


_ENCODINGS: tuple[Callable[[], Encoding], ...] = (
    lambda: sinusoidal(N_POSITIONS, 64),
    lambda: alibi(N_POSITIONS),
    lambda: random(N_POSITIONS, 64),
)


def _replicate(scenario: Scenario, rng: np.random.Generator, method: str) -> list[tuple[str, float, _Draw]]:
    """Every estimate from one corpus: its name, the truth, and what was found."""
    counts = scenario.draw(rng)
    shape = geometry(counts, min_depth=1)
    upper = np.triu_indices(N_POSITIONS, 1)
    nan = float("nan")
    found: list[tuple[str, float, _Draw]] = []
    at_depth, at_last = scenario.true_squared(shape.depth), scenario.true_squared(None)
    interval = mean_interval(shape, LEVEL)
    if interval is not None:
        draw = _Draw(shape.distances.mean_squared, interval.low, interval.high, shape.plugin.mean_squared)
        found.append(("mean d^2", float(at_depth[upper].mean()), draw))
    curve = depth_curve(counts, shape)
    limit = None if curve is None else curve.limit(LEVEL)
    if limit is not None:
        found.append(("limit of d^2", float(at_last[upper].mean()), _Draw(*limit, shape.plugin.mean_squared)))
    if scenario.has_structure:
        encodings = [make() for make in _ENCODINGS]
        true_matrix = DistanceMatrix.from_squared(at_depth, shape.positions, "hellinger", "given")
        truths = _score_exactly(encodings, true_matrix)
        card = scorecard(encodings, shape, level=LEVEL, method="bootstrap" if method == "bootstrap" else "jackknife")
        plain = _score_exactly(encodings, shape.plugin)
        found += _scores(card, truths, plain)
    tested = significance(counts, shape)
    if tested is not None:
        p_value = tested.axes[0].p_value
        found.append(("rejected", nan, _Draw(float(p_value <= DEFAULT_ALPHA), nan, nan, nan)))
        found.append(("significant rank", nan, _Draw(float(tested.rank), nan, nan, nan)))
    return found


def _score_exactly(encodings: Sequence[Encoding], distances: DistanceMatrix) -> list[dict[str, float]]:
    from posgeom.scores.correlation import pearson_against
    from posgeom.scores.stress import paired_distances, stress_against

    out = []
    for encoding in encodings:
        matrix, target = paired_distances(encoding, distances)
        pairs = matrix[np.triu_indices(len(distances), 1)]
        scaled, correlation = stress_against(pairs, target).scaled, pearson_against(pairs, target)
        out.append({"stress_scaled": scaled or 0.0, "pearson": correlation or 0.0})
    return out


def _scores(
    card: Scorecard, truths: Sequence[dict[str, float]], plain: Sequence[dict[str, float]]
) -> list[tuple[str, float, _Draw]]:
    found = []
    for row, truth, plugin in zip(card, truths, plain, strict=True):
        for score in SCORED:
            found.append((f"{score} {row.name}", truth[score], _drawn(row, score, plugin[score])))
    first, second = card.rows[:2]
    gap = card.difference(first.name, second.name)
    if gap.value is not None and gap.interval is not None:
        true_gap = truths[0]["stress_scaled"] - truths[1]["stress_scaled"]
        plain_gap = plain[0]["stress_scaled"] - plain[1]["stress_scaled"]
        draw = _Draw(gap.value, gap.interval.low, gap.interval.high, plain_gap)
        found.append((f"stress_scaled {first.name} - {second.name}", true_gap, draw))
    return found


def _drawn(row: EncodingScores, score: str, plugin: float) -> _Draw:
    value, interval = getattr(row, score), row.intervals.get(score)
    nan = float("nan")
    if interval is None:
        return _Draw(nan if value is None else value, nan, nan, plugin)
    return _Draw(value, interval.low, interval.high, plugin)
