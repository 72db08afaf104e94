"""Adding up counts by key as they arrive, in memory that follows the number of distinct keys."""

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint32] | NDArray[np.int64]
_Run = tuple[NDArray[np.int64], NDArray[np.int64]]


def key_type(bound: int) -> type[np.uint32] | type[np.int64]:
    """Type of keys in ``[0, bound)``: half as wide where they fit, which sorts twice as fast."""
    return np.uint32 if bound <= 2**32 else np.int64


class Accumulator:
    """Counts how often each key in ``[0, bound)`` was added.

    Keys are collected up to a capacity, sorted, and kept as sorted runs with counts; runs of like size are merged, so
    that a key is moved a logarithmic number of times.
    """

    def __init__(self, bound: int, capacity: int = 1 << 22) -> None:
        self._pending = np.empty(capacity, key_type(bound))
        self._n_pending = 0
        self._runs: list[_Run] = []

    def add(self, keys: Keys) -> None:
        """Count keys of `key_type`, in any order, each as often as it stands there; shape (k,)."""
        start = 0
        while start < keys.size:
            taken = min(keys.size - start, self._pending.size - self._n_pending)
            self._pending[self._n_pending : self._n_pending + taken] = keys[start : start + taken]
            self._n_pending += taken
            start += taken
            if self._n_pending == self._pending.size:
                self._compact()

    def result(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All distinct keys in increasing order, and how often each was added."""
        self._compact()
        while len(self._runs) > 1:
            self._merge_last()
        return self._runs[0] if self._runs else (np.empty(0, np.int64), np.empty(0, np.int64))

    def _compact(self) -> None:
        if not self._n_pending:
            return
        keys = self._pending[: self._n_pending]
        keys.sort()
        is_last = np.empty(keys.size, np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=is_last[:-1])
        is_last[-1] = True
        ends = np.flatnonzero(is_last)
        counts = np.empty(ends.size, np.int64)
        counts[0] = ends[0] + 1
        np.subtract(ends[1:], ends[:-1], out=counts[1:])
        self._runs.append((keys[ends].astype(np.int64), counts))
        self._n_pending = 0
        while len(self._runs) > 1 and self._runs[-2][0].size < 2 * self._runs[-1][0].size:
            self._merge_last()

    def _merge_last(self) -> None:
        small = self._runs.pop()
        large = self._runs.pop()
        if large[0].size < small[0].size:
            small, large = large, small
        self._runs.append(_merged(large, small))


def _merged(a: _Run, b: _Run) -> _Run:
    """Two runs in one; the keys of `b` are looked up in `a`."""
    keys, counts = a
    places = np.searchsorted(keys, b[0])
    known = keys[np.minimum(places, keys.size - 1)] == b[0]
    counts = counts.copy()
    counts[places[known]] += b[1][known]
    new = ~known
    if not new.any():
        return keys, counts
    size = keys.size + int(new.sum())
    is_new = np.zeros(size, np.bool_)
    is_new[places[new] + np.arange(int(new.sum()))] = True
    is_old = ~is_new
    merged = np.empty(size, np.int64), np.empty(size, np.int64)
    for out, old, added in zip(merged, (keys, counts), b, strict=True):
        out[is_new] = added[new]
        out[is_old] = old
    return merged
