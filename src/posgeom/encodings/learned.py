"""Learned tables from .npy and .safetensors files; nothing is ever unpickled."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError, safe_open

from posgeom.encodings.base import Encoding, PointEncoding
from posgeom.errors import EncodingError

MATRIX_SUFFIXES = (".npy", ".safetensors")


def learned(points: ArrayLike, *, n_positions: int | None = None, name: str = "learned") -> Encoding:
    """An encoding from a matrix, one row a position.

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
    matrix = np.asarray(points)
    if matrix.ndim != 2:
        raise EncodingError(f"encoding {name} has shape {matrix.shape}: expected (positions, dimensions)")
    n = matrix.shape[0] if n_positions is None else n_positions
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
        raise EncodingError(f"{str(path)!r} is a .npy file, which holds one matrix: leave tensor={tensor} out")
    try:
        if file.suffix == ".safetensors":
            return _load_safetensors(file, tensor)
        return np.asarray(np.load(file, allow_pickle=False))
    except OSError as error:
        raise EncodingError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    except (ValueError, EOFError) as error:
        raise EncodingError(f"{str(path)!r} is not a readable {file.suffix} matrix: {error}") from None


def _load_safetensors(file: Path, tensor: str | None) -> NDArray[Any]:
    with file.open("rb"):  # names the cause where the library would not
        pass
    try:
        with safe_open(str(file), framework="numpy") as tensors:
            name = _choose_tensor(file, list(tensors.keys()), tensor)
            if tensors.get_slice(name).get_dtype() != "BF16":
                return np.asarray(tensors.get_tensor(name))
    except (SafetensorError, TypeError) as error:
        raise EncodingError(f"{str(file)!r} is not a readable .safetensors file: {error}") from None
    return _read_bfloat16(file, name)


def _choose_tensor(file: Path, names: list[str], tensor: str | None) -> str:
    listed = ", ".join(sorted(names)[:6]) + (", ..." if len(names) > 6 else "")
    if tensor is None and len(names) != 1:
        raise EncodingError(f"{str(file)!r} holds {len(names)} tensors ({listed}): name one as {file}:tensor=NAME")
    if tensor is not None and tensor not in names:
        raise EncodingError(f"{str(file)!r} has no tensor {tensor!r}: it holds {listed}")
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
