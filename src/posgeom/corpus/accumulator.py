"""Adding up counts by key as they arrive, in memory that follows the number of distinct keys."""

import numpy as np
from numpy.typing import NDArray

_COMPACT_AT = 1 << 22


class Accumulator:
    """Adds up sorted (key, count) runs, compacting before they pile up."""

    def __init__(self) -> None:
        self._keys = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int64)
        self._pending: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._pending_size = 0

    def add(self, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        """Take in a run: distinct keys in increasing order, and their counts; shapes (k,)."""
        self._pending.append((keys, counts))
        self._pending_size += keys.size
        if self._pending_size > max(_COMPACT_AT, self._keys.size):
            self._compact()

    def _compact(self) -> None:
        keys = np.concatenate([self._keys, *(k for k, _ in self._pending)])
        counts = np.concatenate([self._counts, *(c for _, c in self._pending)])
        order = np.argsort(keys, kind="stable")  # merges the runs, which are sorted already
        keys, counts = keys[order], counts[order]
        starts = np.flatnonzero(np.concatenate([[True], np.diff(keys) != 0])) if keys.size else np.empty(0, np.int64)
        self._keys = keys[starts]
        self._counts = np.add.reduceat(counts, starts) if starts.size else counts
        self._pending, self._pending_size = [], 0

    def result(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All distinct keys in increasing order, and their sums."""
        self._compact()
        return self._keys, self._counts
