"""Monotonicity: does distance grow with the lag? Violations counted over all triples in O(n^2 log^2 n)."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RELATIVE_TOLERANCE = 1e-9
"""Distances closer than this share of the largest one are tied: round-off must not break ties at random."""
_CHUNK_CELLS = 1 << 17
_SMALLEST = 16
"""Elements of a row among which pairs are compared directly."""


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
    those of larger lag, which merge sort counts, for a block of rows at a time.

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
    lags = np.take_along_axis(lags, order, axis=1)
    width = lags.shape[1]
    # A lag has two positions at most, which stand side by side.
    same_lag = lags[:, 1:] == lags[:, :-1]
    triples = rows.size * (width * (width - 1) // 2) - int(np.count_nonzero(same_lag))
    ranks, below, at_most = _ranks(values, slack)

    def count(bounds: NDArray[np.int32]) -> int:
        return _count_pairs(ranks, bounds) - int(np.count_nonzero(same_lag & (ranks[:, 1:] >= bounds[:, :-1])))

    strictly = count(at_most)
    # Without ties but of each with itself, the other count is the same.
    is_tied = int(at_most.sum(dtype=np.int64) - below.sum(dtype=np.int64)) > ranks.size
    return strictly, count(below) - strictly if is_tied else 0, triples


def _ranks(values: NDArray[np.float64], slack: float) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Rank of each value in its row, and how many are below value - slack and at most value + slack."""
    order = np.argsort(values, axis=1)
    in_order = np.take_along_axis(values, order, axis=1)
    index = np.arange(values.shape[1], dtype=np.int32)
    # Values chained by steps within the slack form a group; where none is wider than that, its ends are the bounds.
    first, last = np.ones(values.shape, np.bool_), np.ones(values.shape, np.bool_)
    lower, upper = in_order[:, :-1], in_order[:, 1:]
    first[:, 1:] = last[:, :-1] = (upper > lower + slack) & (lower < upper - slack)
    ranks = np.empty(values.shape, np.int32)
    np.put_along_axis(ranks, order, np.broadcast_to(index, values.shape), axis=1)
    if first.all():
        return ranks, ranks, ranks + 1
    starts = np.maximum.accumulate(np.where(first, index, 0), axis=1)
    ends = np.minimum.accumulate(np.where(last, index, values.shape[1])[:, ::-1], axis=1)[:, ::-1]
    low, high = (np.take_along_axis(in_order, ends_of, axis=1) for ends_of in (starts, ends))
    wide = np.flatnonzero(((high > low + slack) | (low < high - slack)).any(axis=1))
    ends += 1
    for r in wide:
        starts[r] = np.searchsorted(in_order[r], in_order[r] - slack, side="left")
        ends[r] = np.searchsorted(in_order[r], in_order[r] + slack, side="right")
    below, at_most = np.empty_like(ranks), np.empty_like(ranks)
    np.put_along_axis(below, order, starts, axis=1)
    np.put_along_axis(at_most, order, ends, axis=1)
    return ranks, below, at_most


def _count_pairs(ranks: NDArray[np.int32], bounds: NDArray[np.int32]) -> int:
    """Pairs of elements of a row, one before the other, where the later's rank reaches the earlier's bound.

    The two sides of a merge sort, without the merging: each row is cut into two, each part into two again, and in each
    cut the bounds on its left and the ranks on its right are sorted together; how many bounds are below the ranks is
    then a sum of places. The smallest parts are compared directly.
    """
    n_rows, width = ranks.shape
    n_parts = 1
    while n_parts * _SMALLEST < width:
        n_parts *= 2
    size = max(1, -(-width // n_parts))
    # What fills up the last part is no pair: such a rank reaches no bound, and such a bound is reached by none.
    later = np.full((n_rows, n_parts * size), -1, np.int32)
    earlier = np.full((n_rows, n_parts * size), 2 * width, np.int32)
    later[:, :width], earlier[:, :width] = 2 * ranks + 1, 2 * bounds
    by_place = [np.ascontiguousarray(one.reshape(-1, size).T) for one in (later, earlier)]
    total = sum(int(np.count_nonzero(by_place[0][p + 1 :] > by_place[1][p])) for p in range(size - 1))
    while size < later.shape[1]:
        keys = later.reshape(-1, 2, size).copy()
        keys[:, 0] = earlier.reshape(-1, 2, size)[:, 0]
        cut = keys.reshape(-1, 2 * size)
        cut.sort(axis=1)
        of_ranks = (cut & 1).sum(axis=0, dtype=np.int64)
        total += int(of_ranks @ np.arange(2 * size)) - len(cut) * (size * (size - 1) // 2)
        size *= 2
    return total
