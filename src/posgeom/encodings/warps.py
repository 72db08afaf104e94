"""Warps: where positions lie on the axis that a scheme places them on, f(i) in place of i."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posgeom.encodings.checks import as_parameters, check_offset, check_positive
from posgeom.encodings.tables import read_table
from posgeom.errors import EncodingError

if TYPE_CHECKING:
    from posgeom.estimation.build import Geometry
    from posgeom.estimation.distance_matrix import DistanceMatrix

Values = NDArray[np.float64]
EXPECTED = "log:C, power:A, reciprocal:C (each :ORIGIN), table:FILE, corpus or corpus:FAMILY"
SHAPES = ("monotone", "smooth")
"""What can be fitted without a formula: any warp that never falls, with steps, and a curve through their centres."""


class Warp(ABC):
    """A monotone function f of the position: a scheme that takes it has position i at f(i - origin).

    Attributes
    ----------
    name : str
        Of the family.
    parameter : float or None
        None where it is a table.
    origin : int
        Position that t = i - origin is counted from.
    refit : callable or None
        How to fit it again to another geometry, where it is fitted to one.
    fitted_to : Geometry or None
    """

    name: ClassVar[str]
    origin: int = 0
    parameter: float | None = None
    refit: Callable[[Geometry], Warp] | None = None
    fitted_to: Geometry | DistanceMatrix | None = None

    @property
    def is_bernstein(self) -> bool:
        """Whether it is known to be a Bernstein function, under which a conditionally positive bias stays one."""
        return False

    @abstractmethod
    def apply(self, t: ArrayLike) -> Values:
        """f(t), of the same shape; f(-t) = -f(t), so that it is monotone on both sides of the origin.

        Parameters
        ----------
        t : array_like
            Positions from the origin, or lags.

        Returns
        -------
        ndarray of float
        """

    def at(self, positions: ArrayLike) -> Values:
        """f(i - origin) of positions, of the same shape.

        Parameters
        ----------
        positions : array_like
            Whole or fractional numbers.

        Returns
        -------
        ndarray of float
        """
        return self.apply(np.asarray(positions, np.float64) - self.origin)


@dataclass(frozen=True)
class FamilyWarp(Warp):
    """A warp with one parameter; each concrete one is a family, by name in `FAMILIES`."""

    parameter: float
    origin: int = 0
    refit: Callable[[Geometry], Warp] | None = None
    fitted_to: Geometry | DistanceMatrix | None = None

    def __post_init__(self) -> None:
        check_positive(f"warp {self.name}, parameter", self.parameter)
        check_offset(self.origin)

    def __str__(self) -> str:
        return f"{self.name}:{self.parameter:.12g}" + (f":{self.origin}" if self.origin else "")

    def apply(self, t: ArrayLike) -> Values:  # noqa: D102
        values = np.asarray(t, np.float64)
        return np.asarray(np.sign(values) * self._positive(np.abs(values)))

    @property
    def is_bernstein(self) -> bool:
        """Of all families but the power above 1, which says so itself."""
        return True

    @abstractmethod
    def _positive(self, t: Values) -> Values:
        """f(t) for t from 0."""


class LogWarp(FamilyWarp):
    """f(t) = log(1 + t / c): as far from each other as octaves are; the larger c, the later it bends."""

    name = "log"

    def _positive(self, t: Values) -> Values:
        return np.log1p(t / self.parameter)


class PowerWarp(FamilyWarp):
    """f(t) = t^a: 1 is no warp, below 1 it compresses far positions, above 1 near ones."""

    name = "power"

    @property
    def is_bernstein(self) -> bool:
        """Up to the exponent 1."""
        return self.parameter <= 1

    def _positive(self, t: Values) -> Values:
        return np.asarray(t**self.parameter)


class ReciprocalWarp(FamilyWarp):
    """f(t) = t / (c + t) = 1 - 1 / (1 + t / c): all far positions are near 1; half of the way is done at t = c."""

    name = "reciprocal"

    def _positive(self, t: Values) -> Values:
        return np.asarray(t / (self.parameter + t))


FAMILIES: Mapping[str, type[FamilyWarp]] = MappingProxyType(
    {family.name: family for family in (LogWarp, PowerWarp, ReciprocalWarp)}
)
"""Families of one parameter, by name."""


@dataclass(frozen=True, eq=False)
class TableWarp(Warp):
    """A warp given by its values at some positions, none smaller than the one before; linear between them.

    Parameters
    ----------
    values : ndarray of float, shape (m,)
    positions : ndarray of float, shape (m,), optional
        Increasing, counted from the origin; 0 to m - 1 by default.
    label : str
        What it is called in messages.
    beyond : Warp, optional
        Of the same origin, whose steps it takes before the first and after the last position.
    """

    values: Values
    positions: Values | None = None
    label: str = "table"
    beyond: Warp | None = None
    origin: int = 0
    refit: Callable[[Geometry], Warp] | None = None
    fitted_to: Geometry | DistanceMatrix | None = None
    name: ClassVar[str] = "table"

    def __post_init__(self) -> None:
        values = as_parameters(f"warp {self.label}", np.atleast_1d(np.squeeze(self.values)), (None,))
        places = np.arange(values.size) if self.positions is None else np.asarray(self.positions)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "positions", places.astype(np.float64))
        if places.shape != values.shape or (np.diff(places) <= 0).any():
            raise EncodingError(f"warp {self.label}: expected one value for each of its positions, which increase")
        falls = np.flatnonzero(np.diff(values) < 0)
        if falls.size:
            i = int(falls[0])
            raise EncodingError(
                f"warp {self.label} falls from {values[i]:g} to {values[i + 1]:g} at position {places[i + 1]:g}: "
                "expected values that never fall"
            )

    def __str__(self) -> str:
        return self.label

    def apply(self, t: ArrayLike) -> Values:  # noqa: D102
        places, known = np.asarray(t, np.float64), np.asarray(self.positions)
        nearest = np.clip(places, known[0], known[-1])
        outside = places[places != nearest]
        values = np.asarray(np.interp(places, known, self.values))
        if outside.size and self.beyond is not None:
            values += self.beyond.apply(places) - self.beyond.apply(nearest)
        elif outside.size:
            raise EncodingError(
                f"warp {self.label} is known for positions {known[0]:g} to {known[-1]:g}, asked for "
                f"{outside.flat[0]:g}: a family such as log goes on beyond them"
            )
        return values


@dataclass(frozen=True)
class CorpusWarp(Warp):
    """The warp of a corpus, still to be fitted: `build_encoding` does so with the geometry that it is given."""

    family: str
    name: ClassVar[str] = "corpus"

    def __str__(self) -> str:
        return "corpus" if self.family == SHAPES[0] else f"corpus:{self.family}"

    def apply(self, t: ArrayLike) -> Values:  # noqa: ARG002, D102
        raise EncodingError("warp=corpus is fitted to a corpus geometry: give one to build_encoding, or use fit_warp")


def parse_warp(text: str) -> Warp:
    """The warp of ``log:C``, ``power:A``, ``reciprocal:C``, each with ``:ORIGIN``, ``table:FILE``, or ``corpus``."""
    name, _, rest = text.partition(":")
    if name == "table" and rest:
        return TableWarp(read_table(Path(rest))[1], label=text)
    if name == "corpus" and rest in ("", *SHAPES, *FAMILIES):
        return CorpusWarp(rest or SHAPES[0])
    if name not in FAMILIES:
        raise ValueError(text)
    parameter, _, origin = rest.partition(":")
    return FAMILIES[name](float(parameter), int(origin or 0))
