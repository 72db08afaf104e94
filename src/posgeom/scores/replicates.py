"""Scores of encodings by blocks of folds: what estimates, intervals and differences are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.geometry.build import Geometry
from posgeom.geometry.crossval import balanced_splits
from posgeom.geometry.distance_matrix import DistanceMatrix, full_matrix, upper_pairs
from posgeom.geometry.fold_pairs import ENOUGH_BLOCKS, FoldPairs
from posgeom.geometry.noise import NoiseModel
from posgeom.progress import ProgressHook, silent
from posgeom.scores.correlation import pearson, tied_ranks
from posgeom.scores.interval import Interval, Leaving, bootstrap_intervals, bootstrap_weights
from posgeom.scores.moments import SCORES, Moments, scores_of_moments, slopes_of_moments
from posgeom.seeds import make_rng
from posgeom.threads import thread_map

FIELDS = ("stress_raw", "stress_scaled", "scale", "stress_1", "pearson", "spearman")
"""Fields of `EncodingScores` that rest on the corpus, in the order of `SCORES` and then Spearman's."""
UNBIASED_SHARES = np.array([0.5, 0.8, 0.65, 0.65, 0.8, 0.5])
"""Of the variance of the terms of each field, see `Leaving`: where intervals covered best on corpora of known truth.
The noise of raw stress is that of the mean d^2, and so is its share."""
N_BOOTSTRAP = 400
_N_HALVINGS = 2
_MAX_REFITTED_POSITIONS = 1024
"""Used positions up to which fitted encodings have intervals: each needs some dozens of decompositions."""
_ARRAYS_OF_A_SCORING = 12
_STAGE = "leaving folds out"

Fit = Callable[[Geometry], NDArray[np.float64]]
"""Distances of pairs of positions, from a geometry that a part of the corpus gave."""


@dataclass(frozen=True, eq=False)
class Replicates:
    """Scores with all blocks, with each left out, and what each pair changes; columns follow `FIELDS`.

    Attributes
    ----------
    names : tuple of str
    leaving : tuple of Leaving
        One for each name.
    ceiling : Leaving
        Of what one half of the corpus scores against the other.
    draws : ndarray or None
        Scores under bootstrap weights, shape (n_draws, n_names, n_scores), NaN for encodings that are fitted; None
        for the jackknife.
    """

    names: tuple[str, ...]
    leaving: tuple[Leaving, ...]
    ceiling: Leaving
    draws: NDArray[np.float64] | None

    def intervals(self, index: int, level: float) -> dict[str, Interval]:
        """Intervals of one encoding's scores, by field; without those that are undefined."""
        found = self.leaving[index]
        draws = None if self.draws is None else self.draws[:, index]
        if draws is None or np.isnan(draws[:, 0]).all():
            return named(found.intervals(level))
        return named(bootstrap_intervals(found, draws, level))


def named(values: Sequence[Interval | None]) -> dict[str, Interval]:
    """Intervals by field, without those that are undefined."""
    return {field: value for field, value in zip(FIELDS, values, strict=True) if value is not None}


def has_blocks(geometry: Geometry) -> bool:
    """Whether the corpus has blocks enough to fit on one half and score on the other, and for standard errors."""
    return geometry.fold_pairs is not None and geometry.fold_pairs.n_blocks >= ENOUGH_BLOCKS


