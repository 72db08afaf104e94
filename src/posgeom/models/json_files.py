"""JSON that others wrote: size, depth and repeated keys are checked, and every failure names the file."""

import json
from pathlib import Path
from typing import Any

from posgeom.errors import CheckpointError
from posgeom.messages import one_line, shown

MAX_BYTES = 100_000_000
"""Largest header, index or config; that of the safetensors format."""


LFS_POINTER = b"version https://git-lfs.github.com/spec/"
LFS_ADVICE = "is a pointer of Git LFS in place of the file: run `git lfs pull` where it was cloned"


def parse_object(content: bytes, what: str, array: str | None = None) -> dict[str, Any]:
    """Parse a JSON object; with `array`, a list is taken for an object that holds it under that name."""
    if content.startswith(LFS_POINTER):
        raise CheckpointError(f"{what} {LFS_ADVICE}")
    try:
        value = json.loads(content.decode(), object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{what} is no readable JSON: {one_line(error)}") from None
    if array is not None and isinstance(value, list):
        return {array: value}
    if not isinstance(value, dict):
        raise CheckpointError(f"{what} holds {type(value).__name__}: expected an object")
    return value


def read_object(path: Path, array: str | None = None) -> dict[str, Any]:
    """Read a file that holds a JSON object; see `parse_object`."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise CheckpointError(f"{shown(path)} has {size:,} bytes: expected at most {MAX_BYTES:,}")
        content = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"cannot read {shown(path)}: {error.strerror or one_line(error)}") from None
    return parse_object(content, shown(path), array)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"key {shown(next(key for key in keys if keys.count(key) > 1), 100)} occurs twice")
    return values
