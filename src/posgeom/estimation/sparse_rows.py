"""Rows of sparse matrices: dividing them, and adding one more."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray


def with_data(matrix: scipy.sparse.csr_array, data: NDArray[np.float64]) -> scipy.sparse.csr_array:
    """A matrix of the same sparsity with other values, shape as `matrix`."""
    return scipy.sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def divide_rows(matrix: scipy.sparse.csr_array, divisors: NDArray[np.float64]) -> scipy.sparse.csr_array:
    """Each row divided by its number.

    Shapes: `matrix` (m, V), `divisors` (m,); the result (m, V).
    """
    return with_data(matrix, matrix.data / np.repeat(divisors, np.diff(matrix.indptr)))


def row_sums(matrix: scipy.sparse.csr_array) -> NDArray[np.float64]:
    """Sum of each row, shape (m,)."""
    return np.asarray(matrix.sum(axis=1), np.float64).ravel()


def append_row(matrix: scipy.sparse.csr_array, row: NDArray[np.float64]) -> scipy.sparse.csr_array:
    """A matrix with one more row, and as many columns as that has.

    Shapes: `matrix` (m, V), `row` (W,); the result (m + 1, W).
    """
    widened = scipy.sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], row.size))
    return scipy.sparse.csr_array(scipy.sparse.vstack([widened, scipy.sparse.csr_array(row[None])], format="csr"))
