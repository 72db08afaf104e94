"""Inner products of sparse rows: one product for frequent tokens, another for rare ones."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

_DENSE_FROM = 0.1
"""Columns filled in this share of the rows go through a dense product, which is faster for them."""
_BLOCK_CELLS = 1 << 23
"""Cells of a dense block, so that memory stays bounded whatever the vocabulary."""


def cross_gram(
    a: scipy.sparse.csr_array | scipy.sparse.csc_array, b: scipy.sparse.csr_array | scipy.sparse.csc_array
) -> NDArray[np.float64]:
    """A B^T for two sparse matrices with the same columns.

    Shapes: `a, b` (m, V) and (k, V); the result (m, k).
    """
    a_by_token = a.tocsc()
    b_by_token = a_by_token if b is a else b.tocsc()
    filled = np.diff(a_by_token.indptr)
    frequent = np.flatnonzero(filled > _DENSE_FROM * a.shape[0])
    rare = np.flatnonzero((filled > 0) & (filled <= _DENSE_FROM * a.shape[0]))
    out = np.zeros((a.shape[0], b.shape[0]))
    width = max(1, _BLOCK_CELLS // max(a.shape[0], b.shape[0]))
    for start in range(0, frequent.size, width):
        block = frequent[start : start + width]
        dense = a_by_token[:, block].toarray(order="F")
        # NumPy sees where both factors are one array, and does half the work.
        out += dense @ (dense if b is a else b_by_token[:, block].toarray(order="F")).T
    if rare.size:
        part = a_by_token[:, rare]
        out += (part.tocsr() @ (part if b is a else b_by_token[:, rare]).T).toarray()
    return out
