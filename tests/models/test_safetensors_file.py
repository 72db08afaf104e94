"""Headers checked before anything is read, and numbers as the format means them, without torch."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file

from posgeom.errors import CheckpointError
from posgeom.models.safetensors_file import SafetensorsFile
from tests.models.raw import entry, file_of


def opened(path: Path, content: bytes) -> SafetensorsFile:
    path.write_bytes(content)
    return SafetensorsFile(path)


def test_agrees_with_the_library(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    types = (np.float64, np.float32, np.float16, np.int64, np.int32, np.uint8, np.bool_)
    arrays: dict[str, Any] = {f"t{i}": (rng.normal(size=(i + 1, 3)) * 9).astype(t) for i, t in enumerate(types)}
    arrays["empty"] = np.zeros((0, 4), np.float32)
    arrays["scalar"] = np.array(2.5, np.float32)
    save_file(arrays, tmp_path / "a.safetensors", metadata={"a": "b"})
    ours = SafetensorsFile(tmp_path / "a.safetensors")
    with safe_open(tmp_path / "a.safetensors", "numpy") as theirs:
        assert set(ours.entries) == set(theirs.keys())
        for name in theirs.keys():  # noqa: SIM118
            np.testing.assert_array_equal(ours.read(name), theirs.get_tensor(name))
    assert ours.read("t2").dtype == np.float32
    assert ours.read("scalar").shape == ()


def test_rows_are_read_alone(tmp_path: Path) -> None:
    table = np.arange(1000 * 7, dtype=np.float32).reshape(1000, 7)
    save_file({"a": table, "b": table + 1}, tmp_path / "a.safetensors")
    file = SafetensorsFile(tmp_path / "a.safetensors")
    np.testing.assert_array_equal(file.read("b", slice(3, 5)), table[3:5] + 1)
    assert file.bytes_read == 2 * 7 * 4
    np.testing.assert_array_equal(file.read("a", slice(998, 2000)), table[998:])
    assert file.read("a", slice(5, 2)).shape == (0, 7)


def test_bfloat16_is_the_upper_half_of_float32(tmp_path: Path) -> None:
    values = np.array([1.0, -2.5, 3.140625, 0.0, 2**127], np.float32)
    halves = (values.view(np.uint32) >> 16).astype("<u2")
    file = opened(tmp_path / "a.safetensors", file_of({"a": entry("BF16", [5], 0, 10)}, halves.tobytes()))
    got = file.read("a")
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, values)


TWO = {"a": entry("F32", [2], 0, 8), "b": entry("F32", [2], 8, 16)}
BAD = {
    "empty": (b"", "0 bytes"),
    "short": (b"\x01\x00\x00", "3 bytes"),
    "huge header": ((1 << 62).to_bytes(8, "little") + b"{}", "truncated, or of another format"),
    "header beyond file": ((100).to_bytes(8, "little") + b"{}", "truncated, or of another format"),
    "no JSON": (file_of(b"not json"), "no readable JSON"),
    "not UTF-8": (file_of(b"\xff\xfe"), "no readable JSON"),
    "deep": (file_of(b"[" * 100_000), "no readable JSON"),
    "a list": (file_of(b"[1]"), "expected an object"),
    "a key twice": (file_of(b'{"a":1,"a":1}'), "'a' occurs twice"),
    "an inner key twice": (file_of(b'{"a":{"dtype":"F32","dtype":"F64"}}'), "occurs twice"),
    "no entry": (file_of({"a": 3}), "no type, shape and offsets"),
    "negative shape": (file_of({"a": entry("F32", [-1], 0, 4)}, b"1234"), "no type, shape"),
    "boolean shape": (file_of({"a": {"dtype": "F32", "shape": [True], "data_offsets": [0, 4]}}, b"1234"), "no type"),
    "float shape": (file_of({"a": {"dtype": "F32", "shape": [1.0], "data_offsets": [0, 4]}}, b"1234"), "no type"),
    "backwards": (file_of({"a": entry("F32", [1], 4, 0)}, b"1234"), "no type, shape and offsets"),
    "unknown type": (file_of({"a": entry("Q9", [1], 0, 4)}, b"1234"), "'Q9', which the format lacks"),
    "wrong size": (file_of({"a": entry("F32", [3], 0, 4)}, b"1234"), "given 4 bytes"),
    "astronomic": (file_of({"a": entry("F32", [2**60, 2**60], 0, 4)}, b"1234"), "given 4 bytes"),
    "truncated": (file_of(TWO, b"1" * 15), "truncated"),
    "trailing": (file_of(TWO, b"1" * 17), "belong to no tensor"),
    "overlap": (file_of(TWO | {"b": entry("F32", [2], 4, 12)}, b"1" * 12), "overlaps another"),
    "hole": (file_of(TWO | {"b": entry("F32", [2], 12, 20)}, b"1" * 20), "leaves a gap"),
    "pickle": (b"\x80\x02}q\x00." + b"\x00" * 20, "truncated, or of another format"),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD.keys())
def test_damaged_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.safetensors"
    with pytest.raises(CheckpointError, match=message) as refusal:
        opened(path, content)
    assert "bad.safetensors" in str(refusal.value)
    assert "\n" not in str(refusal.value)


@settings(max_examples=200, deadline=None)
@given(place=st.integers(0, 300), byte=st.integers(0, 255), cut=st.integers(0, 400))
def test_any_damage_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, place: int, byte: int, cut: int
) -> None:
    content = bytearray(file_of(TWO, np.arange(4, dtype="<f4").tobytes()))
    content[place % len(content)] = byte
    path = tmp_path_factory.getbasetemp() / "fuzzed.safetensors"
    path.write_bytes(bytes(content)[: max(len(content) - cut // 3, 0) if cut > 200 else len(content)])
    with suppress(CheckpointError):
        file = SafetensorsFile(path)
        for name in file.entries:
            file.read(name)


def test_quantised_types_are_told_apart_from_unknown_ones(tmp_path: Path) -> None:
    file = opened(tmp_path / "a.safetensors", file_of({"a": entry("F8_E4M3", [4], 0, 4)}, b"1234"))
    with pytest.raises(CheckpointError, match="F8_E4M3, which is not read"):
        file.read("a")


def test_what_is_no_file(tmp_path: Path) -> None:
    import os

    with pytest.raises(CheckpointError, match="no file"):
        SafetensorsFile(tmp_path / "gone.safetensors")
    os.mkfifo(tmp_path / "pipe.safetensors")  # would block for ever
    with pytest.raises(CheckpointError, match="no file"):
        SafetensorsFile(tmp_path / "pipe.safetensors")


def test_a_file_that_changes_while_in_use(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    file = opened(path, file_of(TWO, b"1" * 16))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(CheckpointError, match="has been changed"):
        file.read("b")
