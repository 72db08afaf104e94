"""Positions on a grid: of an image or a volume, row by row."""

from math import prod

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import EncodingError

MAX_CELLS = 1 << 40


def check_grid(scheme: str, axes: tuple[int, ...], n_positions: int) -> None:
    """Refuse a grid that cannot hold the positions."""
    text = f"{scheme} grid {'x'.join(map(str, axes))}"
    if len(axes) not in (2, 3) or min(axes) < 1:
        raise EncodingError(f"{text}: expected two or three sizes from 1")
    cells = prod(axes)
    if cells < n_positions:
        raise EncodingError(f"{text} has fewer cells than n = {n_positions} positions")
    if cells > MAX_CELLS:
        raise EncodingError(f"{text} has {cells:,} cells: expected at most {MAX_CELLS:,}")


def grid_places(positions: NDArray[np.int64], axes: tuple[int, ...]) -> NDArray[np.int64]:
    """Coordinates of positions, shape (n, axes), the last axis running fastest."""
    return np.stack(np.unravel_index(positions, axes), axis=1)
