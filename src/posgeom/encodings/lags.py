"""A function of the lag as a matrix over positions."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from posgeom.estimation.distance_matrix import check_matrix_fits


def lag_span(positions: NDArray[np.int64]) -> int:
    """Largest lag between positions; 0 without any."""
    return int(np.ptp(positions)) if positions.size else 0


def spread_lags(table: NDArray[np.float64], positions: NDArray[np.int64]) -> NDArray[np.float64]:
    """The entry of the lag of each pair of positions, shape (m, m), from a table by lag from 0."""
    m = positions.size
    check_matrix_fits(m)
    if m > 1 and (np.diff(positions) == 1).all():
        # Rows are windows of one mirrored table: a copy, where a look-up would compute every lag.
        mirrored = np.concatenate([table[m - 1 : 0 : -1], table[:m]])
        return np.ascontiguousarray(sliding_window_view(mirrored, m)[::-1])
    return np.asarray(table[np.abs(positions[:, None] - positions)])
