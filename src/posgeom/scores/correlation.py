"""Correlation of an encoding's distances with those of the corpus."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

_CONSTANT = 1e-12


def pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    """Pearson correlation over pairs, or None where one of them is constant.

    Parameters
    ----------
    x, y : ndarray of float, shape (n_pairs,)

    Returns
    -------
    float or None
    """
    if x.size < 2 or _is_constant(x) or _is_constant(y):
        return None
    a, b = x - x.mean(), y - y.mean()
    return float(np.clip((a / np.linalg.norm(a)) @ (b / np.linalg.norm(b)), -1, 1))


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    """Spearman rank correlation over pairs, ties at their mean rank, or None where one of them is constant.

    Parameters
    ----------
    x, y : ndarray of float, shape (n_pairs,)

    Returns
    -------
    float or None
    """
    if x.size < 2 or _is_constant(x) or _is_constant(y):
        return None
    return pearson(rankdata(x), rankdata(y))


def _is_constant(x: NDArray[np.float64]) -> bool:
    return float(np.ptp(x)) <= _CONSTANT * float(np.abs(x).max())
