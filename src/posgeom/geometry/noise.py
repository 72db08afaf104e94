"""Sampling noise of cross-validated squared distances, and distances whose sums are free of its bias.

Scores are made of three sums over pairs, of D, of e D and of D^2. The last is unbiased as it stands, signs included;
for the first two a root is used whose expectation is nearer to the true root, see `unbiased_root`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posgeom.geometry.fold_pairs import ENOUGH_BLOCKS, FoldPairs
from posgeom.geometry.pair_variance import between, block_sums
from posgeom.geometry.unbiased_root import unbiased_root

FEWEST_POSITIONS = 4
"""Positions that the noise of their pairs can be told apart from."""
_SHARE_OF_MEANS = 0.65
"""Of the unbiased variance in that of a mean distance, see `between`."""
_LEAST_SHARE = 0.05
_ROUND_OFF = 1e-28
"""Variance, in squared distances, that is none at all."""


def order_two_error(kernel: NDArray[np.float64], n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean of a kernel over pairs, and its standard error.

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
    """
    mean = kernel.mean(axis=0)
    return mean, np.sqrt(between(n, _SHARE_OF_MEANS)((kernel - mean) / len(kernel)))


def mean_with_error(pairs: FoldPairs) -> tuple[float, float | None]:
    """Mean squared distance over pairs of positions, and its standard error; None with too few blocks.

    Parameters
    ----------
    pairs : FoldPairs

    Returns
    -------
    float
    float or None
    """
    means = pairs.kernel.mean(axis=1, keepdims=True)
    if pairs.n_blocks < ENOUGH_BLOCKS:
        return float(means.mean()), None
    mean, error = order_two_error(means, pairs.n_blocks)
    return float(mean[0]), float(error[0])


@dataclass(frozen=True, eq=False)
class NoiseModel:
    """Sampling variance of squared distances, smoothed over pairs.

    An estimate of the variance of one pair is noisy itself, and errs together with the distance, which biases the root.
    So it is made of a part that would be there without any distance, additive over the two positions, and the part
    that resolved tokens have, (d^2 - d^4 / 4) (1 / N_i + 1 / N_j) for Hellinger distances of multinomial samples.

    Attributes
    ----------
    floor : ndarray of float, shape (n_pairs,)
        The first part, for all blocks; 0 for pairs that are the same point whatever the sample. From how much the
        products of two blocks vary, which says it better than how much their means do: that has the second part too.
    slope : ndarray of float, shape (n_pairs,)
        1 / N_i + 1 / N_j, times `scale`.
    n_blocks : int
    scale : float
        Factor that the squared distances have, against Hellinger's.
    """

    floor: NDArray[np.float64]
    slope: NDArray[np.float64]
    n_blocks: int
    scale: float = 1.0

    @cached_property
    def growth(self) -> float:
        """How fast the variance grows with the squared distance, see `unbiased_root`; typical over pairs."""
        noisy = self.floor > 0
        if not noisy.any():
            return 0.0
        return float(np.median(self.slope[noisy]) / np.sqrt(np.median(self.floor[noisy])))

    def deviations(self, squared: NDArray[np.float64], n_used: int) -> NDArray[np.float64]:
        """Standard deviation of squared distances that `n_used` of the blocks gave, shape (n_pairs,)."""
        n, k = self.n_blocks, n_used
        linear, quadratic = n / k, n * (n - 1) / (k * (k - 1))
        return np.asarray(np.sqrt(quadratic * self.floor + linear * self.slope * _resolved(squared, self.scale)))

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
        noisy = deviation > 0
        in_deviations = np.divide(squared, deviation, out=np.zeros(squared.shape), where=noisy)
        return np.where(
            noisy, np.sqrt(deviation) * unbiased_root(in_deviations, self.growth), np.sqrt(np.maximum(squared, 0))
        )

    def root_slopes(self, squared: NDArray[np.float64]) -> NDArray[np.float64]:
        """Derivative of `roots` by the squared distances, over two standard deviations; shape (n_pairs,).

        Where there is little but noise, `roots` is far from linear, and what noise does to its sums is told by how it
        rises on average.

        Parameters
        ----------
        squared : ndarray of float, shape (n_pairs,)

        Returns
        -------
        ndarray of float, shape (n_pairs,)
            0 where a pair is the same point.
        """
        step = self.deviations(squared, self.n_blocks)
        step = np.where(step > 0, step, np.abs(squared) / 4)
        rise = self.roots(squared + step) - self.roots(squared - step)
        return np.divide(rise, 2 * step, out=np.zeros(squared.shape), where=step > 0)


def _resolved(squared: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """d^2 - d^4 / 4 of Hellinger distances, times `scale`, from squared distances that may be negative."""
    return np.asarray(np.maximum(squared, 0) * np.maximum(1 - squared / (4 * scale), 0))


def _moments(kernel: NDArray[np.float64], n: int) -> tuple[NDArray[np.float64], ...]:
    """Means of a kernel over pairs, of products of two terms that share no block, and of squares of one."""
    sums, squares = block_sums(kernel, n), np.zeros(kernel.shape[1])
    for row in kernel:  # without a copy of their squares
        squares += row * row
    total = sums.sum(axis=0) / 2
    adjacent = np.einsum("fk,fk->k", sums, sums) - 2 * squares
    apart = 4 * total**2 - 4 * adjacent - 4 * squares
    n_pairs = n * (n - 1) / 2
    return total / n_pairs, apart / (n * (n - 1) * (n - 2) * (n - 3)), squares / n_pairs


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
    if pairs.n_blocks < ENOUGH_BLOCKS or m < FEWEST_POSITIONS:
        return None
    n = pairs.n_blocks
    squared, squared_mean, second_moment = _moments(pairs.kernel, n)
    same_point = ~pairs.kernel.any(axis=0)  # positions without data, say: such pairs tell nothing of the noise
    if same_point.all():
        return None
    first, second = np.triu_indices(m, 1)
    share = np.where(pairs.sample_sizes > 0, 1 / np.maximum(pairs.sample_sizes, 1), 0)
    slope = pairs.scale * (share[first] + share[second])
    # The variance of one term is that of noise alone and n / 2 times what resolved tokens give the mean of all.
    alone = 2 / (n * (n - 1)) * (second_moment - squared_mean - n / 2 * slope * _resolved(squared, pairs.scale))
    least = _LEAST_SHARE * float(np.median(alone[~same_point]))
    if not least > 0:
        # Where distances stand far out of their noise, half of the estimates can be negative; this cannot.
        alone = pairs.kernel.var(axis=0, ddof=1) / len(pairs.kernel)
        least = _LEAST_SHARE * float(np.median(alone[~same_point]))
    if not least > _ROUND_OFF * float(np.abs(squared).max()) ** 2:
        return None
    sums = np.bincount(first, alone, m) + np.bincount(second, alone, m)
    effect = (sums - alone.sum() / (m - 1)) / (m - 2)  # least squares of an additive table without diagonal
    floor = np.maximum(effect[first] + effect[second], least)
    return NoiseModel(np.where(same_point, 0, floor), slope, pairs.n_blocks, pairs.scale)
