"""Monotonicity: does distance grow with the lag? Violations counted over all triples in O(n^2 log n)."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RELATIVE_TOLERANCE = 1e-9
"""Distances closer than this share of the largest one are tied: round-off must not break ties at random."""
_CHUNK_CELLS = 1 << 17


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
        """Violations per triple; None without triples."""
        return self.violations / self.triples if self.triples else None

    @property
    def tie_rate(self) -> float | None:
        """Ties per triple; None without triples."""
        return self.ties / self.triples if self.triples else None


def monotonicity(
    distances: NDArray[np.float64], positions: NDArray[np.int64], *, tolerance: float = RELATIVE_TOLERANCE
) -> Monotonicity:
    """Count violations of monotonicity (Conjecture 5 of the paper and its Figure 6).

    For each i, the other positions are sorted by lag; a violation is then an element with a smaller one among
    those of larger lag, which a wavelet tree counts in O(log n) an element, for a block of rows at a time.

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
    rows_at_once = max(1, _CHUNK_CELLS // max(m, 1))
    blocks = [np.arange(start, min(start + rows_at_once, m)) for start in range(0, m, rows_at_once)]

    def count_block(rows: NDArray[np.int64]) -> tuple[int, int, int]:
        return _count_block(distances, positions, rows, slack)

    # NumPy lets go of the interpreter in the work that matters, so threads share it; sums of integers are exact.
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        counts = list(pool.map(count_block, blocks))
    violations, ties, triples = (sum(part[i] for part in counts) for i in range(3))
    return Monotonicity(violations, ties, triples)


def _count_block(
    distances: NDArray[np.float64], positions: NDArray[np.int64], rows: NDArray[np.int64], slack: float
) -> tuple[int, int, int]:
    """Violations, ties and triples (i, j, k) with i in a block of rows."""
    lags = np.abs(positions[rows, None] - positions).astype(np.int32)
    # The row's own position, the only one at lag 0, comes last and is cut off.
    order = np.argsort(-lags, axis=1, kind="stable")[:, :-1]
    values = np.take_along_axis(distances[rows], order, axis=1)
    farther = _count_farther(np.take_along_axis(lags, order, axis=1))
    ranks, below, at_most = _ranks(values, slack)
    strictly, weakly = _count_below(ranks, farther, (below, at_most))
    return strictly, weakly - strictly, int(farther.sum(dtype=np.int64))


def _count_farther(lags: NDArray[np.int32]) -> NDArray[np.int32]:
    """How many elements of a row, sorted by decreasing lag, have a larger lag than each; shape as `lags`."""
    index = np.broadcast_to(np.arange(lags.shape[1], dtype=np.int32), lags.shape)
    first_of_lag = np.zeros(lags.shape, bool)
    first_of_lag[:, :1] = True
    first_of_lag[:, 1:] = lags[:, 1:] != lags[:, :-1]
    return np.maximum.accumulate(np.where(first_of_lag, index, 0), axis=1)


def _ranks(values: NDArray[np.float64], slack: float) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Rank of each value in its row, and how many are below value - slack and at most value + slack."""
    order = np.argsort(values, axis=1)
    in_order = np.take_along_axis(values, order, axis=1)
    below, at_most = np.empty(values.shape, np.int32), np.empty(values.shape, np.int32)
    for r, row in enumerate(in_order):
        below[r, order[r]] = np.searchsorted(row, row - slack, side="left")
        at_most[r, order[r]] = np.searchsorted(row, row + slack, side="right")
    ranks = np.empty(values.shape, np.int32)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(values.shape[1], dtype=np.int32), values.shape), axis=1)
    return ranks, below, at_most


def _count_below(ranks: NDArray[np.int32], prefix: NDArray[np.int32], bounds: Sequence[NDArray[np.int32]]) -> list[int]:
    """For each array of bounds: the sum over elements of how many of the first `prefix` ranks are below the bound.

    A wavelet tree over the bits of the ranks, all rows side by side. At each level the row is sorted by the bits
    above the current one, stably, so that the ranks that share those bits with a bound form one block. Ranks are
    a permutation of 0 .. width - 1, hence a block starts where its smallest rank says, and every block before it
    is half zeros in the current bit.
    """
    n_rows, width = ranks.shape
    row_start = (np.arange(n_rows, dtype=np.int32) * width)[:, None]
    index = row_start + np.arange(width, dtype=np.int32)
    current, following = ranks, np.empty_like(ranks)
    # zeros_before[k] is counted from the start of the flattened array, which all rows share.
    zeros_before = np.zeros(ranks.size + 1, np.int32)
    inside = [prefix] * len(bounds)  # elements of the prefix in the bound's block
    counts = [0] * len(bounds)
    for bit in reversed(range(width.bit_length())):
        is_one = current >> bit & 1
        np.cumsum(1 - is_one.ravel(), out=zeros_before[1:])
        row_zeros = zeros_before[row_start]
        for b, bound in enumerate(bounds):
            start = bound >> bit + 1 << bit + 1
            zeros = zeros_before[row_start + start + inside[b]] - row_zeros - (start >> 1)
            goes_up = bound >> bit & 1
            counts[b] += int((zeros * goes_up).sum(dtype=np.int64))
            inside[b] = np.where(goes_up, inside[b] - zeros, zeros)
        start = current >> bit + 1 << bit + 1
        zeros = zeros_before[:-1].reshape(ranks.shape) - row_zeros - (start >> 1)
        target = np.where(is_one, index - zeros + (1 << bit), row_start + start + zeros)
        following.ravel()[target] = current
        current, following = following, np.empty_like(ranks)
    return counts
