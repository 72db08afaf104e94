"""A checkpoint in torch's own format: read by torch's weights-only loader, or refused. Never unpickled otherwise."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import CheckpointError
from posgeom.messages import one_line, shown
from posgeom.models.safetensors_file import TensorEntry, open_local

PICKLE_SUFFIXES = (".bin", ".pt", ".pth", ".ckpt")
_SAFE_SINCE = (2, 6)
"""Before it, a crafted file could run code in spite of weights_only (CVE-2025-32434)."""
_CONVERT = "transformers.AutoModel.from_pretrained(DIR).save_pretrained(NEW_DIR) writes .safetensors"
_NESTED = ("state_dict", "model_state_dict", "model")
_DTYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32"}


class PickleFile:
    """The tensors of a file that `torch.save` wrote; what is no tensor is left out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bytes_read = 0
        self._tensors = _load(path)
        self.entries: Mapping[str, TensorEntry] = MappingProxyType(
            {name: TensorEntry(_dtype(tensor), tuple(tensor.shape), 0, 0) for name, tensor in self._tensors.items()}
        )

    def __repr__(self) -> str:
        return f"<PickleFile {self.path}: {len(self.entries)} tensors>"

    def read(self, name: str, rows: slice = slice(None)) -> NDArray[Any]:
        """Read a tensor, or some rows of it; float16 and bfloat16 become float32."""
        tensor = self._tensors[name]
        chosen = tensor[rows] if tensor.ndim else tensor
        self.bytes_read += chosen.numel() * chosen.element_size()
        half = self.entries[name].dtype in ("F16", "BF16")
        return np.asarray((chosen.float() if half else chosen).detach().contiguous().numpy())


def _load(path: Path) -> dict[str, Any]:
    open_local(path).close()  # refuses what is no file, and a pointer in place of one
    try:
        import torch
    except ImportError:
        raise CheckpointError(
            f"{shown(path)} is a pickle, which is not read without torch: install posgeom[models], or convert it, "
            f"{_CONVERT}"
        ) from None
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < _SAFE_SINCE:
        raise CheckpointError(
            f"{shown(path)} is a pickle, and torch {torch.__version__} does not load those safely: use torch 2.6 or "
            f"newer, or convert it, {_CONVERT}"
        )
    try:
        with path.open("rb") as stream:
            mapped = stream.read(2) == b"PK"  # the older format cannot be mapped
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what it then refuses
            values = torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except OSError as error:
        raise CheckpointError(f"cannot read {shown(path)}: {error.strerror or one_line(error)}") from None
    except Exception as error:  # noqa: BLE001  torch raises errors without a common root
        cause = one_line(error).split(" In PyTorch")[0][:120]
        raise CheckpointError(
            f"{shown(path)} is no file of plain tensors ({cause}): torch's weights-only loader refuses it, and nothing "
            "else is tried; ask for .safetensors"
        ) from None
    tensors = _tensors_in(values)
    for key in _NESTED:
        if not tensors and isinstance(values, dict):
            tensors = _tensors_in(values.get(key))
    if not tensors:
        raise CheckpointError(f"{shown(path)} holds no tensors by name")
    return tensors


def _tensors_in(values: Any) -> dict[str, Any]:
    import torch

    if not isinstance(values, dict):
        return {}
    return {name: v for name, v in values.items() if isinstance(name, str) and isinstance(v, torch.Tensor)}


def _dtype(tensor: Any) -> str:
    name = str(tensor.dtype).removeprefix("torch.")
    return _DTYPES.get(name, name)
