import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

from posgeom.encodings.learned import learned
from posgeom.encodings.registry import build_encoding
from posgeom.encodings.tables import load_matrix
from posgeom.errors import EncodingError, OutputError
from posgeom.report.tensors import export, to_bfloat16

TABLE = np.random.default_rng(0).normal(size=(6, 3))


def test_safetensors_with_metadata(tmp_path: Path) -> None:
    encoding = build_encoding("rope:base=500000,pairing=halves", n_positions=12, n_dims=8)
    export(encoding, tmp_path / "a.safetensors", dtype="float64")
    with safe_open(str(tmp_path / "a.safetensors"), framework="numpy") as file:
        assert sorted(file.keys()) == ["cos", "sin"]
        np.testing.assert_allclose(file.get_tensor("cos") ** 2 + file.get_tensor("sin") ** 2, 1)
        metadata = json.loads(file.metadata()["posgeom"])
    assert metadata["spec"] == "rope:base=500000,pairing=halves"
    assert metadata["options"]["base"] == 500000
    assert metadata["conventions"]["pairing"] == "halves"
    assert (metadata["what"], metadata["dtype"], metadata["n_positions"]) == ("angles", "float64", 12)
    assert metadata["posgeom_version"]


def test_what_is_written_can_be_scored(tmp_path: Path) -> None:
    for name, dtype, error in (
        ("a.npy", "float32", 1e-7),
        ("b.safetensors", "float16", 1e-3),
        ("c.safetensors", "bfloat16", 1e-2),
    ):
        export(learned(TABLE), tmp_path / name, dtype=dtype)  # type: ignore[arg-type]
        np.testing.assert_allclose(load_matrix(tmp_path / name), TABLE, rtol=error)


def test_the_same_twice_is_the_same_bytes(tmp_path: Path) -> None:
    contents = []
    for name in ("a", "b"):
        export(
            build_encoding("xpos:pairing=halves", n_positions=9, n_dims=8),
            tmp_path / f"{name}.safetensors",
            dtype="bfloat16",
        )
        contents.append((tmp_path / f"{name}.safetensors").read_bytes())
    assert contents[0] == contents[1]


def exact(bits: int) -> Fraction:
    return Fraction(float(np.array([bits << 16], np.uint32).view(np.float32)[0]))


def test_bfloat16_is_rounded_once_to_the_nearest_even() -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=200) * 10.0 ** rng.integers(-42, 38, 200), [0.0, 257, 1e-45, -1e-50]])
    # Halfway between two bfloat16 numbers, and beside it by less than float32 can see: two roundings would go wrong.
    halfway = 1 + 2.0**-8
    values = np.concatenate([values, [halfway, halfway + 2.0**-40, halfway - 2.0**-40, -halfway - 2.0**-40]])
    for value, bits in zip(values, to_bfloat16(values).tolist(), strict=True):
        distance = abs(exact(bits) - Fraction(value))
        for neighbour in (bits - 1, bits + 1):
            if neighbour & 0x7FFF < 0x7F80 and neighbour >= 0 and neighbour != 0x7FFF:
                other = abs(exact(neighbour) - Fraction(value))
                assert distance < other or (distance == other and bits % 2 == 0), value
    infinite = to_bfloat16(np.array([np.inf, -np.inf, 3.4e38]))
    assert infinite.tolist() == [0x7F80, 0xFF80, 0x7F80]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_numbers_beyond_a_type(tmp_path: Path, dtype: str) -> None:
    with pytest.raises(EncodingError, match=f"table has 1e\\+60, beyond the range of {dtype}"):
        export(learned(np.array([[1e60], [0.0]])), tmp_path / "x.safetensors", dtype=dtype)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_masked_keys_stay_infinite(tmp_path: Path) -> None:
    encoding = build_encoding("alibi:heads=2,causal=true", n_positions=5, n_dims=8)
    for dtype in ("float16", "bfloat16"):
        export(encoding, tmp_path / "m.safetensors", what="bias-matrix", dtype=dtype)
        if dtype == "float16":
            with safe_open(str(tmp_path / "m.safetensors"), framework="numpy") as file:
                assert np.isneginf(file.get_tensor("bias")[:, 0, 1:]).all()


def test_a_decay_that_a_type_cannot_hold(tmp_path: Path) -> None:
    encoding = build_encoding("xpos:pairing=halves,scale_base=1", n_positions=500, n_dims=8)
    with pytest.raises(EncodingError, match=r"scale falls to .* below the range of float16"):
        export(encoding, tmp_path / "x.safetensors", dtype="float16")


@pytest.mark.parametrize(
    ("name", "dtype", "message"),
    [
        ("x.bin", "float32", r"cannot write .*x\.bin': expected a name that ends in \.safetensors or \.npy"),
        ("x.npy", "bfloat16", r"\.npy has no bfloat16"),
        ("x.npy", "float8", "dtype 'float8': expected one of float64"),
        ("none/x.npy", "float32", "cannot write"),
    ],
)
def test_places_that_do_not_fit(tmp_path: Path, name: str, dtype: str, message: str) -> None:
    with pytest.raises(OutputError, match=message):
        export(learned(TABLE), tmp_path / name, dtype=dtype)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_two_arrays_do_not_fit_in_npy(tmp_path: Path) -> None:
    encoding = build_encoding("rope:pairing=halves", n_positions=5, n_dims=8)
    with pytest.raises(OutputError, match=r"angles are cos and sin; use \.safetensors"):
        export(encoding, tmp_path / "x.npy")
    assert not list(tmp_path.iterdir())
