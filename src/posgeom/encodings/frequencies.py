"""Geometric frequencies, and the distances that a bank of rotations induces."""

import numpy as np
from numpy.typing import NDArray


def inverse_frequencies(n_dims: int, base: float) -> NDArray[np.float64]:
    """omega_k = base^(-2k/d) for k = 0 .. ceil(d/2) - 1, in radians a position (``inv_freq``)."""
    return np.asarray(base ** (-np.arange(0, n_dims, 2) / n_dims))


def tensor2tensor_frequencies(n_dims: int, base: float) -> NDArray[np.float64]:
    """omega_k = base^(-k/(d/2 - 1)), which ends at exactly 1/base; one frequency alone is 1."""
    n_pairs = (n_dims + 1) // 2
    return np.asarray(base ** (-np.arange(n_pairs) / max(n_pairs - 1, 1)))


def rotation_lag_distances(
    lags: NDArray[np.int64], frequencies: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Distance at each lag of a sum of rotations: d^2(l) = sum_k w_k 4 sin^2(omega_k l / 2), w_k a squared radius.

    The half-angle form keeps its digits where 2 - 2 cos cancels.
    """
    squared = np.zeros(lags.size)
    half_lag = lags / 2
    for omega, weight in zip(frequencies, weights, strict=True):
        squared += 4 * weight * np.sin(omega * half_lag) ** 2
    return np.sqrt(squared)
