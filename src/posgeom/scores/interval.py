"""Standard errors and intervals of functions of a geometry, from its blocks of folds and their pairs.

Cross-validated distances are U-statistics of order two, for which leaving out blocks one by one (the jackknife) is
right where a geometry stands out of its noise and twice too large in variance where it does not (Efron and Stein 1981).
A function of the distances is linear in what each pair of blocks gave, to first order: where these terms are known they
tell the two cases apart, see `PairVariance`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.geometry.build import Geometry
from posgeom.geometry.crossval import N_HALVINGS, error_of_partitions, halvings_of
from posgeom.geometry.depth_curve import DepthCurve
from posgeom.geometry.noise import mean_with_error
from posgeom.geometry.pair_variance import PairVariance, block_sums, quantile

_ON_NOISE_OF_DIFFERENCES = 0.9
"""Factor on the noise of a difference between what is fitted and what is not: where intervals covered best on corpora
of known truth."""
_ENOUGH_DRAWS = 0.9
MANY_BLOCKS = 15
"""Blocks from which the bootstrap draws Poisson weights."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval.

    Attributes
    ----------
    low, high : float
    standard_error : float
    """

    low: float
    high: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class Leaving:
    """A function of the corpus with all blocks, with each left out, and what each pair of blocks gives.

    Attributes
    ----------
    full : ndarray of float, shape (k,)
    one_out : ndarray of float, shape (n, k)
        NaN where that is not known.
    terms : ndarray of float or None, shape (n (n - 1) / 2, k)
        What each pair of blocks, in the order of `itertools.combinations`, changes to first order; they sum to 0. None,
        or NaN, where that is not known, and the jackknife is used.
    variance : PairVariance or None
        Of the terms; None without them.
    """

    full: NDArray[np.float64]
    one_out: NDArray[np.float64]
    terms: NDArray[np.float64] | None = None
    variance: PairVariance | None = None

    @property
    def n_blocks(self) -> int:
        """Blocks n."""
        return int(self.one_out.shape[0])

    def minus(self, other: Leaving) -> Leaving:
        """The difference of two functions of the same blocks, whose common noise cancels."""
        n, full, terms, variance = self.n_blocks, self.full - other.full, None, None
        one_out = full - np.sqrt(n / (n - 1)) * (self.influences() - other.influences())
        if self.terms is not None and other.terms is not None and self.variance and other.variance:
            if self.variance.is_that_of(other.variance):
                terms, variance = self.terms - other.terms, self.variance
            elif len(other.variance.sets) == 1:  # one of halves, the other of all pairs
                terms = self.terms - self.variance.terms_within(other.terms)
                variance = self.variance.times(_ON_NOISE_OF_DIFFERENCES)
            elif len(self.variance.sets) == 1:
                terms = other.variance.terms_within(self.terms) - other.terms
                variance = other.variance.times(_ON_NOISE_OF_DIFFERENCES)
        return Leaving(full, one_out, terms, variance)

    def influences(self) -> NDArray[np.float64]:
        """What each block changes, shape (n, k); the squares sum to the variance."""
        n = self.n_blocks
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            out = (self.one_out.mean(axis=0) - self.one_out) * np.sqrt((n - 1) / n)
            if self.terms is None or self.variance is None:
                return np.asarray(out)
            sums = block_sums(self.terms, n)
            of_sums = (sums**2).sum(axis=0)
            factor = np.where(of_sums == 0, 0, np.sqrt(self.variance(self.terms) / of_sums))
            return np.where(np.isfinite(of_sums), factor * sums, out)

    def standard_errors(self) -> NDArray[np.float64]:
        """Standard errors, shape (k,)."""
        # The square of a stress can be beyond double precision: its error is then infinite, and no interval.
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.sqrt((self.influences() ** 2).sum(axis=0)))

    def intervals(self, level: float) -> list[Interval | None]:
        """Intervals by Student's t, see `quantile`; None where a value is undefined."""
        reach = quantile(level, self.n_blocks)
        out: list[Interval | None] = []
        for centre, error in zip(self.full, self.standard_errors(), strict=True):
            defined = bool(np.isfinite(centre) and np.isfinite(error))
            half = reach * error
            out.append(Interval(float(centre - half), float(centre + half), float(error)) if defined else None)
        return out


