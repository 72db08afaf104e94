"""Matrices of pairs of positions, made small: means over blocks of neighbouring positions."""

import numpy as np
from numpy.typing import NDArray


def block_edges(n: int, max_blocks: int) -> NDArray[np.int64]:
    """Where blocks of one size begin, and where the last one, which may be smaller, ends.

    The result has shape (k + 1,).
    """
    return np.append(np.arange(0, n, -(-n // max_blocks), dtype=np.int64), n)


def block_means(matrix: NDArray[np.float64], edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Means over blocks of a square matrix, without the pairs of a position with itself.

    Shapes: `matrix` (m, m), `edges` (k + 1,); the result (k, k).
    """
    starts = edges[:-1]
    sums = np.add.reduceat(np.add.reduceat(matrix, starts, axis=0), starts, axis=1)
    sizes = np.diff(edges)
    pairs = sizes[:, None] * sizes - np.diag(sizes)
    return np.asarray(np.divide(sums, pairs, out=np.zeros_like(sums), where=pairs > 0))
