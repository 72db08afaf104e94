"""`DistanceMatrix`: validated pairwise distances, labelled by position."""

import os
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posgeom.errors import GeometryError

ASYMMETRY_TOLERANCE = 1e-8
"""Asymmetry up to this share of the largest entry is round-off and is averaged away; beyond it is an error."""
_MATRICES_AT_ONCE = 4
_SQUARED_ROUND_OFF = 1e-13


def physical_memory() -> int:
    """Bytes of memory that this machine has; more than any where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 1 << 62


def check_matrix_fits(n: int, n_matrices: int = 1) -> None:
    """Refuse a dense n x n problem that the machine's memory cannot hold."""
    size = 8 * n * n * n_matrices
    needed = _MATRICES_AT_ONCE * size
    available = physical_memory()
    if needed > available:
        what = "one distance matrix" if n_matrices == 1 else f"{n_matrices} matrices of pairs"
        raise GeometryError(
            f"{n:,} positions need {size / 1e9:,.1f} GB for {what} and {needed / 1e9:,.1f} GB to work on it, "
            f"this machine has {available / 1e9:,.1f} GB: use a smaller -n, or `posgeom axes --score NAME` "
            "(posgeom.leading_axes, posgeom.sampled_scores), which makes no such matrix"
        )


def clipped_roots(squared: NDArray[np.float64]) -> NDArray[np.float64]:
    """Roots of squared distances, 0 for those that are negative, or zero to round-off, which a root would magnify."""
    largest = float(np.abs(squared).max(initial=0))
    return np.sqrt(np.where(squared > _SQUARED_ROUND_OFF * largest, squared, 0))


def upper_pairs(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entries of the pairs i < j of a square matrix, row by row, shape (m (m - 1) / 2,).

    Copied row by row: index arrays for all pairs would be several times the size of the result.
    """
    m = matrix.shape[0]
    out = np.empty(m * (m - 1) // 2)
    start = 0
    for i, row in enumerate(matrix):
        out[start : start + m - 1 - i] = row[i + 1 :]
        start += m - 1 - i
    return out


@dataclass(frozen=True, eq=False)
class DistanceMatrix:
    """Pairwise distances between sequence positions.

    Attributes
    ----------
    values : ndarray of float, shape (m, m)
        Distances: finite, non-negative, exactly symmetric, zero on the diagonal.
    positions : ndarray of int, shape (m,)
        0-based sequence position of each row, increasing.
    metric : str
        Such as ``"hellinger"``.
    estimator : str
        ``"plugin"``, ``"crossval"`` or ``"given"``.
    depth : ndarray of int or None, shape (m,)
        Sequences that each row rests on.
    squared : ndarray of float, shape (m, m)
        Squared distances as estimated; by default the squares of `values`. An unbiased estimate may be
        negative, and stays so here; in `values` it is 0.
    """

    values: NDArray[np.float64]
    positions: NDArray[np.int64]
    metric: str
    estimator: str
    depth: NDArray[np.int64] | None = None
    squared: NDArray[np.float64] = field(default_factory=lambda: np.empty(0), repr=False)

    def __post_init__(self) -> None:
        values = _symmetric(self.values, "distance matrix")
        if (values < 0).any():
            raise GeometryError(f"a distance is negative ({values.min():g}): expected 0 or more")
        squared = values**2 if not self.squared.size else _symmetric(self.squared, "squared distances")
        positions = np.asarray(self.positions, np.int64)
        if positions.shape != values.shape[:1] or (np.diff(positions) <= 0).any():
            raise GeometryError(f"positions must be {values.shape[0]} increasing numbers, one per row of the matrix")
        arrays = {"values": values, "squared": squared, "positions": positions}
        for name, array in arrays.items():
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def from_squared(
        cls,
        squared: ArrayLike,
        positions: NDArray[np.int64],
        metric: str,
        estimator: str,
        depth: NDArray[np.int64] | None = None,
    ) -> "DistanceMatrix":
        """Build from squared distances, which may be negative where the estimator is unbiased.

        Parameters
        ----------
        squared : array_like, shape (m, m)
        positions, metric, estimator, depth
            As the attributes.

        Returns
        -------
        DistanceMatrix
        """
        array = np.asarray(squared, np.float64)
        return cls(clipped_roots(array), positions, metric, estimator, depth, array)

    def __repr__(self) -> str:
        return f"<DistanceMatrix: {self.metric}, {self.estimator}, {len(self):,} positions>"

    def __len__(self) -> int:
        return int(self.positions.size)

    @property
    def pairs(self) -> NDArray[np.float64]:
        """Distances of the pairs i < j, row by row, shape (m (m - 1) / 2,)."""
        return upper_pairs(self.values)

    @property
    def mean_squared(self) -> float:
        """Mean estimated squared distance over the pairs i < j, negative estimates included."""
        return float(upper_pairs(self.squared).mean())

    @property
    def negative_share(self) -> float:
        """Share of the pairs i < j whose estimated squared distance is below zero."""
        return float((upper_pairs(self.squared) < 0).mean())


def _symmetric(matrix: ArrayLike, what: str) -> NDArray[np.float64]:
    """A validated, exactly symmetric float64 copy."""
    try:
        array = np.array(matrix, np.float64)
    except (TypeError, ValueError):
        raise GeometryError(f"got {type(matrix).__name__} for {what}: expected a matrix of numbers") from None
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise GeometryError(f"{what} has shape {array.shape}: expected a square matrix")
    if array.shape[0] < 2:
        raise GeometryError(f"{what} has {array.shape[0]} positions: expected at least 2")
    if not np.isfinite(array).all():
        i, j = np.argwhere(~np.isfinite(array))[0]
        raise GeometryError(f"{what} holds {array[i, j]} at ({i}, {j}): expected finite numbers")
    largest = float(np.abs(array).max())
    gap = np.abs(array - array.T)
    if float(gap.max()) > ASYMMETRY_TOLERANCE * largest:
        i, j = np.unravel_index(int(gap.argmax()), gap.shape)
        raise GeometryError(
            f"{what} is not symmetric: {array[i, j]:g} at ({i}, {j}) and {array[j, i]:g} at ({j}, {i}); a "
            "triangular matrix must be completed first"
        )
    if float(np.abs(np.diagonal(array)).max()) > ASYMMETRY_TOLERANCE * largest:
        raise GeometryError(f"{what} has a non-zero diagonal: a position's distance to itself is 0")
    array = (array + array.T) / 2
    np.fill_diagonal(array, 0)
    return array
