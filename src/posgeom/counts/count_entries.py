"""Counts by (fold, position, token) as four arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import CountsError

CountEntries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Fold, position, token and count of each entry."""


def named_entries(entries: CountEntries) -> dict[str, Any]:
    """Entries by the names of the fields that hold them."""
    return dict(zip(("fold", "position", "token", "count"), entries, strict=True))


def sum_count_entries(
    fold: NDArray[np.int64], position: NDArray[np.int64], token: NDArray[np.int64], count: NDArray[np.int64]
) -> CountEntries:
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


def union_vocabulary(
    parts: Sequence[tuple[tuple[str, ...] | None, NDArray[np.int64]]],
) -> tuple[tuple[str, ...] | None, NDArray[np.int64]]:
    """The sorted union of open vocabularies, and the tokens of all parts end to end, renumbered into it."""
    if parts[0][0] is None:
        return None, np.concatenate([tokens for _, tokens in parts])
    union = tuple(sorted(set().union(*(words or () for words, _ in parts))))
    number = {word: i for i, word in enumerate(union)}
    ids = [np.fromiter((number[w] for w in words or ()), np.int64)[tokens] for words, tokens in parts]
    return union, np.concatenate(ids)


def check_form(*arrays: NDArray[np.int64]) -> None:
    """Refuse arrays that are no entries by their form."""
    if any(a.ndim != 1 or a.dtype != np.int64 for a in arrays) or len({a.size for a in arrays}) != 1:
        raise CountsError("fold, position, token and count must be one-dimensional int64 arrays of one length")


def check_values(
    fold: NDArray[np.int64],
    position: NDArray[np.int64],
    token: NDArray[np.int64],
    count: NDArray[np.int64],
    bounds: tuple[int, int, int],
) -> None:
    """Refuse entries outside the bounds of (fold, position, token), without a count, out of order or repeated."""
    for name, array, bound in zip(("fold", "position", "token"), (fold, position, token), bounds, strict=True):
        if int(array.min()) < 0 or int(array.max()) >= bound:
            raise CountsError(f"{name} {int(array.max())} is out of range: expected 0 to {bound - 1}")
    if int(count.min()) < 1:
        raise CountsError(f"a count is {int(count.min())}: counts are at least 1")
    n_folds, n_positions, n_tokens = bounds
    keys = fold * n_positions
    keys += position
    if n_folds * n_positions * n_tokens < 2**63:
        keys *= n_tokens
        keys += token
        if (keys[1:] > keys[:-1]).all():
            return
    steps = np.diff(fold * n_positions + position)
    within = np.diff(token)[steps == 0]
    if (steps < 0).any() or (within < 0).any():
        raise CountsError("entries are not sorted by (fold, position, token)")
    if (within == 0).any():
        raise CountsError("an entry (fold, position, token) occurs twice")
