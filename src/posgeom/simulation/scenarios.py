"""Corpora of known truth, drawn document by document and counted as a user's are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.counts.counting import count_texts
from posgeom.counts.position_counts import PositionCounts
from posgeom.estimation.crossval import squared_distances
from posgeom.seeds import make_rng
from posgeom.simulation.documents import Documents, authors, chain, families, independent, runs, topical, unequal

_LETTERS = np.array(list("ACGTNRYKM"))
_N_POSITIONS = 24
_TOPICS = 8


@dataclass(frozen=True, eq=False)
class Scenario:
    """A kind of corpus with known truth."""

    name: str
    what: str
    marginal: NDArray[np.float64]
    """True token distribution of each position, shape (n_positions, vocab_size)."""
    make: Callable[[np.random.Generator, NDArray[np.float64]], Documents]
    """Draws documents whose positions have these distributions."""
    n_folds: int = 10
    fold_by: str = "text"
    """``"text"`` or ``"row"``, where documents have no groups."""
    breaks: str = ""
    """Which assumption does not hold here, where one does not."""

    @property
    def n_positions(self) -> int:
        """Context length."""
        return int(self.marginal.shape[0])

    @property
    def has_structure(self) -> bool:
        """Whether position means anything."""
        return bool(np.ptp(self.marginal, axis=0).max() > 1e-12)

    def true_squared(self, depth: int) -> NDArray[np.float64]:
        """Squared distances that samples of one depth show on average, shape (n_positions, n_positions)."""
        roots = expected_roots(self.marginal, depth)
        return np.asarray(np.maximum(squared_distances(roots @ roots.T), 0))

    def true_mean_squared(self, depth: int, positions: NDArray[np.int64]) -> float:
        """The same, as a mean over the pairs of some positions."""
        roots, m = expected_roots(self.marginal[positions], depth), positions.size
        return float(2 * (m * (roots**2).sum() - (roots.sum(axis=0) ** 2).sum()) / (m * (m - 1)))

    def draw(self, rng: np.random.Generator) -> PositionCounts:
        """Counts of one corpus."""
        documents = self.make(rng, self.marginal)
        is_small = self.marginal.shape[1] <= _LETTERS.size
        names = _LETTERS if is_small else _words(self.marginal.shape[1])
        between = "" if is_small else " "
        rows = zip(names[documents.tokens].tolist(), documents.lengths.tolist(), strict=True)
        options: dict[str, Any] = {} if documents.groups is not None else {"fold_by": self.fold_by}
        return count_texts(
            [between.join(row[:length]) for row, length in rows],
            "chars" if is_small else "whitespace",
            groups=documents.groups,
            n_positions=self.n_positions,
            n_folds=self.n_folds,
            workers=1,
            source=self.name,
            **options,
        )


@cache
def _words(n: int) -> NDArray[np.object_]:
    return np.array([str(k) for k in range(n)], object)


def expected_roots(distributions: NDArray[np.float64], depth: int) -> NDArray[np.float64]:
    """E sqrt(X / K) for X binomial with K = `depth` draws, of each probability, interpolated to 1e-5 of the root."""
    log_p, relative = _root_ratios(depth)
    with np.errstate(divide="ignore"):
        logs = np.log(distributions)
    return np.asarray(np.sqrt(distributions) * np.interp(logs, log_p, relative))


@cache
def _root_ratios(depth: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    log_p = np.linspace(np.log(1e-9), 0, 600)
    p = np.exp(log_p)[:, None]
    x = np.arange(depth + 1)
    log_choose = scipy.special.gammaln(depth + 1) - scipy.special.gammaln(x + 1) - scipy.special.gammaln(depth - x + 1)
    pmf = np.exp(log_choose + scipy.special.xlogy(x, p) + scipy.special.xlog1py(depth - x, -p))
    return log_p, (pmf * np.sqrt(x / depth)).sum(axis=1) / np.sqrt(p[:, 0])


def _zipf(vocab_size: int) -> NDArray[np.float64]:
    return 1 / (np.arange(vocab_size) + 2.7)


def _normalised(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _drift(n_positions: int, vocab_size: int, seed: int = 1) -> NDArray[np.float64]:
    """A Zipf vocabulary whose tokens drift smoothly along positions."""
    rng, time = make_rng(seed), np.linspace(0, 1, n_positions)[:, None]
    waves = [
        0.4 / k * rng.normal(size=vocab_size) * np.cos(np.pi * k * time / 2 + phase)
        for k, phase in ((1, 0.3), (2, 1.9), (3, 4.0), (4, 5.5))
    ]
    return _normalised(_zipf(vocab_size) * np.exp(np.sum(waves, axis=0)))


def _motif(n_positions: int, n_letters: int, n_special: int) -> NDArray[np.float64]:
    """A few letters with one distribution at most positions, and others at neighbouring ones in the middle."""
    rng = make_rng(2)
    out = np.repeat(rng.dirichlet(np.full(n_letters, 5.0))[None], n_positions, axis=0)
    start = (n_positions - n_special) // 2
    out[start : start + n_special] = rng.dirichlet(np.full(n_letters, 1.0), n_special)
    return out


def _three_axes(n_positions: int, vocab_size: int) -> NDArray[np.float64]:
    """Distributions whose roots lie on a sphere in three directions: three axes exactly, before any sampling."""
    rng, time = make_rng(3), np.linspace(0, 1, n_positions)[:, None]
    roots = np.sqrt(rng.dirichlet(np.full(vocab_size, 5.0)))
    signs = np.where(rng.random((vocab_size, 3)) < 1 / 2, -1.0, 1.0)
    directions = np.linalg.qr(roots[:, None] * np.concatenate([np.ones((vocab_size, 1)), signs], axis=1))[0][:, 1:]
    height = np.sin(2 * np.pi * time) / 2
    places = np.concatenate(
        [np.sqrt(1 - height**2) * np.cos(np.pi * time), np.sqrt(1 - height**2) * np.sin(np.pi * time), height], axis=1
    )
    return _normalised((roots + 0.2 * places @ directions.T) ** 2)


def _topics(marginal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distributions of eight topics, each with tokens of its own ten times as often, shape (8, ...)."""
    own = np.arange(marginal.shape[1]) % _TOPICS == np.arange(_TOPICS)[:, None, None]
    return _normalised(marginal * np.where(own, 10.0, 1.0))


