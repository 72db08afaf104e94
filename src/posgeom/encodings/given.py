"""Encodings as they are handed over: one, several, or by name; each an `Encoding`, or the rows of one as an array."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from numpy.typing import ArrayLike

from posgeom.arrays import is_array
from posgeom.encodings.base import Encoding, PointEncoding
from posgeom.encodings.learned import learned
from posgeom.errors import EncodingError
from posgeom.messages import printable, shown

Encodings = Encoding | ArrayLike | Sequence[Encoding | ArrayLike] | Mapping[str, Encoding | ArrayLike]
_EXPECTED = "a list of encodings, arrays or tensors with one row per position, or a dict of these by name"


def as_encoding(given: Encoding | ArrayLike) -> Encoding:
    """An encoding, or one with the rows of an array."""
    return given if isinstance(given, Encoding) else PointEncoding("given", given)


def as_encodings(given: object) -> list[Encoding]:
    """Encodings under names that differ: their own, those they were given by, or their places in the list."""
    encodings = []
    for place, (name, item) in enumerate(items_of(given)):
        if isinstance(item, Encoding):
            encodings.append(item if name is None else renamed(item, name))
        elif is_array(item):
            encodings.append(learned(item, name=name or f"encodings[{place}]"))
        else:
            way_out = "; make an encoding of a spec with build_encoding" if isinstance(item, str) else ""
            raise EncodingError(f"got {type(item).__name__} among encodings: expected {_EXPECTED}{way_out}")
    return encodings


def items_of(given: object) -> list[tuple[str | None, Any]]:
    """Each of the encodings that were given, not yet checked, with its name where it has one."""
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str) or not name:
                raise EncodingError(f"encodings: got {shown(repr(name), 60)} for a name, expected a string")
        return [(printable(name), item) for name, item in given.items()]
    if isinstance(given, Encoding) or is_array(given):
        return [(None, given)]
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        raise EncodingError(f"got {type(given).__name__} for encodings: expected {_EXPECTED}")
    return [(None, item) for item in given]


def renamed(encoding: Encoding, name: str) -> Encoding:
    """The same encoding under another name; the one that was given keeps its own."""
    other = copy(encoding)
    other.name = name
    return other
