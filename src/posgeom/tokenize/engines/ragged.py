"""Rows of unequal length, held end to end."""

import numpy as np
from numpy.typing import NDArray

from posgeom.tokenize.engines.base import Ragged


def places_in_rows(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """0-based place of each value in its row, shape (sum of lengths,)."""
    starts = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum()), dtype=np.int64) - np.repeat(starts, lengths)


def clip_rows(rows: Ragged, n: int) -> Ragged:
    """The first `n` values of each row."""
    lengths, values = rows
    if not lengths.size or int(lengths.max()) <= n:
        return rows
    return np.minimum(lengths, n), values[places_in_rows(lengths) < n]


def assemble(n_rows: int, parts: list[tuple[NDArray[np.int64], Ragged]]) -> Ragged:
    """Put rows that were computed in parts in their places; a part has the numbers of some rows, and these."""
    lengths = np.zeros(n_rows, np.int64)
    for numbers, (part, _) in parts:
        lengths[numbers] = part
    starts = np.cumsum(lengths) - lengths
    values = np.empty(int(lengths.sum()), np.int64)
    for numbers, (part, part_values) in parts:
        values[np.repeat(starts[numbers], part) + places_in_rows(part)] = part_values
    return lengths, values
