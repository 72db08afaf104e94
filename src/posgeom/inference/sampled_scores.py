"""Scores that need distances, for geometries that are too large for all of them: over pairs and triples that are drawn.

Up to `MAX_EXACT` positions all pairs are used, and the scores are those of a scorecard. Beyond, pairs and triples are
drawn with a seed, and the error of that is the delete-a-group jackknife over groups of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding, check_magnitudes
from posgeom.errors import EncodingError, GeometryError
from posgeom.estimation.crossval import squared_distances
from posgeom.estimation.distance_matrix import clipped_roots, upper_pairs
from posgeom.estimation.leading_axes import LeadingAxes
from posgeom.frames import Framed
from posgeom.inference.jackknife import Estimate, jackknife
from posgeom.inference.large_alignment import MAX_EXACT
from posgeom.progress import ProgressHook, silent
from posgeom.scores.correlation import pearson, spearman
from posgeom.scores.monotonicity import RELATIVE_TOLERANCE, monotonicity
from posgeom.scores.stress import stress_of_pairs
from posgeom.seeds import make_rng

N_PAIRS = 100_000
N_GROUPS = 20
FIELDS = ("stress_raw", "stress_scaled", "stress_1", "pearson", "spearman")
Values = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SampledScores(Framed):
    """Scores of one encoding against leading axes' geometry: against all of its distances, not those along the axes.

    Attributes
    ----------
    name : str
        Of the encoding; ``"corpus"`` for the corpus itself, whose violations alone are known.
    scores : dict of str to Estimate
        ``stress_raw``, ``stress_scaled``, ``stress_1``, ``pearson``, ``spearman`` and ``violation_rate``; the errors
        are those of drawing pairs and triples, and say nothing of the sampling of documents.
    n_pairs, n_triples : int
        That were looked at.
    is_exact : bool
        Whether these are all there are.
    """

    name: str
    scores: dict[str, Estimate]
    n_pairs: int
    n_triples: int
    is_exact: bool

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain dictionary per score, for JSON, CSV or a data frame."""
        how = {"n_pairs": self.n_pairs, "n_triples": self.n_triples, "is_exact": self.is_exact}
        return [
            {"name": self.name, "score": score, "value": one.value, "standard_error": one.standard_error} | how
            for score, one in self.scores.items()
        ]


def sampled_scores(
    encodings: Sequence[Encoding],
    axes: LeadingAxes,
    *,
    n_pairs: int = N_PAIRS,
    seed: int = 0,
    progress: ProgressHook = silent,
) -> tuple[SampledScores, ...]:
    """Stress, correlations and monotonicity against a geometry of any context length.

    A lower stress is a more faithful geometry, not a better model.

    Parameters
    ----------
    encodings : sequence of Encoding
        That have vectors, or distances which depend on the lag alone.
    axes : LeadingAxes
    n_pairs : int
        Pairs of positions, and triples of them, that are drawn, with replacement, where there are more than 2,048
        positions.
    seed : int
        Of the drawing.
    progress : callable
        Called as ``progress("scores", done, total)``.

    Returns
    -------
    tuple of SampledScores
        That of the corpus itself first.

    Raises
    ------
    GeometryError
        When fewer pairs are asked for than there are groups of them.
    EncodingError
        When an encoding has neither vectors nor distances by lag.
    """
    if n_pairs < 2 * N_GROUPS:
        raise GeometryError(f"n_pairs {n_pairs}: expected at least {2 * N_GROUPS}, for the error of drawing them")
    pairs = _AllPairs(axes) if axes.positions.size <= MAX_EXACT else _Sample(axes, n_pairs, seed)
    scored = []
    for done, encoding in enumerate([None, *encodings]):
        progress("scores", done, len(encodings) + 1)
        scored.append(pairs.scored(encoding))
    progress("scores", len(encodings) + 1, len(encodings) + 1)
    return tuple(scored)


class _AllPairs:
    """All pairs of positions, and all triples."""

    def __init__(self, axes: LeadingAxes) -> None:
        self.positions = axes.positions
        self.first, self.second = np.triu_indices(axes.positions.size, 1)
        self.target = clipped_roots(upper_pairs(squared_distances(axes.gram.dense())))

    def scored(self, encoding: Encoding | None) -> SampledScores:
        pairs = self.target if encoding is None else distances_at(encoding, self.positions, self.first, self.second)
        square = np.zeros((self.positions.size,) * 2)
        square[self.first, self.second] = square[self.second, self.first] = pairs
        counted = monotonicity(square, self.positions)
        values = dict(zip(FIELDS, _of_pairs(pairs, self.target), strict=True)) if encoding is not None else {}
        scores = {name: Estimate(None if np.isnan(value) else float(value)) for name, value in values.items()}
        scores["violation_rate"] = Estimate(counted.violation_rate)
        return SampledScores(_name(encoding), scores, pairs.size, counted.triples, is_exact=True)


