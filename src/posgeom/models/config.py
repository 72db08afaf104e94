"""Typed look-ups in a model's config: what is missing or of another kind is told in one line."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from posgeom.errors import CheckpointError, EncodingError
from posgeom.messages import shown


@contextmanager
def errors_name(model: str) -> Iterator[None]:
    """Say which model's config it is that an encoding cannot be built from."""
    try:
        yield
    except EncodingError as error:
        raise CheckpointError(f"{shown(model)}: {error}") from None


@dataclass(frozen=True)
class ModelConfig:
    """The content of a ``config.json``, or a part of it.

    Attributes
    ----------
    values : mapping
    source : str
        The model's name, for messages.
    """

    values: Mapping[str, Any]
    source: str

    def get(self, *keys: str) -> Any:
        """The first value that is there and not null, or None."""
        return next((self.values[key] for key in keys if self.values.get(key) is not None), None)

    def whole(self, *keys: str, default: int | None = None, least: int = 1) -> int:
        """A whole number."""
        key, value = self._value(keys, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**31:
            raise CheckpointError(
                f"config of {shown(self.source)} has {key} = {shown(value, 60)}: expected a whole number from {least}"
            )
        return value

    def number(self, *keys: str, default: float | None = None) -> float:
        """A number from 0; as `whole`."""
        key, value = self._value(keys, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e100:
            raise CheckpointError(
                f"config of {shown(self.source)} has {key} = {shown(value, 60)}: expected a number from 0"
            )
        return float(value)

    def part(self, key: str) -> "ModelConfig":
        """A config inside this one, such as ``text_config``; this one itself where there is none."""
        value = self.values.get(key)
        return ModelConfig(value, self.source) if isinstance(value, Mapping) else self

    def head_dim(self, width: int, n_heads: int) -> int:
        """Width of a head: as given, or the model's divided by the heads."""
        if self.get("head_dim") is not None:
            return self.whole("head_dim")
        if width % n_heads:
            raise CheckpointError(
                f"config of {shown(self.source)} has width {width} and {n_heads} heads, which do not divide it"
            )
        return width // n_heads

    def _value(self, keys: tuple[str, ...], default: float | None) -> tuple[str, Any]:
        """The first of some keys that is there and not null, with its value; the first of all with the default."""
        key = next((key for key in keys if self.values.get(key) is not None), keys[0])
        value = self.values.get(key)
        if value is None and default is None:
            raise CheckpointError(
                f"config of {shown(self.source)} has no {' or '.join(keys)}, which its model_type needs"
            )
        return key, default if value is None else value