def replicate_scores(
    encodings: Sequence[Encoding],
    geometry: Geometry,
    *,
    errors: bool = True,
    bootstrap: bool = False,
    ceiling: bool = True,
    progress: ProgressHook = silent,
) -> Replicates:
    """Scores of encodings, and of the other half of the corpus, with blocks left out.

    Parameters
    ----------
    encodings : sequence of Encoding
    geometry : Geometry
        For which `has_blocks` holds.
    errors : bool
        Whether standard errors are wanted, or estimates alone.
    bootstrap : bool
        Draw weights on blocks too, for intervals from their quantiles.
    ceiling : bool
        Whether the noise ceiling is wanted; NaN where it is not.
    progress : callable
        Called as ``progress("leaving folds out", done, total)``.

    Returns
    -------
    Replicates
    """
    pairs = _pairs_of(geometry)
    n, positions = pairs.n_blocks, geometry.positions
    fitted = [k for k, e in enumerate(encodings) if e.is_fitted_to(geometry)]
    fixed = [k for k in range(len(encodings)) if k not in fitted]
    fits = [_fit(encodings[k], positions) for k in fitted] + [_other_half] * ceiling
    refits = n if fits and errors and positions.size <= _MAX_REFITTED_POSITIONS else 0

    scoring = _Scoring(np.stack([_pairs(encodings[k], positions) for k in fixed])) if fixed else None
    leaving: dict[int, Leaving] = {}
    if scoring is not None:
        full = scoring(pairs.mean, geometry.noise, n)

        def score_without(block: int) -> NDArray[np.float64]:
            return scoring(pairs.without(block), geometry.noise, n - 1)

        memory, blocks = _ARRAYS_OF_A_SCORING * pairs.mean.nbytes, range(n if errors else 0)
        left = thread_map(score_without, blocks, memory=memory, stage=_STAGE, progress=progress)
        one_out = np.array(left).reshape(len(left), *full.shape)
        terms = scoring.terms(pairs, geometry.noise) if errors else None
        for column, k in enumerate(fixed):
            own = None if terms is None else terms[..., column]
            leaving[k] = Leaving(full[:, column], one_out[:, :, column], own, UNBIASED_SHARES)
    whole, without = np.full((len(FIELDS), 1), np.nan), np.full((n, len(FIELDS), max(len(fits), 1)), np.nan)
    if fits:
        left_out = [None, *range(refits)]
        whole, *some = thread_map(
            lambda f: _score_halves(fits, geometry, left_out=f), left_out, stage="fitting halves", progress=progress
        )
        without[:refits] = some or np.nan
    out_of_sample = [Leaving(whole[:, c], without[:, :, c]) for c in range(whole.shape[1])]
    leaving |= dict(zip(fitted, out_of_sample, strict=False))
    other_half = replace(out_of_sample[-1], jackknife_share=share_of_halves(n))
    draws = None
    if bootstrap:
        weights = bootstrap_weights(n, N_BOOTSTRAP, make_rng(geometry.seed))
        draws = np.full((len(weights), len(encodings), len(FIELDS)), np.nan)
        for row, weight in zip(draws, weights, strict=True):
            if scoring is not None:
                row[fixed] = scoring(pairs.weighted(weight), geometry.noise, n, with_ranks=False).T
    names = tuple(e.name for e in encodings)
    return Replicates(names, tuple(leaving[k] for k in range(len(encodings))), other_half, draws)


def share_of_halves(n: int) -> float:
    """Variance over the jackknife's of what is all noise, a mean over pairs of the h = n / 2 blocks of a half.

    One of the blocks left out, the mean changes by 1 / P' - 1 / P of the variance of a term, P and P' being the pairs
    before and after; that sums to 2 h / (h - 2) (n - 1) / n times the mean's own 1 / P.
    """
    h = n // 2
    return max(h - 2, 0) / (2 * h) * n / (n - 1)


def _pairs_of(geometry: Geometry) -> FoldPairs:
    if geometry.fold_pairs is None:
        raise ValueError("this geometry keeps no pairs of folds: has_blocks tells")
    return geometry.fold_pairs


def _pairs(encoding: Encoding, positions: NDArray[np.int64]) -> NDArray[np.float64]:
    return upper_pairs(encoding.distances(positions))


