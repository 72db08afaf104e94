"""A .safetensors file: its header checked before anything is allocated, its tensors read by rows, without torch.

The library that defines the format returns whole tensors and has no bfloat16 outside torch; a look at a few rows of a
large checkpoint needs both. Format: https://github.com/huggingface/safetensors#format
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import CheckpointError
from posgeom.messages import one_line, shown
from posgeom.models.json_files import LFS_ADVICE, LFS_POINTER, MAX_BYTES, parse_object

_STORED = MappingProxyType(
    {
        "F64": "<f8",
        "F32": "<f4",
        "F16": "<f2",
        "BF16": "<u2",
        "I64": "<i8",
        "I32": "<i4",
        "I16": "<i2",
        "I8": "<i1",
        "U64": "<u8",
        "U32": "<u4",
        "U16": "<u2",
        "U8": "<u1",
        "BOOL": "<u1",
    }
)
_OTHER_BITS = MappingProxyType({"F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F6_E2M3": 6, "F6_E3M2": 6, "F4": 4})
"""Types that a file may hold and that are not read."""


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """Where a tensor is in its file, of a type as the format names it, such as ``"BF16"``."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class SafetensorsFile:
    """The tensors of a .safetensors file, local or behind an `opener`, whose header is checked at once."""

    def __init__(self, path: Path, opener: Callable[[], BinaryIO] | None = None) -> None:
        self.path = path
        self.bytes_read = 0
        self._open = opener or partial(open_local, path)
        with self._open() as stream:
            size = stream.seek(0, 2)
            stream.seek(0)
            self.entries: Mapping[str, TensorEntry] = MappingProxyType(_read_header(stream, size, shown(path)))

    def __repr__(self) -> str:
        return f"<SafetensorsFile {self.path}: {len(self.entries)} tensors>"

    def read(self, name: str, rows: slice = slice(None)) -> NDArray[Any]:
        """Read a tensor, or some rows of it."""
        entry = self.entries[name]
        if entry.dtype not in _STORED:
            raise CheckpointError(
                f"{shown(self.path)}: tensor {shown(name)} has type {entry.dtype}, which is not read: expected one of "
                f"{', '.join(_STORED)}; save the model unquantised"
            )
        stored = np.dtype(_STORED[entry.dtype])
        start, stop, _ = rows.indices(entry.shape[0]) if entry.shape else (0, 1, 1)
        shape = (max(stop - start, 0), *entry.shape[1:]) if entry.shape else ()
        row_bytes = stored.itemsize * prod(entry.shape[1:])
        count = prod(shape)
        with self._open() as stream:
            stream.seek(entry.begin + start * row_bytes)
            content = stream.read(count * stored.itemsize)
        if len(content) != count * stored.itemsize:
            raise CheckpointError(f"{shown(self.path)} is shorter than when it was opened: it has been changed")
        self.bytes_read += len(content)
        array = np.frombuffer(content, stored).reshape(shape)
        if entry.dtype == "BF16":  # the upper half of a float32
            return (array.astype(np.uint32) << 16).view(np.float32)
        return array.astype(np.float32) if entry.dtype == "F16" else array


def open_local(path: Path) -> BinaryIO:
    """Open a file that is there and is one."""
    try:
        if not path.is_file():  # a pipe or a device would block, or never end
            raise CheckpointError(f"no file {shown(path)}")
        stream = path.open("rb")
        if stream.read(len(LFS_POINTER)) == LFS_POINTER:
            stream.close()
            raise CheckpointError(f"{shown(path)} {LFS_ADVICE}")
        stream.seek(0)
    except OSError as error:
        raise CheckpointError(f"cannot read {shown(path)}: {error.strerror or one_line(error)}") from None
    return stream


def _read_header(stream: BinaryIO, file_size: int, what: str) -> dict[str, TensorEntry]:
    bad = f"{what} is no readable .safetensors file"
    if file_size < 8:
        raise CheckpointError(f"{bad}: it has {file_size} bytes, a header has more")
    header_size = int.from_bytes(stream.read(8), "little")
    if header_size > min(MAX_BYTES, file_size - 8):
        raise CheckpointError(
            f"{bad}: its header would have {header_size:,} bytes, the file has {file_size:,}; it is truncated, or of "
            "another format"
        )
    header = parse_object(stream.read(header_size), f"the header of {what}")
    header.pop("__metadata__", None)
    entries = {name: _entry(bad, name, value, 8 + header_size) for name, value in header.items()}
    _check_layout(bad, entries, 8 + header_size, file_size)
    return entries


def _entry(bad: str, name: str, value: Any, start: int) -> TensorEntry:
    described = value if isinstance(value, dict) else {}
    dtype = described.get("dtype")
    shape, offsets = _sizes(described.get("shape")), _sizes(described.get("data_offsets"))
    if not isinstance(dtype, str) or shape is None or offsets is None or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise CheckpointError(f"{bad}: tensor {shown(name, 100)} has no type, shape and offsets as the format has them")
    if dtype not in _STORED and dtype not in _OTHER_BITS:
        raise CheckpointError(f"{bad}: tensor {shown(name, 100)} has type {shown(dtype, 20)}, which the format lacks")
    bits = np.dtype(_STORED[dtype]).itemsize * 8 if dtype in _STORED else _OTHER_BITS[dtype]
    if prod(shape) * bits != 8 * (offsets[1] - offsets[0]):
        raise CheckpointError(
            f"{bad}: tensor {shown(name, 100)} of shape {shape} and type {dtype} is given "
            f"{offsets[1] - offsets[0]:,} bytes"
        )
    return TensorEntry(dtype, shape, start + offsets[0], start + offsets[1])


def _sizes(value: Any) -> tuple[int, ...] | None:
    """A list of whole numbers from 0, or None for anything else."""
    if isinstance(value, list) and all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in value):
        return tuple(value)
    return None


def _check_layout(bad: str, entries: Mapping[str, TensorEntry], start: int, file_size: int) -> None:
    """Refuse tensors that overlap, leave holes, or do not end where the file does."""
    place = start
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.begin != place:
            how = "overlaps another" if entry.begin < place else "leaves a gap before it"
            raise CheckpointError(f"{bad}: tensor {shown(name, 100)} {how}")
        place = entry.end
    if place != file_size:
        how = "is truncated" if place > file_size else "has bytes that belong to no tensor"
        raise CheckpointError(f"{bad}: its tensors end at byte {place:,}, the file at {file_size:,}; it {how}")
