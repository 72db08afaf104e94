"""What one half of a corpus gives, scored on the other half: encodings that are fitted, and the noise ceiling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.geometry.build import Geometry
from posgeom.geometry.crossval import N_HALVINGS, halvings_of
from posgeom.geometry.distance_matrix import DistanceMatrix, full_matrix
from posgeom.geometry.fold_pairs import FoldPairs
from posgeom.geometry.pair_variance import PairVariance
from posgeom.progress import ProgressHook, silent
from posgeom.scores.moving import move_away
from posgeom.scores.scoring import Scoring, Sums, Target, pairs_of_encoding, scores_of_sums
from posgeom.threads import thread_map

MOST_SETS = 2 * N_HALVINGS
"""Halves of all splits."""
_FEWEST_BLOCKS = 3
"""Blocks of a half whose pairs tell its noise."""
_STAGE = "moving halves"
_ARRAYS_OF_A_HALF, _ARRAYS_OF_A_FIT = 8, 6

Fit = Callable[[Geometry], NDArray[np.float64]]
"""Distances of pairs of positions, from a geometry that a part of the corpus gave."""


@dataclass(frozen=True, eq=False)
class _Half:
    """Some blocks, how what is fitted to them scores, and what is scored on them."""

    blocks: tuple[int, ...]
    squared: NDArray[np.float64]
    scoring: Scoring
    target: Target


class Halves:
    """The splits of a corpus into two halves.

    Parameters
    ----------
    geometry : Geometry
    pairs : FoldPairs
        Of the geometry.
    """

    def __init__(self, geometry: Geometry, pairs: FoldPairs) -> None:
        self._geometry, self._pairs = geometry, pairs
        self._splits = halvings_of(pairs.n_blocks, geometry.seed)

    @property
    def variance(self) -> PairVariance | None:
        """Of the terms that `scores` gives; None where it gives none."""
        halves = tuple(half for split in self._splits for half in split)
        if min(map(len, halves)) < _FEWEST_BLOCKS:
            return None
        return PairVariance(self._pairs.n_blocks, halves)

    def scores(
        self, fits: Sequence[Fit], *, terms: bool, progress: ProgressHook = silent
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Scores of what one half gives against the other, over both directions of all splits.

        Parameters
        ----------
        fits : sequence of callable
        terms : bool
            Whether to move each half by each of its pairs of blocks, too.
        progress : callable
            Called as ``progress("moving halves", done, total)``.

        Returns
        -------
        ndarray of float, shape (n_scores, n_fits)
        ndarray of float or None, shape (n_terms, n_scores, n_fits)
            What each pair of blocks changes to first order; 0 for one that is in no half.
        """
        memory = (_ARRAYS_OF_A_HALF + _ARRAYS_OF_A_FIT * len(fits)) * self._pairs.mean.nbytes
        both_of_all = [blocks for split in self._splits for blocks in split]
        made = thread_map(lambda blocks: self._half(fits, blocks, self._pairs.of(blocks)), both_of_all, memory=memory)
        halves = list(zip(made[::2], made[1::2], strict=True))
        parts = {(k, side): _against(pair[side], pair[1 - side]) for k, pair in enumerate(halves) for side in (0, 1)}
        full = scores_of_sums(list(parts.values()))
        if not terms or self.variance is None:
            return full, None

        def moved_by(task: tuple[int, int, int]) -> NDArray[np.float64]:
            k, side, row = task
            half, other = halves[k][side], halves[k][1 - side]
            away, factor = move_away(half.squared, self._pairs.kernel[row], comb(len(half.blocks), 2))
            moved = self._half(fits, half.blocks, away)
            both = {(k, side): _against(moved, other), (k, 1 - side): _against(other, moved)}
            return (full - scores_of_sums(list((parts | both).values()))) * factor

        tasks = [
            (k, side, self._pairs.row(f, g))
            for k, split in enumerate(self._splits)
            for side, blocks in enumerate(split)
            for f, g in combinations(blocks, 2)
        ]
        changes = thread_map(moved_by, tasks, memory=memory, stage=_STAGE, progress=progress)
        out = np.zeros((len(self._pairs.kernel), *full.shape))
        for k, side in parts:
            own = [n for n, task in enumerate(tasks) if task[:2] == (k, side)]
            values = np.array([changes[n] for n in own])
            out[[tasks[n][2] for n in own]] += values - values.mean(axis=0)
        return full, out

    def _half(self, fits: Sequence[Fit], blocks: tuple[int, ...], squared: NDArray[np.float64]) -> _Half:
        part = _part(self._geometry, squared)
        scoring = Scoring(np.stack([fit(part) for fit in fits]))
        return _Half(blocks, squared, scoring, Target.of(squared, self._geometry.noise, len(blocks)))


def _against(fitted: _Half, target: _Half) -> Sums:
    return fitted.scoring.against(target.target)


def _part(geometry: Geometry, squared: NDArray[np.float64]) -> Geometry:
    """The geometry that a part of the corpus gives."""
    matrix = full_matrix(squared, geometry.positions.size)
    distances = DistanceMatrix.from_squared(matrix, geometry.positions, geometry.metric.name, "crossval")
    return replace(geometry, crossval=distances, fold_pairs=None, noise=None)


def fit_of(encoding: Encoding, positions: NDArray[np.int64]) -> Fit:
    """How an encoding that is fitted to a corpus comes out of a part of it."""
    refit = encoding.refit
    if refit is None:
        raise ValueError(f"encoding {encoding.name} is not fitted to a corpus")
    return lambda part: pairs_of_encoding(refit(part), positions)


def other_half(part: Geometry) -> NDArray[np.float64]:
    """The distances of a part of the corpus themselves: what the noise ceiling scores."""
    return part.distances.pairs
