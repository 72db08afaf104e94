"""Arrays of a scheme as a file: .safetensors with what they mean, or .npy; cast last."""

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save as serialize_tensors

from posgeom.encodings.base import Encoding
from posgeom.encodings.tensors import Tensors, What, tensors_of
from posgeom.errors import EncodingError, OutputError
from posgeom.messages import shown
from posgeom.report.files import os_errors_named, staged_file

DType = Literal["float64", "float32", "float16", "bfloat16"]
DTYPES: tuple[DType, ...] = ("float64", "float32", "float16", "bfloat16")


def export(encoding: Encoding, target: str | Path, *, what: What | None = None, dtype: DType = "float32") -> Tensors:
    """Write what a model would use of a scheme.

    Parameters
    ----------
    encoding : Encoding
    target : str or Path
        A .safetensors file, whose metadata key ``posgeom`` has spec, options and conventions as JSON; or a .npy file,
        which holds one array and no metadata.
    what : {"table", "angles", "bias", "bias-matrix"}, optional
        See `posgeom.encodings.tensors.tensors_of`.
    dtype : {"float64", "float32", "float16", "bfloat16"}
        Numbers are computed in float64 and rounded once, to nearest even. bfloat16 needs a .safetensors file.

    Returns
    -------
    Tensors
        What was written, before rounding.

    Raises
    ------
    EncodingError
        When the scheme has no such arrays, or numbers are beyond the range of the type.
    OutputError
        When the file cannot be written, or its suffix or type do not fit.
    """
    check_target(target, dtype)
    with staged_file(target) as stage:
        tensors = tensors_of(encoding, what)
        write_tensors(tensors, stage, target, dtype)
    return tensors


def check_target(target: str | Path, dtype: str) -> None:
    """Refuse a file name and a type that do not fit, before any work."""
    suffix = Path(target).suffix
    if suffix not in _WRITERS:
        raise OutputError(f"cannot write {shown(target)}: expected a name that ends in {' or '.join(_WRITERS)}")
    if dtype not in DTYPES:
        raise OutputError(f"dtype {shown(dtype)}: expected one of {', '.join(DTYPES)}")
    if suffix == ".npy" and dtype == "bfloat16":
        raise OutputError(f"cannot write {shown(target)}: .npy has no bfloat16; use .safetensors, or another --dtype")


def write_tensors(tensors: Tensors, stage: Path, target: str | Path, dtype: DType) -> None:
    """Write arrays to a scratch file."""
    if Path(target).suffix == ".npy" and len(tensors.arrays) > 1:
        raise OutputError(
            f"cannot write {shown(target)}: .npy holds one array, {tensors.what} are {' and '.join(tensors.arrays)}; "
            "use .safetensors"
        )
    arrays = {name: _cast(name, array, dtype) for name, array in tensors.arrays.items()}
    metadata = tensors.metadata | {"dtype": dtype, "posgeom_version": version("posgeom")}
    with os_errors_named(Path(target)):
        _WRITERS[Path(target).suffix](stage, arrays, metadata)


def _cast(name: str, array: NDArray[np.float64], dtype: DType) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        cast = to_bfloat16(array) if dtype == "bfloat16" else array.astype(dtype)
    overflown = _is_infinite(cast) & np.isfinite(array)
    if overflown.any():
        raise EncodingError(f"{name} has {array[overflown][0]:g}, beyond the range of {dtype}: choose another --dtype")
    if name == "scale" and not (cast != 0).all():
        raise EncodingError(
            f"{name} falls to {array.min():g}, below the range of {dtype}: choose another --dtype, or a smaller -n"
        )
    return np.ascontiguousarray(cast)


def _is_infinite(cast: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray((cast & 0x7FFF) == 0x7F80 if cast.dtype == np.uint16 else np.isinf(cast))


def to_bfloat16(array: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Round to bfloat16, to nearest even and in one step, as its bits."""
    with np.errstate(over="ignore"):
        single = array.astype(np.float32)
    widened = single.astype(np.float64)
    # Float32 towards zero, with its last bit set where anything was cut off, keeps what the second rounding must know.
    too_far = np.abs(widened) > np.abs(array)
    bits = single.view(np.uint32) - too_far.astype(np.uint32)
    bits |= (widened != array).astype(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.asarray(np.where(np.isfinite(array), rounded, bits >> 16).astype(np.uint16))


def _write_safetensors(stage: Path, arrays: dict[str, NDArray[Any]], metadata: dict[str, Any]) -> None:
    # One key: the library writes several in no fixed order, and the same arrays should give the same bytes.
    content = serialize_tensors(arrays, {"posgeom": json.dumps(metadata, sort_keys=True)})
    stage.write_bytes(_as_bfloat16(content) if metadata["dtype"] == "bfloat16" else content)


def _as_bfloat16(content: bytes) -> bytes:
    """Name the 16-bit words of a file by a type that the library writes for torch's arrays alone."""
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    for name, entry in header.items():
        if name != "__metadata__":
            entry["dtype"] = "BF16"
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + content[8 + size :]


def _write_npy(stage: Path, arrays: dict[str, NDArray[Any]], metadata: dict[str, Any]) -> None:  # noqa: ARG001
    with stage.open("wb") as stream:  # given a name, NumPy would add a suffix
        np.save(stream, next(iter(arrays.values())), allow_pickle=False)


_WRITERS: dict[str, Callable[[Path, dict[str, NDArray[Any]], dict[str, Any]], None]] = {
    ".safetensors": _write_safetensors,
    ".npy": _write_npy,
}