def bootstrap_intervals(leaving: Leaving, draws: NDArray[np.float64], level: float) -> list[Interval | None]:
    """Symmetric intervals from values under random weights on blocks (Hall 1988).

    As far as the given share of the draws lies from their mean, in units of the standard error: weights on blocks
    overstate the noise of a U-statistic as leaving blocks out does. Quantiles of either side alone cover less well.

    Parameters
    ----------
    leaving : Leaving
    draws : ndarray of float, shape (n_draws, k)
    level : float

    Returns
    -------
    list of Interval or None
        By Student's t where fewer than nine draws in ten are defined.
    """
    wider = quantile(level, leaving.n_blocks) / float(scipy.special.ndtri((1 + level) / 2))
    found = leaving.intervals(level)
    for k, plain in enumerate(found):
        known = draws[np.isfinite(draws[:, k]), k]
        if plain is None or known.size < _ENOUGH_DRAWS * len(draws):
            continue
        away, spread = np.abs(known - known.mean()), float(known.std(ddof=1))
        if spread > 0:
            error, centre = plain.standard_error, float(leaving.full[k])
            reach = float(np.quantile(away, level)) / spread * error * wider
            found[k] = Interval(centre - reach, centre + reach, error)
    return found


def bootstrap_weights(n_blocks: int, n_draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Weights on blocks: multinomial, or Poisson with mean 1 where there are many blocks; shape (n_draws, n_blocks)."""
    if n_blocks < MANY_BLOCKS:
        weights = rng.multinomial(n_blocks, np.full(n_blocks, 1 / n_blocks), n_draws)
    else:
        weights = rng.poisson(1.0, (n_draws, n_blocks))
    two_or_more = (weights > 0).sum(axis=1) >= 2  # one block alone has no pairs
    return np.asarray(weights[two_or_more], np.float64)


def mean_interval(geometry: Geometry, level: float | None) -> Interval | None:
    """Interval of the mean squared distance at the common depth, whose terms are those of a U-statistic.

    Parameters
    ----------
    geometry : Geometry
    level : float or None

    Returns
    -------
    Interval or None
        None where no level is asked for, or too few folds hold documents.
    """
    pairs = geometry.fold_pairs
    if pairs is None or geometry.noise is None or level is None:
        return None
    mean, error = mean_with_error(pairs)
    if error is None:
        return None
    reach = quantile(level, pairs.n_blocks) * error
    return Interval(mean - reach, mean + reach, error)


def noise_share(geometry: Geometry) -> float | None:
    """Share of the plug-in distance that two halves of the corpus do not agree on, at full depth.

    None for a plug-in geometry, and where there is no plug-in distance.
    """
    full, plugin = geometry.crossval_full_depth, geometry.plugin.mean_squared
    return None if full is None or not plugin > 0 else 1 - full.mean_squared / plugin


def noise_share_interval(geometry: Geometry, curve: DepthCurve | None, level: float) -> Interval | None:
    """Interval of `noise_share`, with the error that the last point of the depth curve has, of halves too.

    Unequal depths make distances larger than there, where all are the same, and the error with them. The plug-in
    distance errs with the other one, the more so the less is noise, and by the root of the share the error is less: as
    found where the truth is known, and cautious where little is noise.

    Parameters
    ----------
    geometry : Geometry
    curve : DepthCurve or None
        Of this geometry.
    level : float

    Returns
    -------
    Interval or None
        None where the share is undefined or the error not known.
    """
    share, plugin = noise_share(geometry), geometry.plugin.mean_squared
    last = None if curve is None else curve.points[-1]
    if share is None or last is None or not last.standard_error:
        return None
    n, seed = last.n_blocks, geometry.seed
    # More splits than the curve has.
    more, few = (error_of_partitions(halvings_of(n, seed, k)) for k in (geometry.n_splits, N_HALVINGS))
    error = last.standard_error * more / few
    error *= max((1 - share) * plugin / max(last.mean_squared, error), 1.0)
    error *= sqrt(max(share, 0.0)) / plugin
    if not error > 0:
        return None
    reach = quantile(level, last.n_blocks) * error
    return Interval(share - reach, share + reach, error)
