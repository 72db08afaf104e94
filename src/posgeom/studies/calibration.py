"""Calibration: are the estimates unbiased, and do the intervals cover, on corpora whose truth is known.

Each scenario is drawn many times, and every estimate is set against the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from posgeom.encodings.alibi import alibi
from posgeom.encodings.base import Encoding
from posgeom.encodings.random import random
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import PosgeomError
from posgeom.geometry.build import geometry
from posgeom.geometry.depth_curve import depth_curve
from posgeom.geometry.distance_matrix import DistanceMatrix, upper_pairs
from posgeom.geometry.significance import DEFAULT_ALPHA, significance
from posgeom.progress import ProgressHook, silent
from posgeom.scores.correlation import pearson_against
from posgeom.scores.interval import Interval, mean_interval
from posgeom.scores.scorecard import Scorecard, scorecard
from posgeom.scores.stress import paired_distances, stress_against
from posgeom.seeds import make_rng
from posgeom.studies.scenarios import N_POSITIONS, SCENARIOS, Scenario, scenarios

LEVEL = 0.95
SCORED = ("stress_scaled", "pearson", "stress_raw", "scale", "stress_1")
CEILINGS = tuple(f"noise ceiling, {score}" for score in SCORED[:2])
"""What half of a corpus scores has no other truth than its mean."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """How an estimate does in one scenario.

    Attributes
    ----------
    scenario, estimate : str
    truth : float
        What it estimates; for a noise ceiling its own mean.
    mean, spread : float
        Of the estimate, over the replications in which it is defined.
    coverage : float or None
        Share of the intervals that there are which hold the truth; None where there are none.
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
    values = values[np.isfinite(values)]
    mean = float(values.mean()) if values.size else float("nan")
    truth = mean if estimate in CEILINGS else truth
    inside = [draw.low <= truth <= draw.high for draw in draws if np.isfinite([draw.low, draw.high]).all()]
    plugin = np.array([draw.plugin for draw in draws])
    return Calibrated(
        scenario,
        estimate,
        truth,
        mean,
        float(values.std(ddof=1)) if values.size > 1 else float("nan"),
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
    out = []
    for encoding in encodings:
        matrix, target = paired_distances(encoding, distances)
        pairs = upper_pairs(matrix)
        stress, correlation = stress_against(pairs, target), pearson_against(pairs, target)
        values = (stress.scaled, correlation, stress.raw, stress.scale, stress.stress_1)
        out.append({score: value or 0.0 for score, value in zip(SCORED, values, strict=True)})
    return out


def _scores(
    card: Scorecard, truths: Sequence[dict[str, float]], plain: Sequence[dict[str, float]]
) -> list[tuple[str, float, _Draw]]:
    found = []
    for row, truth, plugin in zip(card, truths, plain, strict=True):
        for score in SCORED:
            drawn = _draw(getattr(row, score), row.intervals.get(score), plugin[score])
            found.append((f"{score} {row.name}", truth[score], drawn))
    for estimate, score in zip(CEILINGS, SCORED[:2], strict=True):
        drawn = _draw(card.ceiling[score], card.ceiling_intervals.get(score), float("nan"))
        found.append((estimate, float("nan"), drawn))
    first, second = card.rows[:2]
    gap = card.difference(first.name, second.name)
    if gap.value is not None and gap.interval is not None:
        true_gap = truths[0]["stress_scaled"] - truths[1]["stress_scaled"]
        plain_gap = plain[0]["stress_scaled"] - plain[1]["stress_scaled"]
        draw = _Draw(gap.value, gap.interval.low, gap.interval.high, plain_gap)
        found.append((f"stress_scaled {first.name} - {second.name}", true_gap, draw))
    return found


def _draw(value: float | None, interval: Interval | None, plugin: float) -> _Draw:
    nan = float("nan")
    low, high = (nan, nan) if interval is None else (interval.low, interval.high)
    return _Draw(nan if value is None else value, low, high, plugin)
