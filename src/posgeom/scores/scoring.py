"""All scores of some encodings against a geometry, and what each pair of folds changes in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.geometry.distance_matrix import upper_pairs
from posgeom.geometry.fold_pairs import FoldPairs
from posgeom.geometry.noise import NoiseModel
from posgeom.scores.correlation import pearson, tied_ranks
from posgeom.scores.moments import SCORES, Moments, scores_of_moments, slopes_of_moments

FIELDS = ("stress_raw", "stress_scaled", "scale", "stress_1", "pearson", "spearman")
"""Fields of `EncodingScores` that rest on the corpus, in the order of `SCORES` and then Spearman's."""
_RANK_STEP = 0.5
"""Standard deviations on both sides over which the slope of a rank is taken."""


def pairs_of_encoding(encoding: Encoding, positions: NDArray[np.int64]) -> NDArray[np.float64]:
    """Distances of pairs of positions, shape (n_pairs,)."""
    return upper_pairs(encoding.distances(positions))


@dataclass(frozen=True, eq=False)
class Target:
    """What encodings are scored against.

    Attributes
    ----------
    squared, roots : ndarray of float, shape (n_pairs,)
        Squared distances, and distances whose sums are free of the bias of noise.
    ranks : ndarray of float or None, shape (n_pairs,)
        Of the distances; None where ranks are not wanted.
    """

    squared: NDArray[np.float64]
    roots: NDArray[np.float64]
    ranks: NDArray[np.float64] | None

    @classmethod
    def of(
        cls, squared: NDArray[np.float64], noise: NoiseModel | None, n_used: int, *, with_ranks: bool = True
    ) -> Target:
        """Squared distances that `n_used` blocks gave; without noise they are distances, and none is negative."""
        values = np.maximum(squared, 0)
        ranks = tied_ranks(values) if with_ranks else None
        if noise is None:
            return cls(values, np.sqrt(values), ranks)
        return cls(squared, noise.roots(squared, n_used), ranks)


@dataclass(frozen=True, eq=False)
class Sums:
    """What all scores of encodings are made of: moments, and Spearman's correlation, shape (n_encodings,)."""

    moments: Moments
    spearman: NDArray[np.float64]


def scores_of_sums(parts: Sequence[Sums]) -> NDArray[np.float64]:
    """The scores `FIELDS`, shape (n_scores, n_encodings), over the pairs of several parts; NaN where undefined.

    Moments are those of all pairs together; ranks are taken in each part alone.
    """
    spearman = np.mean([part.spearman for part in parts], axis=0)
    return np.concatenate([scores_of_moments(Moments.pooled([part.moments for part in parts])), spearman[None]])


class Scoring:
    """Scores of some encodings, given their distances of pairs, shape (n_encodings, n_pairs)."""

    def __init__(self, distances: NDArray[np.float64]) -> None:
        self._distances = distances
        self._moments = Moments.of_encodings(distances)

    @cached_property
    def _ranks(self) -> list[NDArray[np.float64]]:
        return [tied_ranks(row) for row in self._distances]

    def against(self, target: Target) -> Sums:
        """Sums over the pairs of a target."""
        moments = self._moments.against(self._distances, target.roots, target.squared)
        spearman = np.full(len(self._distances), np.nan)
        if target.ranks is not None:
            found = [pearson(row, target.ranks) for row in self._ranks]
            spearman[:] = [np.nan if r is None else r for r in found]
        return Sums(moments, spearman)

    def __call__(self, target: Target) -> NDArray[np.float64]:
        """The scores `FIELDS`, shape (n_scores, n_encodings); NaN where undefined."""
        return scores_of_sums([self.against(target)])

    def terms(self, pairs: FoldPairs, noise: NoiseModel | None) -> NDArray[np.float64]:
        """What each pair of blocks changes to first order, shape (n_terms, n_scores, n_encodings); they sum to 0.

        NaN for Spearman's correlation where no noise is known, over which ranks could be smooth.
        """
        squared, n_pairs = pairs.mean, pairs.mean.size
        target = Target.of(squared, noise, pairs.n_blocks, with_ranks=False)
        if noise is None:
            rises = np.divide(0.5, target.roots, out=np.zeros(n_pairs), where=target.roots > 0)
        else:
            rises = noise.root_slopes(squared)

        def changes(weights: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.asarray(pairs.kernel @ weights - squared @ weights) / (n_pairs * len(pairs.kernel))

        in_ed = np.stack([changes(row * rises) for row in self._distances], axis=1)
        in_d, in_d2 = changes(rises), changes(np.ones(n_pairs))
        slopes = slopes_of_moments(self._moments.against(self._distances, target.roots, target.squared))
        out = np.full((len(in_d), len(FIELDS), len(self._distances)), np.nan)
        out[:, : len(SCORES)] = (
            in_ed[:, None] * slopes.by_ed + in_d[:, None, None] * slopes.by_d + in_d2[:, None, None] * slopes.by_d2
        )
        if noise is not None:
            by_pair = self._rank_slopes(squared, noise.deviations(squared, pairs.n_blocks) * _RANK_STEP)
            out[:, -1] = np.stack([n_pairs * changes(row) for row in by_pair], axis=1)
        return out

    def _rank_slopes(self, squared: NDArray[np.float64], step: NDArray[np.float64]) -> NDArray[np.float64]:
        """How much Spearman's correlation changes with a squared distance, over a step on both sides of it.

        A pair that moves past others gains their number in rank, and each of them loses one.

        Parameters
        ----------
        squared, step : ndarray of float, shape (n_pairs,)

        Returns
        -------
        ndarray of float, shape (n_encodings, n_pairs)
        """
        values = np.maximum(squared, 0)
        order = np.argsort(values)
        # Where each pair comes to stand among all, in the middle of those that are equal.
        places = [
            [np.searchsorted(values[order], np.maximum(squared + end, 0), side) for side in ("left", "right")]
            for end in (-step, step)
        ]
        n_below, n_upto = (sum(place) / 2 for place in places)
        spread, out = tied_ranks(values).std(), np.zeros((len(self._distances), squared.size))
        for row, ranks in zip(out, self._ranks, strict=True):
            sums = np.concatenate([[0], np.cumsum(ranks[order])])
            below, upto = (sum(sums[p] for p in place) / 2 for place in places)
            gained = (n_upto - n_below) * ranks - (upto - below)
            of_both = squared.size * ranks.std() * spread
            if of_both == 0:  # all are equal, and there is no correlation to change
                row[:] = np.nan
                continue
            np.divide(gained, 2 * step * of_both, out=row, where=step > 0)
        return out
