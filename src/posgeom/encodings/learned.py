"""Learned tables from .npy and .safetensors files; nothing is ever unpickled."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError, safe_open

from posgeom.encodings.base import Encoding, PointEncoding, as_matrix, check_n_positions
from posgeom.errors import EncodingError
from posgeom.messages import one_line, shown, shown_list

MATRIX_SUFFIXES = (".npy", ".safetensors")
_NUMPY_DTYPES = ("F64", "F32", "F16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8")


def learned(points: ArrayLike, *, n_positions: int | None = None, name: str = "learned") -> Encoding:
    """An encoding from a matrix, one row per position.

    Parameters
    ----------
    points : array_like, shape (rows, d)
        Row i is the vector of position i.
    n_positions : int, optional
        Context length n: the first n rows are used. By default all rows.
    name : str

    Returns
    -------
    Encoding

    Raises
    ------
    EncodingError
        When the matrix has another shape, too few rows, or entries that are not finite numbers.
    """
    matrix = as_matrix(name, points)
    n = matrix.shape[0] if n_positions is None else n_positions
    check_n_positions(name, n)
    if matrix.shape[0] < n:
        raise EncodingError(
            f"encoding {name} has {matrix.shape[0]} rows, n = {n} positions need as many: use -n {matrix.shape[0]}"
        )
    return PointEncoding(name, matrix[:n])


def load_matrix(path: str | Path, tensor: str | None = None) -> NDArray[Any]:
    """Read a matrix from a .npy or .safetensors file.

    Parameters
    ----------
    path : str or Path
    tensor : str, optional
        Which tensor of a .safetensors file; not needed when it holds one.

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
        raise EncodingError(f"{shown(path)} is not a readable {file.suffix} matrix: {one_line(error)}") from None


def _load_safetensors(file: Path, tensor: str | None) -> NDArray[Any]:
    with file.open("rb"):  # names the cause where the library would not
        pass
    try:
        with safe_open(str(file), framework="numpy") as tensors:
            name = _choose_tensor(file, list(tensors.keys()), tensor)
            dtype = tensors.get_slice(name).get_dtype()
            if dtype in _NUMPY_DTYPES:
                return np.asarray(tensors.get_tensor(name))
            if dtype != "BF16":
                raise EncodingError(
                    f"{shown(file)}: tensor {shown(name)} has type {dtype}: expected one of BF16, "
                    f"{', '.join(_NUMPY_DTYPES)}"
                )
    except (SafetensorError, TypeError) as error:
        raise EncodingError(f"{shown(file)} is not a readable .safetensors file: {one_line(error)}") from None
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
