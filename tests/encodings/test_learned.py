import json
import struct
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from posgeom.encodings.learned import learned, learned_table
from posgeom.encodings.registry import build_encoding
from posgeom.encodings.tables import load_matrix
from posgeom.errors import EncodingError

TABLE = np.random.default_rng(0).normal(size=(6, 3))


def test_npy_and_safetensors(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", TABLE)
    save_file({"wpe": TABLE}, tmp_path / "one.safetensors")
    save_file({"wpe": TABLE, "other": TABLE[:2]}, tmp_path / "two.safetensors")
    np.testing.assert_array_equal(load_matrix(tmp_path / "a.npy"), TABLE)
    np.testing.assert_array_equal(load_matrix(tmp_path / "one.safetensors"), TABLE)
    np.testing.assert_array_equal(load_matrix(tmp_path / "two.safetensors", "wpe"), TABLE)
    with pytest.raises(EncodingError, match=r"2 tensors \('other', 'wpe'\): name one as FILE:tensor=NAME"):
        load_matrix(tmp_path / "two.safetensors")
    with pytest.raises(EncodingError, match="no tensor 'x': it holds 'other', 'wpe'"):
        load_matrix(tmp_path / "two.safetensors", "x")
    with pytest.raises(EncodingError, match="holds one matrix"):
        load_matrix(tmp_path / "a.npy", "wpe")


def test_bfloat16_becomes_float32(tmp_path: Path) -> None:
    values = np.array([[1.0, -2.5], [0.0078125, 3e38]], np.float32)
    halves = (values.view(np.uint32) >> 16).astype("<u2")
    header = json.dumps({"t": {"dtype": "BF16", "shape": [2, 2], "data_offsets": [0, 8]}}).encode()
    (tmp_path / "b.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + halves.tobytes())
    got = load_matrix(tmp_path / "b.safetensors")
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, values, rtol=2**-8)


@pytest.mark.parametrize("name", ["a.npy", "a.safetensors"])
@pytest.mark.parametrize("content", [b"", b"garbage that is no matrix", b"\x93NUMPY\x01\x00v\x00{'descr'", None])
def test_damaged_or_missing_files(tmp_path: Path, name: str, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(EncodingError, match=name) as caught:
        load_matrix(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_pickles_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "p.npy", np.array([[{"x": 1}]], dtype=object), allow_pickle=True)
    with pytest.raises(EncodingError, match="not a readable"):
        load_matrix(tmp_path / "p.npy")


def test_truncated_safetensors(tmp_path: Path) -> None:
    save_file({"t": TABLE}, tmp_path / "t.safetensors")
    whole = (tmp_path / "t.safetensors").read_bytes()
    (tmp_path / "t.safetensors").write_bytes(whole[:-10])
    with pytest.raises(EncodingError, match="not a readable"):
        load_matrix(tmp_path / "t.safetensors")


def test_first_rows_are_used_and_too_few_are_an_error() -> None:
    np.testing.assert_array_equal(learned(TABLE, n_positions=4).coordinates(), TABLE[:4])
    with pytest.raises(EncodingError, match="6 rows, n = 9 positions need as many: use -n 6"):
        learned(TABLE, n_positions=9)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones(4), r"shape \(4,\)"),
        (np.ones((2, 2, 2)), r"shape \(2, 2, 2\)"),
        (np.ones((3, 0)), r"shape \(3, 0\)"),
        (np.array([[1, 2], [np.nan, 3]]), "nan at row 1, column 0"),
        (np.array([[1, np.inf], [2, 3]]), "inf at row 0, column 1"),
        (np.array([[1j, 2], [3, 4]]), "real numbers"),
        (np.array([["a", "b"], ["c", "d"]]), "real numbers"),
    ],
)
def test_unusable_matrices(matrix: np.ndarray, message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        learned(matrix)


def test_half_precision_is_widened_before_any_arithmetic() -> None:
    table = np.array([[60000.0, 0], [0, 60000.0]], np.float16)
    assert learned(table).distances()[0, 1] == pytest.approx(60000 * np.sqrt(2), rel=1e-3)


@pytest.mark.parametrize("kind", ["F8_E4M3", "F8_E5M2", "BOOL"])
def test_types_that_are_no_numbers_here(tmp_path: Path, kind: str) -> None:
    header = json.dumps({"t": {"dtype": kind, "shape": [2, 2], "data_offsets": [0, 4]}}).encode()
    (tmp_path / "f.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + b"\0\0\0\0")
    with pytest.raises(EncodingError, match=f"'t' has type {kind}: expected one of BF16, F64"):
        load_matrix(tmp_path / "f.safetensors")


def test_a_header_that_promises_more_than_the_file_holds(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", TABLE)
    whole = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(whole.replace(b"(6, 3)", b"(6000000000000, 3)")[: len(whole)])
    with pytest.raises(EncodingError, match="not a readable"):
        load_matrix(tmp_path / "a.npy")


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_magnitudes_that_cannot_be_squared(scale: float) -> None:
    with pytest.raises(EncodingError, match="rescale it"):
        learned(TABLE * scale)


@pytest.mark.parametrize("n_positions", [-1, 0, 1])
def test_impossible_lengths(n_positions: int) -> None:
    with pytest.raises(EncodingError, match="at least 2 positions"):
        learned(TABLE, n_positions=n_positions)


def test_ragged_rows() -> None:
    with pytest.raises(EncodingError, match="different lengths"):
        learned([[1, 2], [3]])


def test_a_table_stretched_to_another_length(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", TABLE)
    save_file({"a": TABLE, "b": TABLE}, tmp_path / "t.safetensors")
    for source in (TABLE, tmp_path / "t.npy", Path(f"{tmp_path / 't.safetensors'}:tensor=b")):
        np.testing.assert_array_equal(learned_table(4, table=source).coordinates(), TABLE[:4])
        stretched = learned_table(11, table=source, interpolation="linear").coordinates()
        assert stretched is not None
        np.testing.assert_allclose(stretched[::2], TABLE, atol=1e-15)
        np.testing.assert_allclose(stretched[1::2], (TABLE[1:] + TABLE[:-1]) / 2)
    part = learned_table(5, table=TABLE, interpolation="cubic", length=11).coordinates()
    whole = learned_table(11, table=TABLE, interpolation="cubic").coordinates()
    assert whole is not None
    np.testing.assert_array_equal(part, whole[:5])
    # Only the rows asked for are made: the whole table would fill the memory.
    far = learned_table(3, table=TABLE, interpolation="linear", length=10**12).coordinates()
    assert far is not None
    np.testing.assert_allclose(far, np.tile(TABLE[:1], (3, 1)), atol=1e-10)
    spec = f"learned:table={tmp_path / 't.safetensors'}:tensor=b,interpolation=cubic"
    np.testing.assert_array_equal(build_encoding(spec, n_positions=11, n_dims=9).coordinates(), whole)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 9}, "learned length 9: it needs interpolation=linear"),
        ({"align": "centers"}, "learned align centers: it needs interpolation=linear"),
        ({"interpolation": "linear", "length": 3}, "learned length 3: expected at least n = 9"),
        ({"interpolation": "spline"}, "interpolation 'spline'"),
        ({"interpolation": "linear", "align": "left"}, "align 'left'"),
        ({"table": TABLE * np.inf, "interpolation": "linear"}, "expected finite numbers"),
        ({"table": Path("t.bin")}, r"'t\.bin': expected a matrix file, \.npy or \.safetensors"),
        ({}, "use -n 6, or stretch it with learned:table=FILE,interpolation=linear"),
    ],
)
def test_tables_that_cannot_be_stretched(options: dict[str, object], message: str) -> None:
    with np.errstate(invalid="ignore"), pytest.raises(EncodingError, match=message):
        learned_table(9, **({"table": TABLE} | options))  # type: ignore[arg-type]
