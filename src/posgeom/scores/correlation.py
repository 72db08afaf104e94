"""Correlation of an encoding's distances with those of the corpus."""

import numpy as np
from numpy.typing import NDArray

from posgeom.scores.monotonicity import RELATIVE_TOLERANCE

_CONSTANT = 1e-12


def pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    """Pearson correlation over pairs, or None where one of them is constant.

    Shapes: `x, y` (n_pairs,).
    """
    if x.size < 2 or is_constant(x) or is_constant(y):
        return None
    a, b = x - x.mean(), y - y.mean()
    return float(np.clip((a / np.linalg.norm(a)) @ (b / np.linalg.norm(b)), -1, 1))


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    """Spearman rank correlation over pairs, ties at their mean rank, or None where one of them is constant.

    Shapes: `x, y` (n_pairs,).
    """
    if x.size < 2 or is_constant(x) or is_constant(y):
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


def is_constant(x: NDArray[np.float64]) -> bool:
    """Whether all values are equal to within round-off."""
    return float(np.ptp(x)) <= _CONSTANT * float(np.abs(x).max())