class _Sample:
    """Pairs of positions, uniform among all, and triples (i, j, k) with j nearer to i than k, uniform among these."""

    def __init__(self, axes: LeadingAxes, n_pairs: int, seed: int) -> None:
        rng, m = make_rng(seed), axes.positions.size
        self.positions, self.n_pairs = axes.positions, n_pairs
        first, second = _different(rng, m, n_pairs)
        i, j = _different(rng, m, n_pairs)
        k = rng.integers(0, m, n_pairs)
        lags = [np.abs(self.positions[i] - self.positions[other]) for other in (j, k)]
        kept = (k != i) & (lags[0] != lags[1])
        near, far = np.where(lags[0] < lags[1], j, k)[kept], np.where(lags[0] < lags[1], k, j)[kept]
        self.n_triples = int(kept.sum())
        self.first = np.concatenate([first, i[kept], i[kept]])
        self.second = np.concatenate([second, near, far])
        self.target = clipped_roots(axes.gram.squared_at(self.first, self.second))

    def scored(self, encoding: Encoding | None) -> SampledScores:
        known = self.target if encoding is None else distances_at(encoding, self.positions, self.first, self.second)
        pairs, target = known[: self.n_pairs], self.target[: self.n_pairs]
        near, far = known[self.n_pairs :].reshape(2, -1)
        violated = near > far + RELATIVE_TOLERANCE * float(known.max(initial=0))
        by_group = [violated[g::N_GROUPS] for g in range(N_GROUPS)]

        def rate(groups: Sequence[int]) -> float:
            return float(np.concatenate([by_group[g] for g in groups]).mean())

        def scores_of(groups: Sequence[int]) -> Values:
            chosen = np.isin(np.arange(pairs.size) % N_GROUPS, groups)
            return _of_pairs(pairs[chosen], target[chosen])

        scores = {}
        if encoding is not None:
            scores = dict(zip(FIELDS, (one.estimate for one in jackknife(scores_of, N_GROUPS)), strict=True))
        scores["violation_rate"] = jackknife(rate, N_GROUPS)[0].estimate
        return SampledScores(_name(encoding), scores, self.n_pairs, self.n_triples, is_exact=False)


def _different(rng: np.random.Generator, m: int, n: int) -> tuple[Places, Places]:
    """Two different places of m, n times."""
    first, second = rng.integers(0, m, n), rng.integers(0, m - 1, n)
    return first, second + (second >= first)


def _name(encoding: Encoding | None) -> str:
    return "corpus" if encoding is None else encoding.name


def _of_pairs(encoding: Values, target: Values) -> Values:
    stress = stress_of_pairs(encoding, target)
    values = (stress.raw, stress.scaled, stress.stress_1, pearson(encoding, target), spearman(encoding, target))
    return np.array([np.nan if value is None else value for value in values])


def distances_at(encoding: Encoding, positions: Places, first: Places, second: Places) -> Values:
    """Distances of an encoding between positions[first] and positions[second], by its vectors or by the lag."""
    by_lag = encoding.lag_distances()
    if by_lag is not None:
        lags = np.abs(positions[first] - positions[second])
        if int(lags.max(initial=0)) >= by_lag.size:
            raise EncodingError(
                f"encoding {encoding.name} has positions 0 to {by_lag.size - 1}, asked for {int(positions[-1])}"
            )
        values = by_lag[lags]
    else:
        points = encoding.points(positions)
        if points is None:
            raise EncodingError(
                f"encoding {encoding.name} has neither vectors nor distances that depend on the lag: its scores need "
                "all distances, from a geometry of fewer positions"
            )
        with np.errstate(over="ignore"):  # what overflows is refused below
            values = np.concatenate(
                [np.linalg.norm(points[first[part]] - points[second[part]], axis=1) for part in _parts(first.size)]
            )
    check_magnitudes(encoding, values)
    return np.asarray(values)


def _parts(size: int, at_once: int = 1 << 14) -> Iterator[slice]:
    return (slice(start, start + at_once) for start in range(0, size, at_once))
