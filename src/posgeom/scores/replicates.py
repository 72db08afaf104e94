"""Scores of encodings by blocks of folds: what estimates, intervals and differences are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.geometry.build import Geometry
from posgeom.geometry.fold_pairs import ENOUGH_BLOCKS, FoldPairs
from posgeom.geometry.pair_variance import between, on_blocks
from posgeom.progress import ProgressHook, silent
from posgeom.scores.halves import Halves, fit_of, other_half
from posgeom.scores.interval import Interval, Leaving, bootstrap_intervals, bootstrap_weights
from posgeom.scores.scoring import FIELDS, Scoring, Target, pairs_of_encoding
from posgeom.seeds import make_rng
from posgeom.threads import thread_map

# Factors on the variance of the terms, by field: where intervals covered best on corpora of known truth.
_UNBIASED_SHARES = np.array([0.65, 0.8, 0.7, 0.7, 0.9, 0.8])
"""See `between`. The noise of raw stress is that of the mean d^2, and so is its share."""
_ON_RANKS = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.3])
"""The slope of a rank is an estimate itself."""
_ON_NOISE_OF_FITS = np.array([0.9, 0.87, 1.1, 0.87, 0.75, 1.0])
_ON_NOISE_OF_CEILING = np.array([0.65, 0.65, 0.65, 0.65, 0.7, 0.9])
"""Two halves differ by the square of noise, whose linear terms have twice its variance."""
N_BOOTSTRAP = 400
_MAX_REFITTED_POSITIONS = 1024
"""Used positions up to which fitted encodings have intervals: each needs 44 decompositions with ten blocks of folds,
and 184 with twenty."""
_ARRAYS_OF_A_SCORING = 12


@dataclass(frozen=True, eq=False)
class Replicates:
    """Scores with all blocks, with each left out, and what each pair changes; columns follow `FIELDS`.

    Attributes
    ----------
    names : tuple of str
    leaving : tuple of Leaving
        One for each name.
    ceiling : Leaving
        Of what one half of the corpus scores against the other; NaN where that is not wanted.
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
        return named(found.intervals(level) if draws is None else bootstrap_intervals(found, draws, level))


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
        Draw weights on blocks too, for `bootstrap_intervals`.
    ceiling : bool
        Whether the noise ceiling is wanted; NaN where it is not.
    progress : callable
        Called as ``progress("leaving folds out", done, total)``.

    Returns
    -------
    Replicates
    """
    pairs = geometry.fold_pairs
    if pairs is None:
        raise ValueError("this geometry keeps no pairs of folds: has_blocks tells")
    leaving = [Leaving(*_nothing(pairs))] * len(encodings)
    fitted = [k for k, e in enumerate(encodings) if e.is_fitted_to(geometry)]
    fixed = [k for k in range(len(encodings)) if k not in fitted]
    draws = None
    if bootstrap:
        weights = bootstrap_weights(pairs.n_blocks, N_BOOTSTRAP, make_rng(geometry.seed))
        draws = np.full((len(weights), len(encodings), len(FIELDS)), np.nan)
    if fixed:
        scoring = Scoring(np.stack([pairs_of_encoding(encodings[k], geometry.positions) for k in fixed]))
        for k, found in zip(fixed, _leave_out(scoring, geometry, pairs, errors=errors, progress=progress), strict=True):
            leaving[k] = found
        if draws is not None:
            for row, weight in zip(draws, weights, strict=True):
                target = Target.of(pairs.weighted(weight), geometry.noise, pairs.n_blocks, with_ranks=False)
                row[fixed] = scoring(target).T
    *of_fits, other = _fit_halves(
        [encodings[k] for k in fitted], geometry, pairs, errors=errors, ceiling=ceiling, progress=progress
    )
    for k, found in zip(fitted, of_fits, strict=True):
        leaving[k] = found
    return Replicates(tuple(e.name for e in encodings), tuple(leaving), other, draws)


def _nothing(pairs: FoldPairs) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values with all blocks and with each left out, where none are known."""
    return np.full(len(FIELDS), np.nan), np.full((pairs.n_blocks, len(FIELDS)), np.nan)


def _leave_out(
    scoring: Scoring, geometry: Geometry, pairs: FoldPairs, *, errors: bool, progress: ProgressHook
) -> list[Leaving]:
    """Encodings that do not depend on the corpus, scored on all blocks and without each."""
    n, noise = pairs.n_blocks, geometry.noise
    full = scoring(Target.of(pairs.mean, noise, n))
    if not errors:
        return [Leaving(column, _nothing(pairs)[1]) for column in full.T]
    one_out = thread_map(
        lambda block: scoring(Target.of(pairs.without(block), noise, n - 1)),
        range(n),
        memory=_ARRAYS_OF_A_SCORING * pairs.mean.nbytes,
        stage="leaving folds out",
        progress=progress,
    )
    terms, variance = scoring.terms(pairs, noise), between(n, _UNBIASED_SHARES).times(1.0, _ON_RANKS)
    return [
        Leaving(full[:, k], np.array([without[:, k] for without in one_out]), terms[..., k], variance)
        for k in range(full.shape[1])
    ]


def _fit_halves(
    encodings: Sequence[Encoding],
    geometry: Geometry,
    pairs: FoldPairs,
    *,
    errors: bool,
    ceiling: bool,
    progress: ProgressHook,
) -> list[Leaving]:
    """Encodings that are fitted to one half of the corpus and scored on the other, and last the other half itself."""
    fits = [fit_of(encoding, geometry.positions) for encoding in encodings] + [other_half] * ceiling
    nothing, without = _nothing(pairs)
    if not fits:
        return [Leaving(nothing, without)]
    halves = Halves(geometry, pairs)
    wanted = errors and geometry.positions.size <= _MAX_REFITTED_POSITIONS
    full, terms = halves.scores(fits, terms=wanted, progress=progress)
    found = [Leaving(column, without) for column in full.T]
    if terms is not None and halves.variance is not None:
        factors = [_ON_NOISE_OF_FITS] * len(encodings) + [_ON_NOISE_OF_CEILING] * ceiling
        found = [
            Leaving(one.full, without, terms[..., k], halves.variance.times(factor, on_blocks(pairs.n_blocks)))
            for k, (one, factor) in enumerate(zip(found, factors, strict=True))
        ]
    return found if ceiling else [*found, Leaving(nothing, without)]