class _Scoring:
    """Scores of some encodings, given their distances of pairs, shape (n_encodings, n_pairs)."""

    def __init__(self, distances: NDArray[np.float64]) -> None:
        self._distances = distances
        self._moments = Moments.of_encodings(distances)
        self._ranks: list[NDArray[np.float64]] | None = None

    def __call__(
        self, squared: NDArray[np.float64], noise: NoiseModel | None, n_used: int, *, with_ranks: bool = True
    ) -> NDArray[np.float64]:
        """All scores against squared distances of `n_used` blocks, shape (n_scores, n_encodings); NaN if undefined."""
        values = np.sqrt(np.maximum(squared, 0))
        roots = values if noise is None else noise.roots(squared, n_used)
        moments = self._moments.against(roots, values**2 if noise is None else squared)
        spearman = np.full(self._distances.shape[0], np.nan)
        if with_ranks:
            self._ranks = self._ranks or [tied_ranks(row) for row in self._distances]
            wanted = tied_ranks(values)
            spearman[:] = [np.nan if (r := pearson(row, wanted)) is None else r for row in self._ranks]
        return np.concatenate([scores_of_moments(moments), spearman[None]])

    def terms(self, pairs: FoldPairs, noise: NoiseModel | None) -> NDArray[np.float64]:
        """What each pair of blocks changes to first order, shape (n_terms, n_scores, n_encodings).

        NaN for Spearman's correlation where no noise is known, over which ranks could be smooth.
        """
        squared = pairs.mean
        if noise is None:
            roots = np.sqrt(np.maximum(squared, 0))
            rises = np.divide(0.5, roots, out=np.zeros(roots.shape), where=roots > 0)
        else:
            roots, rises = noise.roots(squared), noise.root_slopes(squared)
        moments, n_pairs = self._moments.against(roots, squared), squared.size

        def changes(weights: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.asarray(pairs.kernel @ weights - squared @ weights) / n_pairs

        in_ed = np.stack([changes(row * rises) for row in self._distances], axis=1)
        in_d, in_d2 = changes(rises), changes(np.ones(n_pairs))
        slopes = slopes_of_moments(moments)
        out = np.full((len(in_d), len(FIELDS), len(self._distances)), np.nan)
        out[:, : len(SCORES)] = (
            in_ed[:, None] * slopes.by_ed + in_d[:, None, None] * slopes.by_d + in_d2[:, None, None] * slopes.by_d2
        )
        if noise is not None:
            by_pair = self._rank_slopes(squared, noise.deviations(squared, pairs.n_blocks) / 2)
            out[:, -1] = np.stack([pairs.kernel @ row - squared @ row for row in by_pair], axis=1)
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
        self._ranks = self._ranks or [tied_ranks(row) for row in self._distances]
        for row, ranks in zip(out, self._ranks, strict=True):
            sums = np.concatenate([[0], np.cumsum(ranks[order])])
            below, upto = (sum(sums[p] for p in place) / 2 for place in places)
            gained = (n_upto - n_below) * ranks - (upto - below)
            with np.errstate(divide="ignore", invalid="ignore"):
                row[:] = gained / (2 * step * squared.size * ranks.std() * spread)
            row[step == 0] = 0
        return out


def _score_halves(fits: Sequence[Fit], geometry: Geometry, left_out: int | None = None) -> NDArray[np.float64]:
    """Scores of what one half of the corpus gives, against the other half: the mean over splits, in both directions.

    A block is left out of the splits of all blocks, so that the difference is its own and not that of other splits.

    Parameters
    ----------
    fits : sequence of callable
    geometry : Geometry
    left_out : int, optional
        Block to leave out.

    Returns
    -------
    ndarray of float, shape (n_scores, n_fits)
        Spearman's only where no block is left out; NaN where a half is left with less than two blocks.
    """
    pairs = _pairs_of(geometry)
    total, n_terms = np.zeros((len(FIELDS), len(fits))), 0
    for split in balanced_splits(list(range(pairs.n_blocks)), _N_HALVINGS, geometry.seed):
        a, b = ([block for block in half if block != left_out] for half in (split.a, split.b))
        if min(len(a), len(b)) < 2:  # no pair of blocks in it, and other splits alone would differ in more than noise
            return np.full(total.shape, np.nan)
        for fitted_on, scored_on in ((a, b), (b, a)):
            part = _part(geometry, pairs.of(fitted_on))
            scoring = _Scoring(np.stack([fit(part) for fit in fits]))
            total += scoring(pairs.of(scored_on), geometry.noise, len(scored_on), with_ranks=left_out is None)
            n_terms += 1
    return total / n_terms


def _part(geometry: Geometry, squared: NDArray[np.float64]) -> Geometry:
    """The geometry that a part of the corpus gives."""
    matrix = full_matrix(squared, geometry.positions.size)
    distances = DistanceMatrix.from_squared(matrix, geometry.positions, geometry.metric.name, "crossval")
    return replace(geometry, crossval=distances, fold_pairs=None, noise=None)


def _fit(encoding: Encoding, positions: NDArray[np.int64]) -> Fit:
    """How an encoding that is fitted to a corpus comes out of a part of it."""
    refit = encoding.refit
    if refit is None:
        raise ValueError(f"encoding {encoding.name} is not fitted to a corpus")
    return lambda part: _pairs(refit(part), positions)


def _other_half(part: Geometry) -> NDArray[np.float64]:
    """The distances of a part of the corpus themselves: what the noise ceiling scores."""
    return part.distances.pairs
