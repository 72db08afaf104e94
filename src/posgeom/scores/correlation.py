"""Correlation of an encoding's distances with those of the corpus."""

import numpy as np
from numpy.typing import NDArray

from posgeom.geometry.distance_matrix import DistanceMatrix, upper_pairs
from posgeom.scores.moments import Moments, pearson_of_moments
from posgeom.scores.monotonicity import RELATIVE_TOLERANCE

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


def pearson_against(encoding: NDArray[np.float64], target: DistanceMatrix) -> float | None:
    """Pearson correlation with distances that may be estimates, of which it takes the noise into account.

    Parameters
    ----------
    encoding : ndarray of float, shape (n_pairs,)
    target : DistanceMatrix

    Returns
    -------
    float or None
    """
    if target.corrected is target.values:
        return pearson(encoding, target.pairs)
    if encoding.size < 2 or _is_constant(encoding):
        return None
    moments = Moments.of_pairs(encoding[None], upper_pairs(target.corrected), upper_pairs(target.squared))
    value = float(pearson_of_moments(moments)[0])
    return value if np.isfinite(value) else None


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
    return pearson(tied_ranks(x), tied_ranks(y))


def tied_ranks(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks with values tied to within round-off, which would otherwise order equal distances at random; shape of x."""
    order = np.argsort(x)
    steps = np.diff(x[order]) > RELATIVE_TOLERANCE * float(np.abs(x).max())
    if steps.all():
        ranks = np.empty(x.size)
        ranks[order] = np.arange(1, x.size + 1)
        return ranks
    group = np.empty(x.size, np.int64)
    group[order] = np.concatenate([[0], np.cumsum(steps)])
    sizes = np.bincount(group)
    mean_rank = np.cumsum(sizes) - (sizes - 1) / 2
    return np.asarray(mean_rank[group])


def _is_constant(x: NDArray[np.float64]) -> bool:
    return float(np.ptp(x)) <= _CONSTANT * float(np.abs(x).max())
