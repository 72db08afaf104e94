"""The contract of a positional encoding: it yields distances between positions, and coordinates where it has any."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posgeom.encodings.bias import Bias
from posgeom.encodings.checks import as_matrix, check_n_positions
from posgeom.encodings.lags import lag_span, spread_lags
from posgeom.encodings.rotation import Rotation
from posgeom.errors import EncodingError
from posgeom.estimation.build import Geometry
from posgeom.estimation.distance_matrix import DistanceMatrix, check_matrix_fits
from posgeom.estimation.euclidean import euclidean_distances

SMALLEST, LARGEST = 1e-100, 1e100
"""Magnitudes whose squares, and sums of squares, double precision holds."""


class Encoding(ABC):
    """A positional encoding over the positions 0 to n - 1.

    Parameters
    ----------
    name : str
        As shown in tables; a spec such as ``"rope:reference=gaussian"`` where it came from one.
    n_positions : int
        Positions n that it is defined for.
    n_dims : int or None
        Width d; None for a scheme that has distances only.

    Attributes
    ----------
    bias : Bias or None
        What the scheme adds to attention logits, where it is a bias.
    rotation : Rotation or None
        What it does to queries and keys, where it is rotary.
    refit : callable or None
        How to build it again from another geometry, where it is fitted to one: scores against the same corpus then fit
        it on one half of that and score it on the other.
    fitted_to : Geometry, DistanceMatrix or None
        What it is fitted to.
    scheme : str or None
        Name it was built by, and `options` all its options, where `build_encoding` built it.
    factors : mapping of str to ndarray
        ``coordinates``, (n, r), and ``axes``, (d, r), whose product is the table, where it has such factors.
    fit : mapping
        How `posgeom.fit_encoding` fitted it, JSON-serialisable; a table read from a file has it too.
    """

    bias: Bias | None = None
    rotation: Rotation | None = None
    refit: "Callable[[Geometry], Encoding] | None" = None
    fitted_to: Geometry | DistanceMatrix | None = None
    scheme: str | None = None
    options: Mapping[str, Any] = MappingProxyType({})
    factors: Mapping[str, NDArray[np.float64]] = MappingProxyType({})
    fit: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, name: str, n_positions: int, n_dims: int | None) -> None:
        check_n_positions(name, n_positions)
        self.name = name
        self.n_positions = n_positions
        self.n_dims = n_dims

    def is_fitted_to(self, geometry: Geometry) -> bool:
        """Whether it is fitted to the corpus of a geometry, so that scores against that must fit it anew.

        Parameters
        ----------
        geometry : Geometry

        Returns
        -------
        bool
        """
        return self.refit is not None and (self.fitted_to is None or geometry.has_corpus_of(self.fitted_to))

    @abstractmethod
    def distances(self, positions: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Distances between positions.

        Parameters
        ----------
        positions : ndarray of int, shape (m,), optional
            All n by default.

        Returns
        -------
        ndarray of float, shape (m, m)
        """

    def coordinates(self, positions: NDArray[np.int64] | None = None) -> NDArray[np.float64] | None:  # noqa: ARG002
        """Vectors p_i of the positions, shape (m, d), or None for a scheme that has distances only."""
        return None

    def points(self, positions: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Vectors whose Euclidean distances are `distances`, in any basis: what scores may use, shape (m, d)."""
        return self.coordinates(positions)

    def lag_distances(self) -> NDArray[np.float64] | None:
        """Distance as a function of the lag |i - j| = 0 .. n - 1, shape (n,), or None where it is not one."""
        return None

    @property
    def negative_mass(self) -> float | None:
        """Share of a bias's spectrum that no distances can have and that was left out; None where there is none."""
        return None

    def __repr__(self) -> str:
        return f"<Encoding {self.name}: n = {self.n_positions}, d = {self.n_dims}>"

    def _check(self, positions: NDArray[np.int64] | None) -> NDArray[np.int64]:
        if positions is None:
            return np.arange(self.n_positions)
        chosen = np.asarray(positions, np.int64)
        outside = chosen[(chosen < 0) | (chosen >= self.n_positions)]
        if outside.size:
            raise EncodingError(
                f"encoding {self.name} has positions 0 to {self.n_positions - 1}, asked for {int(outside[0])}"
            )
        return chosen


def check_magnitudes(encoding: Encoding, distances: NDArray[np.float64]) -> None:
    """Refuse distances whose squares, and sums of squares, double precision does not hold."""
    largest = float(distances.max(initial=0))
    if not np.isfinite(distances).all() or (largest and not SMALLEST <= largest <= LARGEST):
        raise EncodingError(
            f"encoding {encoding.name} has distances of {largest:g}: expected finite ones, from {SMALLEST:g} to "
            f"{LARGEST:g}; rescale it"
        )


class PointEncoding(Encoding):
    """An encoding given by one vector per position.

    Parameters
    ----------
    name : str
    points : array_like, shape (n, d)
    positions : ndarray of int, shape (n,), optional
        Positions that the rows stand for, where they are not 0 to n - 1.
    n_positions : int, optional
        Context length, where it is not the number of rows.
    """

    def __init__(
        self,
        name: str,
        points: ArrayLike,
        positions: NDArray[np.int64] | None = None,
        n_positions: int | None = None,
    ) -> None:
        matrix = as_matrix(name, points)
        self._points = matrix.astype(np.float64)
        if not np.isfinite(self._points).all():
            row, column = np.argwhere(~np.isfinite(self._points))[0]
            raise EncodingError(
                f"encoding {name} holds {self._points[row, column]} at row {row}, column {column}: expected finite "
                "numbers"
            )
        largest = float(np.abs(self._points).max(initial=0))
        if largest and not SMALLEST <= largest <= LARGEST:
            raise EncodingError(
                f"encoding {name} has entries of magnitude {largest:g}: expected {SMALLEST:g} to {LARGEST:g}, so that "
                "squares can be summed; rescale it"
            )
        super().__init__(name, matrix.shape[0] if n_positions is None else n_positions, matrix.shape[1])
        labels = np.arange(matrix.shape[0]) if positions is None else np.asarray(positions, np.int64)
        if labels.shape != matrix.shape[:1] or not ((labels >= 0) & (labels < self.n_positions)).all():
            raise EncodingError(
                f"encoding {name} has {matrix.shape[0]} rows: expected one position from 0 to {self.n_positions - 1} "
                "for each"
            )
        self._rows = np.full(self.n_positions, -1)
        self._rows[labels] = np.arange(matrix.shape[0])

    def coordinates(self, positions: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Vectors p_i of the positions, shape (m, d)."""
        chosen = self._check(positions)
        rows = self._rows[chosen]
        if (rows < 0).any():
            raise EncodingError(
                f"encoding {self.name} has no vector for position {int(chosen[rows < 0][0])}; mds fills such positions "
                "in with missing=linear or missing=cubic"
            )
        return np.asarray(self._points[rows])

    def distances(self, positions: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Euclidean distances between the vectors, shape (m, m)."""
        return euclidean_distances(self.coordinates(positions))


class FunctionEncoding(Encoding):
    """An encoding given by a function from positions, shape (m,), to vectors, (m, d), where it is asked for."""

    def __init__(
        self,
        name: str,
        n_positions: int,
        n_dims: int,
        coordinates: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    ) -> None:
        super().__init__(name, n_positions, n_dims)
        self._coordinates = coordinates

    def coordinates(self, positions: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Vectors p_i of the positions, shape (m, d)."""
        return self._coordinates(self._check(positions))

    def distances(self, positions: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Euclidean distances between the vectors, shape (m, m)."""
        return euclidean_distances(self.coordinates(positions))


class LagEncoding(Encoding):
    """An encoding whose distance depends on the lag alone, so that nothing of size n x d is needed for scores.

    Parameters
    ----------
    name : str
    n_positions : int
        Context length n.
    n_dims : int or None
        Width d; None without coordinates.
    lag_distances : callable
        From lags, shape (k,), to distances, shape (k,).
    coordinates : callable, optional
        From positions, shape (m,), to vectors, shape (m, d).
    """

    def __init__(
        self,
        name: str,
        n_positions: int,
        n_dims: int | None,
        lag_distances: Callable[[NDArray[np.int64]], NDArray[np.float64]],
        coordinates: Callable[[NDArray[np.int64]], NDArray[np.float64]] | None = None,
    ) -> None:
        super().__init__(name, n_positions, n_dims)
        self._lag_distances = lag_distances
        self._coordinates = coordinates

    def lag_distances(self) -> NDArray[np.float64] | None:
        """Distance at lag 0 to n - 1, shape (n,)."""
        return self._lag_distances(np.arange(self.n_positions))

    def distances(self, positions: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Distances between positions, looked up by lag, shape (m, m)."""
        chosen = self._check(positions)
        check_matrix_fits(chosen.size)
        return spread_lags(self._lag_distances(np.arange(lag_span(chosen) + 1)), chosen)

    def coordinates(self, positions: NDArray[np.int64] | None = None) -> NDArray[np.float64] | None:
        """Vectors p_i of the positions, shape (m, d), or None."""
        return None if self._coordinates is None else self._coordinates(self._check(positions))
