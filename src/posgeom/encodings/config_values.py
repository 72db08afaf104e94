"""Typed look-ups in a Hugging Face config: what is missing or of another kind is told in one line."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from posgeom.errors import EncodingError
from posgeom.messages import one_line, shown


def load_config(path: Path) -> Any:
    """The content of a ``config.json``."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise EncodingError(f"cannot read {shown(path)}: {error.strerror or one_line(error)}") from None
    except (ValueError, RecursionError) as error:
        raise EncodingError(f"{shown(path)} is no config.json: {one_line(error)}") from None


def first(*candidates: Any) -> Any:
    """The first candidate that is not None, or None."""
    return next((value for value in candidates if value is not None), None)


def number(value: Any, key: str) -> float:
    """A value that must be a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise EncodingError(f"config has {key} = {shown(value)}: expected a number")
    return float(value)


def whole(value: Any, key: str) -> int:
    """A value that must be a whole number from 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise EncodingError(f"config has {key} = {shown(value)}: expected a whole number from 1")
    return value


@dataclass(frozen=True)
class RotaryValues:
    """Rotary parameters, and the config around them."""

    parameters: Mapping[str, Any]
    config: Mapping[str, Any]
    kind: str
    """The ``rope_type``, for messages."""

    def need(self, key: str) -> float:
        """A number that the kind cannot do without."""
        value = self.parameters.get(key)
        if value is None:
            raise EncodingError(f"config has rope_type {self.kind} without {key}")
        return number(value, key)

    def number(self, key: str) -> float | None:
        """A number, or None."""
        value = self.parameters.get(key)
        return None if value is None else number(value, key)

    def numbers(self, key: str) -> tuple[float, ...]:
        """A list of numbers that the kind cannot do without."""
        value = self.parameters.get(key)
        if not isinstance(value, list | tuple):
            raise EncodingError(
                f"config has rope_type {self.kind} and {key} = {shown(value, 60)}: expected a list of numbers"
            )
        return tuple(number(entry, key) for entry in value)

    def original_length(self) -> int:
        """The pretraining length: at the top level, in the parameters, else the whole context."""
        key = "original_max_position_embeddings"
        value = first(self.config.get(key), self.parameters.get(key))
        return self.max_length() if value is None else whole(value, key)

    def max_length(self) -> int:
        """The whole context."""
        value = first(self.config.get("max_position_embeddings"), self.config.get("n_positions"))
        if value is None:
            raise EncodingError(f"config has rope_type {self.kind} without max_position_embeddings")
        return whole(value, "max_position_embeddings")

    def factor(self) -> float:
        """The factor, or the ratio of the whole context to the pretraining length."""
        value = self.number("factor")
        return self.max_length() / self.original_length() if value is None else value
