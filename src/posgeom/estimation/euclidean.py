"""Euclidean distances that stay exact for close pairs."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posgeom.estimation.distance_matrix import check_matrix_fits

_RECOMPUTE_BELOW = 1e-5
"""Share of the squared norms below which |a|^2 + |b|^2 - 2ab has lost too many digits."""
_CHUNK_NUMBERS = 1 << 22


def euclidean_distances(points: ArrayLike) -> NDArray[np.float64]:
    """Pairwise Euclidean distances of the rows of a matrix.

    One matrix product gives all pairs; those so close that the difference of products cancels are computed
    again from coordinate differences, so that the smallest distance is as exact as the largest.

    Shapes: `points` (n, d); the result (n, n).
    """
    x = np.asarray(points, np.float64)
    check_matrix_fits(x.shape[0])
    if not x.size:
        return np.zeros((x.shape[0], x.shape[0]))
    x = x - x.mean(axis=0)
    gram = x @ x.T
    norms = np.diagonal(gram)
    total = norms[:, None] + norms
    squared = np.maximum(total - gram - gram.T, 0)
    np.fill_diagonal(squared, 0)
    # `<=`, so that points that coincide with the mean are recomputed too.
    close = squared <= _RECOMPUTE_BELOW * total
    is_alone = np.count_nonzero(close) == x.shape[0]  # each is close to itself
    first, second = np.nonzero(np.triu(close, 1) if not is_alone else np.zeros((0, 0)))
    step = max(1, _CHUNK_NUMBERS // max(x.shape[1], 1))
    for start in range(0, first.size, step):
        i, j = first[start : start + step], second[start : start + step]
        squared[i, j] = squared[j, i] = ((x[i] - x[j]) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(squared))
