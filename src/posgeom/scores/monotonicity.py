"""Monotonicity: does distance grow with the lag? Violations counted over all triples in O(n^2 log n)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RELATIVE_TOLERANCE = 1e-9
"""Distances closer than this share of the largest one are tied: round-off must not break ties at random."""
_CHUNK_CELLS = 1 << 18


@dataclass(frozen=True, slots=True)
class Monotonicity:
    """Counts over the ordered triples (i, j, k) of distinct positions with |i - j| < |i - k|.

    Attributes
    ----------
    violations : int
        Triples with d(i, j) > d(i, k).
    ties : int
        Triples whose two distances are equal to within the tolerance.
    triples : int
    """

    violations: int
    ties: int
    triples: int

    @property
    def violation_rate(self) -> float | None:
        """Violations a triple; None without triples."""
        return self.violations / self.triples if self.triples else None

    @property
    def tie_rate(self) -> float | None:
        """Ties a triple; None without triples."""
        return self.ties / self.triples if self.triples else None


def monotonicity(
    distances: NDArray[np.float64], positions: NDArray[np.int64], *, tolerance: float = RELATIVE_TOLERANCE
) -> Monotonicity:
    """Count violations of monotonicity (Conjecture 5 of the paper and its Figure 6).

    For each i, the other positions are sorted by lag; a violation is then an element with a smaller one among
    those of larger lag, which a wavelet matrix counts in O(log n) an element, for a block of rows at a time.

    Parameters
    ----------
    distances : ndarray of float, shape (m, m)
    positions : ndarray of int, shape (m,)
        Sequence positions of the rows, which decide the lags.
    tolerance : float
        Share of the largest distance up to which two distances are tied.

    Returns
    -------
    Monotonicity
    """
    m = positions.size
    slack = tolerance * float(distances.max(initial=0))
    violations = ties = triples = 0
    rows_at_once = max(1, _CHUNK_CELLS // max(m, 1))
    for start in range(0, m, rows_at_once):
        rows = np.arange(start, min(start + rows_at_once, m))
        lags = np.abs(positions[rows, None] - positions)
        # The row's own position, the only one at lag 0, comes last and is cut off.
        order = np.argsort(-lags, axis=1, kind="stable")[:, :-1]
        values = np.take_along_axis(distances[rows], order, axis=1)
        farther = _count_farther(np.take_along_axis(lags, order, axis=1))
        ranks, below, at_most = _ranks(values, slack)
        strictly = _count_below(ranks, farther, below)
        violations += strictly
        ties += _count_below(ranks, farther, at_most) - strictly
        triples += int(farther.sum())
    return Monotonicity(violations, ties, triples)


def _count_farther(lags: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many elements of a row, sorted by decreasing lag, have a larger lag than each; shape as `lags`."""
    index = np.broadcast_to(np.arange(lags.shape[1]), lags.shape)
    first_of_lag = np.zeros(lags.shape, bool)
    first_of_lag[:, :1] = True
    first_of_lag[:, 1:] = lags[:, 1:] != lags[:, :-1]
    return np.maximum.accumulate(np.where(first_of_lag, index, 0), axis=1)


def _ranks(
    values: NDArray[np.float64], slack: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Rank of each value in its row, and how many are below value - slack and at most value + slack."""
    order = np.argsort(values, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(values.shape[1]), values.shape), axis=1)
    in_order = np.take_along_axis(values, order, axis=1)
    below, at_most = np.empty_like(order), np.empty_like(order)
    for r, row in enumerate(in_order):
        below[r] = np.searchsorted(row, values[r] - slack, side="left")
        at_most[r] = np.searchsorted(row, values[r] + slack, side="right")
    return ranks, below, at_most


def _count_below(ranks: NDArray[np.int64], prefix: NDArray[np.int64], bound: NDArray[np.int64]) -> int:
    """Sum over elements of how many of the first `prefix` ranks of the row are below `bound`.

    Descends the bits of the ranks from the highest, keeping for each element the interval of the current
    ordering that shares the bits of its bound so far (a wavelet matrix, all rows side by side).
    """
    n_rows, width = ranks.shape
    low, high = np.zeros_like(prefix), prefix.copy()
    current = ranks
    count = 0
    for bit in reversed(range(int(width).bit_length())):
        ones = (current >> bit) & 1
        zeros_before = np.zeros((n_rows, width + 1), np.int64)
        np.cumsum(1 - ones, axis=1, out=zeros_before[:, 1:])
        n_zeros = zeros_before[:, -1:]
        low_zeros = np.take_along_axis(zeros_before, low, axis=1)
        high_zeros = np.take_along_axis(zeros_before, high, axis=1)
        goes_up = ((bound >> bit) & 1).astype(bool)
        count += int((high_zeros - low_zeros)[goes_up].sum())
        low = np.where(goes_up, n_zeros + low - low_zeros, low_zeros)
        high = np.where(goes_up, n_zeros + high - high_zeros, high_zeros)
        current = np.take_along_axis(current, np.argsort(ones, axis=1, kind="stable"), axis=1)
    return count
