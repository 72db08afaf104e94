"""Minimum separation: the two positions that an encoding tells apart least."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import GeometryError


@dataclass(frozen=True, slots=True)
class Separation:
    """The smallest distance between two positions.

    Attributes
    ----------
    distance : float
    pair : tuple of int
        The positions that attain it, the first such pair in reading order.
    """

    distance: float
    pair: tuple[int, int]


def minimum_separation(distances: NDArray[np.float64], positions: NDArray[np.int64]) -> Separation:
    """Min |p_i - p_j| over i < j, and the pair that attains it (Theorem 4 of the paper).

    Parameters
    ----------
    distances : ndarray of float, shape (m, m)
    positions : ndarray of int, shape (m,)
        At least 2.

    Returns
    -------
    Separation

    Raises
    ------
    GeometryError
        When there are fewer than two positions.
    """
    if positions.size < 2:
        raise GeometryError(f"{positions.size} positions have no separation: expected at least 2")
    upper = np.where(np.tri(positions.size, dtype=bool), np.inf, distances)
    i, j = np.unravel_index(int(upper.argmin()), upper.shape)
    return Separation(float(upper[i, j]), (int(positions[i]), int(positions[j])))
