"""A .gguf file: its header and metadata, and its tensors of plain floating point. Quantised ones are refused by name.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import struct
from collections.abc import Callable, Mapping
from functools import partial
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import CheckpointError
from posgeom.messages import shown
from posgeom.models.safetensors_file import TensorEntry, open_local

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_FLOATS = {0: ("F32", "<f4"), 1: ("F16", "<f2"), 28: ("F64", "<f8"), 30: ("BF16", "<u2")}
_QUANTISED = {2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 10: "Q2_K", 11: "Q3_K", 12: "Q4_K", 13: "Q5_K"}
_QUANTISED |= {14: "Q6_K", 15: "Q8_K", 39: "MXFP4"}
_MOST = 1 << 28
"""Entries of an array, and bytes of a string, beyond which a header is taken for damaged."""


class GgufFile:
    """The tensors of a .gguf file, shapes with the slowest axis first, and its metadata without arrays of text."""

    def __init__(self, path: Path, opener: Callable[[], BinaryIO] | None = None) -> None:
        self.path = path
        self.bytes_read = 0
        self._open = opener or partial(open_local, path)
        with self._open() as stream:
            try:
                self.metadata, entries = _read_header(stream)
            except (struct.error, UnicodeDecodeError, KeyError, OverflowError, ValueError) as error:
                raise CheckpointError(
                    f"{shown(path)} is no readable .gguf file: {error or 'it is truncated'}"
                ) from None
        self.entries: Mapping[str, TensorEntry] = MappingProxyType(entries)

    def __repr__(self) -> str:
        return f"<GgufFile {self.path}: {len(self.entries)} tensors>"

    def read(self, name: str, rows: slice = slice(None)) -> NDArray[Any]:
        """Read a tensor, or some rows of it; float16 and bfloat16 become float32."""
        entry = self.entries[name]
        stored = next((np.dtype(code) for kind, code in _FLOATS.values() if kind == entry.dtype), None)
        if stored is None:
            raise CheckpointError(
                f"{shown(self.path)}: tensor {shown(name)} has the quantised type {entry.dtype}, which is not read: "
                "expected F32, F16 or BF16; convert the model without quantisation"
            )
        start, stop, _ = rows.indices(entry.shape[0])
        row_bytes = stored.itemsize * prod(entry.shape[1:])
        with self._open() as stream:
            stream.seek(entry.begin + start * row_bytes)
            content = stream.read(max(stop - start, 0) * row_bytes)
        if len(content) != max(stop - start, 0) * row_bytes:
            raise CheckpointError(f"{shown(self.path)} ends inside tensor {shown(name)}: it is truncated")
        self.bytes_read += len(content)
        array = np.frombuffer(content, stored).reshape(-1, *entry.shape[1:])
        if entry.dtype == "BF16":  # the upper half of a float32
            return (array.astype(np.uint32) << 16).view(np.float32)
        return array.astype(np.float32) if entry.dtype == "F16" else array


def _read_header(stream: BinaryIO) -> tuple[dict[str, Any], dict[str, TensorEntry]]:
    if stream.read(4) != b"GGUF":
        raise ValueError("it does not begin with GGUF")
    version, n_tensors, n_values = _unpack(stream, "IQQ")
    if version not in (2, 3):
        raise ValueError(f"version {version}: expected 2 or 3")
    metadata = {}
    for _ in range(n_values):
        key, kind = _string(stream), _unpack(stream, "I")[0]
        value = _value(stream, kind)
        if value is not None:
            metadata[key] = value
    described = []
    for _ in range(n_tensors):
        name, n_axes = _string(stream), _unpack(stream, "I")[0]
        if not 1 <= n_axes <= 8:
            raise ValueError(f"a tensor of {n_axes} axes")
        axes = _unpack(stream, "Q" * n_axes)
        kind, offset = _unpack(stream, "IQ")
        described.append((name, tuple(reversed(axes)), kind, offset))
    alignment = int(metadata.get("general.alignment", 32))
    start = -(-stream.tell() // alignment) * alignment
    entries = {}
    for name, shape, kind, offset in described:
        dtype, code = _FLOATS.get(kind, (_QUANTISED.get(kind, f"type {kind}"), None))
        size = 0 if code is None else prod(shape) * np.dtype(code).itemsize
        entries[name] = TensorEntry(dtype, shape, start + offset, start + offset + size)
    return metadata, entries


def _unpack(stream: BinaryIO, codes: str) -> tuple[Any, ...]:
    layout = struct.Struct("<" + codes)
    return layout.unpack(stream.read(layout.size))


def _string(stream: BinaryIO) -> str:
    (size,) = _unpack(stream, "Q")
    if size > _MOST:
        raise ValueError(f"a text of {size:,} bytes")
    content = stream.read(size)
    if len(content) != size:
        raise ValueError("it is truncated")
    return content.decode()


def _value(stream: BinaryIO, kind: int) -> Any:
    """A value of the metadata; None for an array of text, which is passed over."""
    if kind == _STRING:
        return _string(stream)
    if kind != _ARRAY:
        return _unpack(stream, _SCALARS[kind])[0]
    of, size = _unpack(stream, "IQ")
    if size > _MOST:
        raise ValueError(f"an array of {size:,} entries")
    if of in _SCALARS:
        return list(_unpack(stream, _SCALARS[of] * size))
    for _ in range(size):
        _value(stream, of)
    return None
