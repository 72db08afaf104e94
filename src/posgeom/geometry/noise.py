"""Sampling noise of cross-validated squared distances, and distances whose sums are free of its bias.

The square root of a noisy number is biased: sqrt(max(x, 0)) is above 0 on average where the truth is 0, and its square
is not the estimate that was unbiased. Scores are made of three sums over pairs, of D, of e D and of D^2; the last is
unbiased as it stands, signs included, and for the first two a root is used whose expectation is the true root to
within a few hundredths of the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from posgeom.geometry.fold_pairs import ENOUGH_BLOCKS, FoldPairs

_RIDGE = 0.03
"""Weight of the variance of the root against its squared bias: more is steadier and less exact near 0."""
_FROM, _SERIES_FROM = -6.0, 16.0
_LEAST_SHARE = 0.05


def order_two_variance(kernel: NDArray[np.float64], n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean of a kernel over pairs, and the unbiased estimate of its sampling variance.

    Hoeffding 1948: Var U = 2 / (n (n - 1)) [2 (n - 2) zeta_1 + zeta_2], with zeta_1 the covariance of two terms that
    share a block and zeta_2 the variance of one; both from products of terms that share none.

    Parameters
    ----------
    kernel : ndarray of float, shape (n (n - 1) / 2, k)
        Terms in the order of `itertools.combinations`.
    n : int
        Blocks, at least 4.

    Returns
    -------
    ndarray of float, shape (k,)
    ndarray of float, shape (k,)
        May be negative, being unbiased.
    """
    sums = np.zeros((n, kernel.shape[1]))
    squares = np.zeros(kernel.shape[1])
    for row, (f, g) in zip(kernel, combinations(range(n), 2), strict=True):
        sums[f] += row
        sums[g] += row
        squares += row * row
    total = sums.sum(axis=0) / 2
    adjacent = (sums**2).sum(axis=0) - 2 * squares
    apart = 4 * total**2 - 4 * adjacent - 4 * squares
    second_moment = squares / (n * (n - 1) / 2)
    shared = adjacent / (n * (n - 1) * (n - 2))
    squared_mean = apart / (n * (n - 1) * (n - 2) * (n - 3))
    variance = 2 / (n * (n - 1)) * (2 * (n - 2) * (shared - squared_mean) + second_moment - squared_mean)
    return total / (n * (n - 1) / 2), np.asarray(variance)


@dataclass(frozen=True, eq=False)
class NoiseModel:
    """Sampling variance of squared distances, smoothed over pairs.

    The variance of a single pair is estimated from few blocks and is noisy itself, which would bias the root. So it is
    fitted as a part that would be there without any distance, additive over the two positions, and a part
    proportional to the squared distance, d^2 (1 / N_i + 1 / N_j), which resolved tokens have.

    Attributes
    ----------
    floor : ndarray of float, shape (n_pairs,)
        The first part, for all blocks.
    slope : ndarray of float, shape (n_pairs,)
        1 / N_i + 1 / N_j.
    n_blocks : int
    """

    floor: NDArray[np.float64]
    slope: NDArray[np.float64]
    n_blocks: int

    def deviations(self, squared: NDArray[np.float64], n_used: int) -> NDArray[np.float64]:
        """Standard deviation of squared distances that `n_used` of the blocks gave, shape (n_pairs,)."""
        n, k = self.n_blocks, n_used
        linear, quadratic = n / k, n * (n - 1) / (k * (k - 1))
        return np.asarray(np.sqrt(quadratic * self.floor + linear * self.slope * np.maximum(squared, 0)))

    def roots(self, squared: NDArray[np.float64], n_used: int | None = None) -> NDArray[np.float64]:
        """Distances whose expectation is the true distance, from squared ones; single ones can be negative.

        Parameters
        ----------
        squared : ndarray of float, shape (n_pairs,)
        n_used : int, optional
            Blocks that gave them; all by default.

        Returns
        -------
        ndarray of float, shape (n_pairs,)
        """
        deviation = self.deviations(squared, n_used or self.n_blocks)
        return np.asarray(np.sqrt(deviation) * unbiased_root(squared / deviation))


def noise_model(pairs: FoldPairs) -> NoiseModel | None:
    """Fit the sampling variance of squared distances.

    Parameters
    ----------
    pairs : FoldPairs

    Returns
    -------
    NoiseModel or None
        None where there are too few blocks, too few positions, or no noise at all.
    """
    m = pairs.sample_sizes.size
    if pairs.n_blocks < ENOUGH_BLOCKS or m < 4:
        return None
    squared, variance = order_two_variance(pairs.kernel, pairs.n_blocks)
    first, second = np.triu_indices(m, 1)
    share = np.where(pairs.sample_sizes > 0, 1 / np.maximum(pairs.sample_sizes, 1), 0)
    slope = pairs.scale * (share[first] + share[second])
    rest = variance - slope * squared
    sums = np.bincount(first, rest, m) + np.bincount(second, rest, m)
    effect = (sums - rest.sum() * 2 / (2 * (m - 1))) / (m - 2)  # least squares of an additive table without diagonal
    floor = effect[first] + effect[second]
    least = _LEAST_SHARE * float(np.median(variance))
    if not least > 0:
        return None
    return NoiseModel(np.maximum(floor, least), slope, pairs.n_blocks)


def unbiased_root(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """A function g with E g(t + z) close to sqrt(t) for t >= 0 and z standard normal.

    No function attains it exactly, since a root has no power series at 0. Below 16, g is piecewise linear and minimises
    squared bias plus a little variance; above, it is the Taylor series of the root.

    Parameters
    ----------
    x : ndarray of float
        In standard deviations of the noise.

    Returns
    -------
    ndarray of float
    """
    knots, values = _root_table()
    large = np.maximum(x, _SERIES_FROM)
    return np.asarray(np.where(x >= _SERIES_FROM, np.sqrt(large) + large**-1.5 / 8, np.interp(x, knots, values)))


@cache
def _root_table() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    knots = np.concatenate([np.linspace(_FROM, 8, 57), np.linspace(8, _SERIES_FROM, 17)[1:]])
    truths = np.concatenate([np.linspace(0, 1, 21) ** 2, np.linspace(1, 8, 50)[1:], np.linspace(8, 20, 40)[1:]])
    z = np.linspace(-7, 7, 561)
    weight = np.exp(-(z**2) / 2)
    weight /= weight.sum()
    step = np.identity(knots.size)
    mean = np.empty((truths.size, knots.size))  # E of each knot's hat function
    beyond = np.empty(truths.size)  # E of the series where it takes over
    second = np.zeros((knots.size, knots.size))
    for i, truth in enumerate(truths):
        x = truth + z
        is_beyond = x >= _SERIES_FROM
        hats = np.stack([np.interp(x, knots, hat) for hat in step], axis=1)
        hats[is_beyond] = 0
        large = np.maximum(x, _SERIES_FROM)
        mean[i] = weight @ hats
        beyond[i] = weight @ np.where(is_beyond, np.sqrt(large) + large**-1.5 / 8, 0)
        second += hats.T @ (weight[:, None] * hats)
    roots = np.sqrt(truths)
    curvature = np.diff(step, 2, axis=0)
    normal = mean.T @ mean + _RIDGE * second + 1e-6 * truths.size * curvature.T @ curvature
    values = np.linalg.solve(normal, mean.T @ (roots - beyond) + _RIDGE * mean.T @ roots)
    return knots, np.asarray(values)
