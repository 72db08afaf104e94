"""Counts by (fold, position, token) as four arrays."""

import numpy as np
from numpy.typing import NDArray

Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Fold, position, token and count of each entry."""


def sum_entries(
    fold: NDArray[np.int64], position: NDArray[np.int64], token: NDArray[np.int64], count: NDArray[np.int64]
) -> Entries:
    """Sort entries by (fold, position, token) and add those that share a key."""
    if not fold.size:
        return fold, position, token, count
    n_positions, n_tokens = int(position.max()) + 1, int(token.max()) + 1
    if (int(fold.max()) + 1) * n_positions * n_tokens < 2**63:
        keys = (fold * n_positions + position) * n_tokens + token
        order = np.argsort(keys, kind="stable")  # merges the runs that are sorted already
    else:
        order = np.lexsort((token, position, fold))
    fold, position, token, count = fold[order], position[order], token[order], count[order]
    new = (np.diff(fold) != 0) | (np.diff(position) != 0) | (np.diff(token) != 0)
    starts = np.concatenate([[0], np.flatnonzero(new) + 1])
    return fold[starts], position[starts], token[starts], np.add.reduceat(count, starts)
