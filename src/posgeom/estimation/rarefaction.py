"""Rarefaction without Monte Carlo: the expected square-root frequency at a common depth.

Subsampling K of N tokens without replacement makes the count of a token hypergeometric. Averaging
sqrt(X / K) over draws estimates what a sample of K tokens would show, whatever N was, so positions of unequal
depth become comparable. Draws in two halves of a corpus are independent given the counts, so the average over
infinitely many draws of an inner product is the inner product of the averages: computed here exactly, it has
no Monte-Carlo error (it is the Rao-Blackwell form of drawing).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.errors import GeometryError
from posgeom.estimation.sparse_rows import row_sums, with_data

_SERIES_FROM = 64.0
"""Expected count from which the moment series is used; its relative error there is below 1e-7."""
_SMALL = 32
"""Counts up to here are tabulated for every row at once: nearly all entries of a text corpus are that rare."""
_CHUNK = 1 << 13
_LONGEST_TABLE = 1 << 20


def rarefied_sqrt(count: NDArray[np.int64], total: NDArray[np.int64], depth: int) -> NDArray[np.float64]:
    """E sqrt(X / depth) for X hypergeometric: `depth` draws without replacement, `count` of `total` marked.

    Shapes: `count` (k,), `total` (k,); the result (k,).
    """
    if depth < 1 or (total.size and depth > int(total.min())):
        smallest = int(total.min()) if total.size else 0
        raise GeometryError(f"cannot rarefy to depth {depth}: expected 1 to {smallest}, the shallowest position")
    expected = depth * count / total
    out = np.zeros(count.shape)
    series = expected >= _SERIES_FROM
    out[series] = _moment_series(count[series], total[series], depth)
    exact = np.flatnonzero(~series & (count > 0))
    for start in range(0, exact.size, _CHUNK):
        part = exact[start : start + _CHUNK]
        out[part] = _exact_sum(count[part], total[part], depth)
    return np.asarray(out / np.sqrt(depth))


def _moments(
    count: NDArray[np.int64], total: NDArray[np.int64], depth: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Mean, variance and third central moment of the hypergeometric distribution."""
    c, n = count.astype(np.float64), total.astype(np.float64)
    mean = depth * c / n
    variance = mean * (1 - c / n) * (n - depth) / np.maximum(n - 1, 1)
    third = variance * (n - 2 * c) * (n - 2 * depth) / (n * np.maximum(n - 2, 1))
    return mean, variance, third


def _moment_series(count: NDArray[np.int64], total: NDArray[np.int64], depth: int) -> NDArray[np.float64]:
    """E sqrt(X) by Taylor expansion about the mean to sixth order, higher moments from the first three."""
    mean, m2, m3 = _moments(count, total, depth)
    m4, m5, m6 = 3 * m2**2, 10 * m2 * m3, 15 * m2**3
    relative = (
        1
        - m2 / (8 * mean**2)
        + m3 / (16 * mean**3)
        - 5 * m4 / (128 * mean**4)
        + 7 * m5 / (256 * mean**5)
        - 21 * m6 / (1024 * mean**6)
    )
    return np.asarray(np.sqrt(mean) * relative)


def _exact_sum(count: NDArray[np.int64], total: NDArray[np.int64], depth: int) -> NDArray[np.float64]:
    """E sqrt(X) by summing the probabilities within twelve standard deviations of the mean."""
    mean, variance, _ = _moments(count, total, depth)
    reach = 12 * np.sqrt(variance) + 12
    low = np.maximum(np.maximum(count + depth - total, 0), np.floor(mean - reach).astype(np.int64))
    high = np.minimum(np.minimum(count, depth), np.ceil(mean + reach).astype(np.int64))
    x = low[:, None] + np.arange(int((high - low).max()) + 1)
    inside = x <= high[:, None]
    x = np.minimum(x, high[:, None])
    c, n = count[:, None], total[:, None]
    # Factors that do not depend on x cancel in the normalisation.
    log_factorial = _log_factorials(int(total.max()))
    log_p = -(log_factorial(x) + log_factorial(c - x) + log_factorial(depth - x) + log_factorial(n - c - depth + x))
    log_p[~inside] = -np.inf
    p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    return np.asarray((p * np.sqrt(x)).sum(axis=1) / p.sum(axis=1))


def _log_factorials(largest: int) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
    """The function log k! for 0 <= k <= `largest`: from a table where that is not too long, which is much faster."""
    if largest >= _LONGEST_TABLE:
        return lambda k: np.asarray(scipy.special.gammaln(k + 1))
    return _log_factorial_table(1 << largest.bit_length()).take


@cache
def _log_factorial_table(size: int) -> NDArray[np.float64]:
    return np.asarray(scipy.special.gammaln(np.arange(size) + 1))


def rarefied_rows(counts: scipy.sparse.csr_array, depth: int) -> scipy.sparse.csr_array:
    """Expected square-root frequencies of every row at a common depth.

    Shapes: `counts` (m, V); the result (m, V).
    """
    totals = row_sums(counts).astype(np.int64)
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    data = counts.data.astype(np.int64)
    small = data <= _SMALL
    values = np.empty(data.size)
    values[small] = _small_table(totals.tobytes(), depth)[rows[small], data[small]]
    # One number for a pair of count and total: those that come twice are computed once.
    base = int(totals.max(initial=0)) + 1
    pairs, where = np.unique(data[~small] * base + totals[rows[~small]], return_inverse=True)
    values[~small] = rarefied_sqrt(pairs // base, pairs % base, depth)[where]
    return with_data(counts, values)


@lru_cache(maxsize=32)
def _small_table(row_totals: bytes, depth: int) -> NDArray[np.float64]:
    """Values for counts 0 to `_SMALL` at every row, shape (m, _SMALL + 1); kept, since null corpora have the same."""
    totals = np.frombuffer(row_totals, np.int64)
    count, total = np.broadcast_arrays(np.arange(_SMALL + 1), totals[:, None])
    count = np.minimum(count, total)  # a count beyond the row's total cannot be looked up
    return rarefied_sqrt(count.ravel(), total.ravel(), depth).reshape(count.shape)
