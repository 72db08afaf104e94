"""Products on a device of PyTorch give the axes and alignments that SciPy gives."""

from pathlib import Path

import numpy as np
import pytest

from posgeom.encodings.random import random
from posgeom.errors import GeometryError
from posgeom.estimation import devices, leading_axes
from posgeom.estimation.devices import HOST, Host, TorchDevice, device_named
from posgeom.estimation.leading_axes import leading_axes as axes_of
from posgeom.inference import large_alignment
from tests.estimation.test_leading_axes import counts_of


@pytest.mark.models
@pytest.mark.parametrize("estimator", ["crossval", "plugin"])
def test_axes_and_alignment_are_the_same(estimator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_alignment, "MAX_EXACT", 8)
    counts, encoding = counts_of(), random(40, 24)
    here = axes_of(counts, 6, estimator=estimator, method="lanczos", device="cpu")  # type: ignore[arg-type]
    used = []

    def on_torch(name: str | None, *, is_large: bool) -> Host:
        used.append((name, is_large))
        return TorchDevice("cpu")

    monkeypatch.setattr(leading_axes, "device_named", on_torch)
    there = axes_of(counts, 6, estimator=estimator, method="lanczos", device="cuda")  # type: ignore[arg-type]
    assert used == [("cuda", True)]
    assert type(there.gram.multiplied[0]).__name__ == "_TorchRows"
    np.testing.assert_allclose(there.eigenvalues, here.eigenvalues, rtol=1e-12)
    np.testing.assert_allclose(there.coordinates, here.coordinates, atol=1e-9)
    value = large_alignment.large_alignment(encoding, there).value
    assert value == pytest.approx(large_alignment.large_alignment(encoding, here).value, rel=1e-9)


@pytest.mark.models
@pytest.mark.parametrize("name", ["meta", "nowhere", "cuda:7"])
def test_a_device_that_cannot_be_used(name: str) -> None:
    with pytest.raises(GeometryError, match=f"device '{name}' cannot be used .*expected one of PyTorch"):
        device_named(name, is_large=False)


def test_small_work_and_machines_without_a_gpu_stay_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert device_named("cpu", is_large=True) is HOST
    monkeypatch.setattr(devices, "_DRIVER", tmp_path / "version")
    assert device_named(None, is_large=True) is HOST
    (tmp_path / "version").touch()
    assert device_named(None, is_large=False) is HOST
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert device_named(None, is_large=True) is HOST


def test_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(GeometryError, match=r"device 'cuda' needs torch: pip install 'posgeom\[models\]'"):
        device_named("cuda", is_large=True)
