"""Learned numbers as an array or a file: .npy, or .safetensors with the tensor named as FILE:tensor=NAME."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError, safe_open

from posgeom.encodings.checks import as_numbers
from posgeom.errors import EncodingError
from posgeom.messages import one_line, printable, shown, shown_list

MATRIX_SUFFIXES = (".npy", ".safetensors")
_TABLE = "table"
"""Name of the tensor that posgeom writes a table under, beside others that belong to it."""
_NUMPY_DTYPES = ("F64", "F32", "F16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8")

Table = Path | NDArray[Any]
"""What an option that takes learned numbers accepts; on the command line a file."""


def read_table(table: Path | str | ArrayLike) -> tuple[str, NDArray[Any]]:
    """A table given as an array or a file, which may end in ``:tensor=NAME``, and what to call it in messages."""
    if not isinstance(table, Path | str):
        return "the given array", as_numbers("the given array", table)
    path, tensor = split_tensor(str(table))
    return printable(str(table)), as_numbers(shown(table), load_matrix(path, tensor))


def split_tensor(spec: str) -> tuple[str, str | None]:
    """FILE and NAME of ``FILE:tensor=NAME``; NAME is None where it is a file's name alone."""
    path, _, name = spec.rpartition(":tensor=")
    return (
        (path, name) if path and not (Path(spec).suffix in MATRIX_SUFFIXES and Path(spec).is_file()) else (spec, None)
    )


def load_matrix(path: str | Path, tensor: str | None = None) -> NDArray[Any]:
    """Read a matrix from a .npy or .safetensors file.

    Parameters
    ----------
    path : str or Path
    tensor : str, optional
        Which tensor of a .safetensors file; not needed when it holds one, or a table that posgeom wrote.

    Returns
    -------
    ndarray
        As stored, except that bfloat16 becomes float32.

    Raises
    ------
    EncodingError
        When the file is missing, damaged, of another kind, or holds pickled objects.
    """
    file = Path(path)
    if file.suffix not in MATRIX_SUFFIXES:
        raise EncodingError(f"{shown(path)}: expected a matrix file, {' or '.join(MATRIX_SUFFIXES)}")
    if file.suffix != ".safetensors" and tensor is not None:
        raise EncodingError(f"{shown(path)} is a .npy file, which holds one matrix: leave tensor={tensor} out")
    try:
        if file.suffix == ".safetensors":
            return _load_safetensors(file, tensor)
        # Mapped, not read: a header that promises more than the file holds is noticed, and only used rows are read.
        return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
    except OSError as error:
        raise EncodingError(f"cannot read {shown(path)}: {error.strerror or error}") from None
    except (ValueError, EOFError) as error:
        # NumPy takes what it does not know for a pickle, and tells how to load it all the same.
        cause = "it holds no plain array of numbers" if "pickle" in str(error) else one_line(error)
        raise EncodingError(f"{shown(path)} is not a readable {file.suffix} matrix: {cause}") from None


def load_tensors(path: str | Path) -> dict[str, NDArray[Any]]:
    """Every tensor of a .safetensors file, by name; bfloat16 as float32."""
    file = Path(path)
    if file.suffix != ".safetensors":
        raise EncodingError(f"{shown(path)}: expected a .safetensors file")
    with _readable(file) as tensors:
        return {name: _tensor(file, tensors, name) for name in tensors.keys()}  # noqa: SIM118


def load_fit(path: str | Path) -> dict[str, Any]:
    """How `posgeom.fit_encoding` fitted the table of a file; empty where the file does not say so."""
    file = Path(path)
    if file.suffix != ".safetensors":
        return {}
    with _readable(file) as tensors:
        fit: dict[str, Any] = _own_metadata(tensors).get("fit", {})
    return fit


def _own_metadata(tensors: Any) -> dict[str, Any]:
    """What posgeom wrote into a file's header beside its arrays; empty in a file of another hand."""
    try:
        metadata = json.loads((tensors.metadata() or {}).get("posgeom", "{}"))
    except (ValueError, RecursionError):
        return {}
    return metadata if isinstance(metadata, dict) and isinstance(metadata.get("fit", {}), dict) else {}


def _load_safetensors(file: Path, tensor: str | None) -> NDArray[Any]:
    with _readable(file) as tensors:
        if tensor is None and _own_metadata(tensors).get("what") == _TABLE and _TABLE in tensors.keys():  # noqa: SIM118
            tensor = _TABLE
        return _tensor(file, tensors, _choose_tensor(file, list(tensors.keys()), tensor))


@contextmanager
def _readable(file: Path) -> Iterator[Any]:
    try:
        with file.open("rb"):  # names the cause where the library would not
            pass
        with safe_open(str(file), framework="numpy") as tensors:
            yield tensors
    except OSError as error:
        raise EncodingError(f"cannot read {shown(file)}: {error.strerror or error}") from None
    except (SafetensorError, TypeError) as error:
        raise EncodingError(f"{shown(file)} is not a readable .safetensors file: {one_line(error)}") from None


def _tensor(file: Path, tensors: Any, name: str) -> NDArray[Any]:
    dtype = tensors.get_slice(name).get_dtype()
    if dtype in _NUMPY_DTYPES:
        return np.asarray(tensors.get_tensor(name))
    if dtype != "BF16":
        raise EncodingError(
            f"{shown(file)}: tensor {shown(name)} has type {dtype}: expected one of BF16, {', '.join(_NUMPY_DTYPES)}"
        )
    return _read_bfloat16(file, name)


def _choose_tensor(file: Path, names: list[str], tensor: str | None) -> str:
    listed = shown_list(sorted(names), 6)
    if tensor is None and len(names) != 1:
        raise EncodingError(f"{shown(file)} holds {len(names)} tensors ({listed}): name one as FILE:tensor=NAME")
    if tensor is not None and tensor not in names:
        raise EncodingError(f"{shown(file)} has no tensor {shown(tensor)}: it holds {listed}")
    return names[0] if tensor is None else tensor


def _read_bfloat16(file: Path, name: str) -> NDArray[np.float32]:
    """Read a tensor type that NumPy lacks, from a file whose header the library has already checked."""
    with file.open("rb") as stream:
        header_size = int.from_bytes(stream.read(8), "little")
        entry = json.loads(stream.read(header_size))[name]
        begin, end = entry["data_offsets"]
        stream.seek(8 + header_size + begin)
        halves = np.frombuffer(stream.read(end - begin), "<u2")
    # A bfloat16 is the upper half of a float32.
    return (halves.astype(np.uint32) << 16).view(np.float32).reshape(entry["shape"])
