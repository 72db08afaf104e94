"""Token distributions of positions, empty ones included where the policy says so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.estimation.sparse_rows import append_row, divide_rows, row_sums


@dataclass(frozen=True, eq=False)
class PositionDistributions:
    """Distinct token distributions, and which one each position has.

    Attributes
    ----------
    rows : CSR array of float, shape (k, n_distinct), or (k, n_distinct + 1) with empty positions
        One distribution per row, rows sum to 1. The further column is the probability of all tokens that the
        corpus does not hold together; lumping them is exact for every metric here, since no other row has mass
        there.
    row_of_position : ndarray of int, shape (m,)
        Row of each position: all empty positions share one.
    """

    rows: scipy.sparse.csr_array
    row_of_position: NDArray[np.int64]


def uniform_row(counts: PositionCounts) -> NDArray[np.float64]:
    """The uniform distribution over V tokens, in the columns of `PositionDistributions.rows`."""
    n_seen, vocab_size = int(counts.distinct_tokens.size), counts.vocab_size
    row = np.full(n_seen + 1, 1 / vocab_size)
    row[-1] = (vocab_size - n_seen) / vocab_size
    return row


def position_distributions(counts: PositionCounts, positions: NDArray[np.int64]) -> PositionDistributions:
    """Plug-in distributions mu_i = c_i / N_i; a position without data gets the uniform one.

    Shapes: `positions` (m,).
    """
    occupied = counts.depth[positions] > 0
    matrix = counts.matrix()[positions[occupied]]
    rows = divide_rows(matrix, row_sums(matrix))
    row_of_position = np.cumsum(occupied) - 1
    if not occupied.all():
        row_of_position[~occupied] = rows.shape[0]
        rows = append_row(rows, uniform_row(counts))
    return PositionDistributions(rows, row_of_position.astype(np.int64))
