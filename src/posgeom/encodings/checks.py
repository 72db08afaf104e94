"""Checks of what schemes are given: each refuses in one line that says what was got and what was expected."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posgeom.arrays import as_numpy
from posgeom.errors import EncodingError
from posgeom.messages import printable

MAX_N_DIMS = 1 << 16
MAX_HEADS = 1 << 16


def check_n_positions(name: str, n_positions: Any) -> None:
    """Refuse a context length without any distance, and what is no number."""
    if isinstance(n_positions, bool) or not isinstance(n_positions, Integral):
        raise EncodingError(
            f"encoding {name}: got {type(n_positions).__name__} for n_positions, expected a whole number"
        )
    if n_positions < 2:
        raise EncodingError(f"encoding {name}: n = {n_positions}, expected at least 2 positions")


def check_width(n_dims: int) -> None:
    """Refuse a width that no encoding has."""
    if not 1 <= n_dims <= MAX_N_DIMS:
        raise EncodingError(f"d = {n_dims}: expected 1 to {MAX_N_DIMS:,} dimensions")


def check_size(option: str, value: int) -> None:
    """Refuse a width inside a scheme that no model has; `option` is as in ``"fire hidden"``."""
    if not 1 <= value <= MAX_N_DIMS:
        raise EncodingError(f"{option} {value}: expected 1 to {MAX_N_DIMS:,}")


def check_heads(name: str, n_heads: int) -> None:
    """Refuse a number of heads that no model has."""
    if not 1 <= n_heads <= MAX_HEADS:
        raise EncodingError(f"{name} heads {n_heads}: expected 1 to {MAX_HEADS:,}")


def check_head(name: str, head: int | None, n_heads: int) -> None:
    """Refuse a head that is not there; None stands for all of them."""
    if head is not None and not 0 <= head < n_heads:
        raise EncodingError(f"{name} head {head}: expected 0 to {n_heads - 1}")


def of_head(name: str, values: NDArray[np.float64], head: int | None, axis: int = 0) -> NDArray[np.float64]:
    """The part of one head, which must be there, of what has an axis of heads; all of it where none is named."""
    check_head(name, head, values.shape[axis])
    return values if head is None else values.take([head], axis)


def check_base(base: float) -> None:
    """Refuse a base whose frequencies double precision cannot hold."""
    if not 1e-100 <= base <= 1e100:
        raise EncodingError(f"base {base:g}: expected a positive number, from 1e-100 to 1e100")


def check_offset(offset: int) -> None:
    """Refuse an offset at which neighbouring positions could not be told apart."""
    if abs(offset) > 2**40:
        raise EncodingError(f"offset {offset}: expected at most 2^40 in magnitude")


def check_choice(option: str, value: object, choices: Iterable[str]) -> None:
    """Refuse a value that is none of the choices; `option` is as in ``"rope pairing"``."""
    names = list(choices)
    if value not in names:
        raise EncodingError(f"{option} {printable(repr(value))}: expected {' or '.join(names)}")


def check_positive(option: str, value: float) -> None:
    """Refuse what is not a positive number whose square double precision holds."""
    if not 1e-90 <= value <= 1e90:
        raise EncodingError(f"{option} {value:g}: expected a positive number, from 1e-90 to 1e90")


def as_matrix(name: str, points: ArrayLike) -> NDArray[Any]:
    """Vectors of positions as a matrix of real numbers, of whatever type they are stored in."""
    matrix = as_numbers(f"encoding {name}", points)
    while matrix.ndim > 2 and matrix.shape[0] == 1:  # one batch of rows, as models of images keep them
        matrix = matrix[0]
    if matrix.ndim != 2 or matrix.shape[1] < 1:
        way_out = "; of one number a position, values[:, None]" if matrix.ndim == 1 else ""
        raise EncodingError(f"encoding {name} has shape {matrix.shape}: expected (positions, dimensions){way_out}")
    return matrix


def as_numbers(what: str, values: ArrayLike) -> NDArray[Any]:
    """An array of real numbers, of whatever type they are stored in."""
    try:
        array = as_numpy(values)
    except ValueError as error:
        ragged = "inhomogeneous" in str(error)
        why = "has rows of different lengths: expected a matrix" if ragged else f"cannot be used: {error}"
        raise EncodingError(f"{what} {why}") from None
    if not np.issubdtype(array.dtype, np.number) or np.iscomplexobj(array):
        raise EncodingError(f"{what} holds {array.dtype} values: expected real numbers")
    return array


def as_parameters(what: str, values: ArrayLike, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
    """Learned parameters in float64: finite, and of a shape in which None stands for any length from 1."""
    array = as_numbers(what, values).astype(np.float64)
    fits = array.ndim == len(shape) and all(
        got == wanted if wanted is not None else got > 0 for got, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits:
        text = ", ".join("any" if length is None else str(length) for length in shape)
        raise EncodingError(f"{what} has shape {array.shape}: expected ({text})")
    if not np.isfinite(array).all():
        raise EncodingError(f"{what} holds a number that is not finite")
    return array
