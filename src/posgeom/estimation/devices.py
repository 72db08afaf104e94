"""Where sparse products are computed: here, or by the same expressions on a device of PyTorch."""

from __future__ import annotations

import os
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.errors import GeometryError

_DRIVER = Path("/proc/driver/nvidia/version")


class Host:
    """NumPy and SciPy on the processor."""

    name = "cpu"

    def rows(self, matrix: scipy.sparse.csr_array) -> Any:
        """A matrix X for products X @ y and X.T @ z there."""
        return matrix

    def send(self, array: NDArray[np.float64]) -> Any:
        """An array there."""
        return array

    def fetch(self, array: Any) -> NDArray[np.float64]:
        """An array from there."""
        return np.asarray(array)


class TorchDevice(Host):
    """A device of PyTorch, in float64."""

    def __init__(self, name: str) -> None:
        try:
            import torch
        except ImportError:
            raise GeometryError(
                f"device {name!r} needs torch: pip install 'posgeom[models]', or leave device out"
            ) from None
        self.name, self.torch = name, torch
        try:
            torch.zeros(1, dtype=torch.float64, device=name).item()
        except (RuntimeError, TypeError, AssertionError, NotImplementedError) as error:
            reason = str(error).splitlines()[0]
            raise GeometryError(
                f"device {name!r} cannot be used ({reason}): expected one of PyTorch that has float64, as cuda or "
                "cuda:1, or cpu"
            ) from None

    def rows(self, matrix: scipy.sparse.csr_array) -> Any:
        """A matrix and its transpose, each by rows."""
        return _TorchRows(self._sparse(matrix), self._sparse(scipy.sparse.csr_array(matrix.T)))

    def send(self, array: NDArray[np.float64]) -> Any:
        """An array on the device."""
        return self.torch.from_numpy(np.ascontiguousarray(array)).to(self.name)

    def fetch(self, array: Any) -> NDArray[np.float64]:
        """An array from the device."""
        return np.asarray(array.cpu().numpy())

    def _sparse(self, matrix: scipy.sparse.csr_array) -> Any:
        parts = (self.torch.from_numpy(part).to(self.name) for part in (matrix.indptr, matrix.indices, matrix.data))
        with warnings.catch_warnings():  # that the layout is in beta
            warnings.simplefilter("ignore", UserWarning)
            return self.torch.sparse_csr_tensor(*parts, size=matrix.shape, check_invariants=True)


class _TorchRows:
    """A sparse matrix of PyTorch, beside its transpose, for which it has no fast product."""

    def __init__(self, matrix: Any, transposed: Any) -> None:
        self.matrix, self.transposed = matrix, transposed

    @property
    def T(self) -> _TorchRows:  # noqa: N802
        return _TorchRows(self.transposed, self.matrix)

    def __matmul__(self, columns: Any) -> Any:
        return self.matrix @ columns


HOST = Host()


def device_named(name: str | None, *, is_large: bool) -> Host:
    """The device of a name; without one, a GPU of NVIDIA where that and torch are there and the work is large."""
    if name == HOST.name:
        return HOST
    if name is not None:
        return TorchDevice(name)
    has_gpu = _DRIVER.exists() and os.environ.get("CUDA_VISIBLE_DEVICES") != ""
    if not (is_large and has_gpu and find_spec("torch") is not None):
        return HOST
    try:
        return TorchDevice("cuda")
    except GeometryError:  # a driver without a build of torch that can use it
        return HOST