def _flat(n_positions: int, distribution: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.repeat(_normalised(distribution)[None], n_positions, axis=0)


@cache
def scenarios() -> dict[str, Scenario]:
    """The kinds of corpus of the study, by name."""
    found = [*_with_structure(), *_without_structure()]
    return {one.name: one for one in found}


def _with_structure() -> Iterator[Scenario]:
    n = _N_POSITIONS
    drift, small, short = _drift(n, 2000), _drift(n, 30), _drift(6, 40, 4)
    letters, topics = _motif(30, 5, 5), _topics(drift)
    for k in (500, 5000, 20000):
        yield Scenario(f"letters, N = {k:,}", "five letters, most positions equal", letters, partial(independent, n=k))
    for k in (60, 200):
        yield Scenario(f"{k} documents", f"{k} documents, V = 30", small, partial(independent, n=k))
    for k in (5, 10, 20):
        what = f"Zipf vocabulary, V = 2,000, that drifts; {k} folds"
        yield Scenario(f"drift, {k} folds", what, drift, independent, n_folds=k)
    yield Scenario("unequal lengths", "the drift, geometric lengths", drift, partial(unequal, mean=12, n=4000))
    of_topics = partial(topical, topics=topics, lengths=False)
    yield Scenario("topics", "the drift, in documents of eight topics", topics.mean(axis=0), of_topics)
    yield Scenario("runs", "tokens that repeat the one before", chain(_drift(n, 200)), runs)
    yield Scenario("rank 3", "three axes, V = 200, N = 3,000", _three_axes(n, 200), partial(independent, n=3000))
    yield Scenario("dense vocabulary", "V = 240, N = 2,000", _drift(n, 240), independent)
    yield Scenario("huge vocabulary", "V = 50,000, N = 2,000", _drift(n, 50000), independent)
    for name, grouped, edited, breaks in (
        ("copies, grouped", True, 0.1, ""),
        ("copies, by text", False, 0.0, ""),
        ("copies, not grouped", False, 0.1, "copies in several folds"),
    ):
        what = f"families of five {'edited' if edited else 'exact'} copies"
        yield Scenario(name, what, drift, partial(families, grouped=grouped, edited=edited), breaks=breaks)
    for fold_by, breaks in (("row", ""), ("text", "texts that coincide by chance share folds")):
        documents = partial(unequal, mean=2.5)
        yield Scenario(f"short, by {fold_by}", "mean length 2.5, V = 40", short, documents, 10, fold_by, breaks)


def _without_structure() -> Iterator[Scenario]:
    n, five = _N_POSITIONS, _flat(30, np.array([0.3, 0.25, 0.2, 0.2, 0.05]))
    topics = _topics(_flat(n, _zipf(2000)))
    copies = partial(families, grouped=True, lengths=True)
    yield Scenario("none: letters", "five letters", five, independent)
    yield Scenario("none: 60 documents", "60 documents, V = 30", _flat(n, _zipf(30)), partial(independent, n=60))
    of_topics = partial(topical, topics=topics, lengths=True)
    yield Scenario("none: topics", "eight topics, geometric lengths", topics.mean(axis=0), of_topics)
    yield Scenario("none: runs", "tokens that repeat the one before", _flat(n, _zipf(200)), runs)
    yield Scenario("none: runs of letters", "letters that repeat the one before", five, runs)
    yield Scenario("none: grouped copies", "edited copies of unequal length, grouped", _flat(n, _zipf(2000)), copies)
    yield Scenario("none: authors", "a hundred authors, grouped", _flat(n, _zipf(500)), authors)
    yield Scenario(
        "none: short", "mean length 2.5, V = 40", _flat(6, _zipf(40)), partial(unequal, mean=2.5), fold_by="row"
    )
    yield Scenario("none: huge vocabulary", "V = 50,000", _flat(n, _zipf(50000)), independent)
    yield Scenario("none: 20 folds", "V = 200, 20 folds", _flat(n, _zipf(200)), independent, n_folds=20)
