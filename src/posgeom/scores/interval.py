"""Standard errors and intervals of functions of a geometry, from its blocks of folds and their pairs.

Cross-validated distances are U-statistics of order two, for which leaving out blocks one by one (the jackknife) is
right where a geometry stands out of its noise and twice too large in variance where it does not (Efron and Stein 1981).
A smooth function of the distances is linear in what each pair of blocks gave, to first order: where these terms are
known they tell the two cases apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its special functions: the distributions of scipy.stats take seconds to load
from numpy.typing import NDArray

from posgeom.geometry.build import Geometry
from posgeom.geometry.noise import mean_with_error, order_two_error

MANY_BLOCKS = 15
"""Blocks from which the bootstrap draws Poisson weights."""


def quantile(level: float, n_blocks: int) -> float:
    """Two-sided quantile of Student's t with 2 (n - 1) degrees of freedom.

    A variance from n blocks has n - 1 where a geometry stands out of its noise, and up to n (n - 1) / 2 where it does
    not, since each pair then is a term of its own.
    """
    return float(scipy.special.stdtrit(2 * (n_blocks - 1), (1 + level) / 2))


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
    """A function of the corpus with all blocks, and with each left out.

    Attributes
    ----------
    full : ndarray of float, shape (k,)
    one_out : ndarray of float, shape (n, k)
    terms : ndarray of float or None, shape (n (n - 1) / 2, k)
        What each pair of blocks, in the order of `itertools.combinations`, changes to first order, times the number of
        pairs; with mean 0. None, or NaN, where that is not known, and the jackknife is used.
    unbiased_share : ndarray of float, shape (k,), or float
        How much of the variance that terms give is the unbiased one; the rest is the jackknife's, see
        `order_two_error`.
    jackknife_share : float
        How much of the jackknife's variance is taken where there are no terms.
    """

    full: NDArray[np.float64]
    one_out: NDArray[np.float64]
    terms: NDArray[np.float64] | None = None
    unbiased_share: NDArray[np.float64] | float = 0.8
    jackknife_share: float = 1.0

    @property
    def n_blocks(self) -> int:
        """Blocks n."""
        return int(self.one_out.shape[0])

    def minus(self, other: Leaving) -> Leaving:
        """The difference of two functions of the same blocks, whose common noise cancels."""
        both = self.terms is not None and other.terms is not None
        return Leaving(
            self.full - other.full,
            self.one_out - other.one_out,
            self.terms - other.terms if both else None,  # type: ignore[operator]
            self.unbiased_share,
            max(self.jackknife_share, other.jackknife_share),
        )

    def standard_errors(self) -> NDArray[np.float64]:
        """Standard errors, shape (k,)."""
        # The square of a stress can be beyond double precision: its error is then infinite, and no interval.
        with np.errstate(over="ignore", invalid="ignore"):
            return self._standard_errors()

    def _standard_errors(self) -> NDArray[np.float64]:
        n = self.n_blocks
        squares = ((self.one_out - self.one_out.mean(axis=0)) ** 2).sum(axis=0)
        jackknife = np.sqrt(self.jackknife_share * (n - 1) / n * squares)
        if self.terms is None:
            return np.asarray(jackknife)
        _, errors = order_two_error(self.terms, n, self.unbiased_share)
        return np.where(np.isfinite(errors), errors, jackknife)

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
    """Intervals from values under random weights on blocks.

    The quantiles of the draws about their mean, put about the estimate.

    Parameters
    ----------
    leaving : Leaving
    draws : ndarray of float, shape (n_draws, k)
    level : float

    Returns
    -------
    list of Interval or None
    """
    tail = (1 - level) / 2
    with np.errstate(over="ignore", invalid="ignore"):
        spread = draws - draws.mean(axis=0)
        low, high = np.quantile(spread, [tail, 1 - tail], axis=0)
        centre, error = leaving.full, draws.std(axis=0, ddof=1)
    return [
        Interval(float(c + a), float(c + b), float(s)) if np.isfinite([c, a, b, s]).all() else None
        for c, a, b, s in zip(centre, low, high, error, strict=True)
    ]


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
