"""The shape that a stored JSON document must have before charts are made of it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from posgeom.errors import RunError
from posgeom.messages import printable, shown

NUMBER = (int, float)
MAYBE_NUMBER = (int, float, type(None))
_NAMES: Mapping[Any, str] = MappingProxyType(
    {str: "a text", int: "a whole number", bool: "true or false", NUMBER: "a number", MAYBE_NUMBER: "a number or null"}
)


class Optional:
    """A value that may be absent or null."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape


class Values:
    """An object with any keys, whose values have one shape."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape


def check(value: Any, shape: Any, where: str) -> None:
    """Refuse a document that has not the wanted shape."""
    if isinstance(shape, Optional):
        if value is not None:
            check(value, shape.shape, where)
    elif isinstance(shape, list):
        _need(isinstance(value, list), "a list", value, where)
        for number, item in enumerate(value):
            check(item, shape[0], f"{where}[{number}]")
    elif isinstance(shape, Values):
        _need(isinstance(value, dict), "an object", value, where)
        for key, item in value.items():
            check(item, shape.shape, f"{where}.{printable(key)}")
    elif isinstance(shape, dict):
        _need(isinstance(value, dict), "an object", value, where)
        for key, part in shape.items():
            if key not in value and not isinstance(part, Optional):
                raise RunError(f"{where} has no {key}: expected a file that posgeom wrote")
            check(value.get(key), part, f"{where}.{key}")
    else:
        fits = isinstance(value, shape) and not (isinstance(value, bool) and shape is not bool)
        _need(fits, _NAMES[shape], value, where)


def _need(fits: bool, expected: str, value: Any, where: str) -> None:
    if not fits:
        raise RunError(f"{where} is {shown(value, 40)}: expected {expected}")
