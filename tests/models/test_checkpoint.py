"""Checkpoints of one file or many: names, shards, and paths that may not leave."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from posgeom.errors import CheckpointError
from posgeom.models.checkpoint import open_checkpoint
from tests.models.raw import CONFIG, save_bert


def sharded(directory: Path, weight_map: dict[str, str] | Any, **files: dict[str, float]) -> Path:
    directory.mkdir(exist_ok=True)
    for name, values in files.items():
        save_file({k: np.full((2, 2), v, np.float32) for k, v in values.items()}, directory / f"{name}.safetensors")
    (directory / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    return directory


def test_the_index_says_which_shard(tmp_path: Path) -> None:
    directory = sharded(tmp_path / "m", {"x": "b.safetensors", "y": "a.safetensors"}, a={"x": 1, "y": 3}, b={"x": 2})
    checkpoint = open_checkpoint(directory)
    assert checkpoint.read("x").tolist() == [[2, 2], [2, 2]]
    assert checkpoint.bytes_read == 16
    assert sorted(checkpoint.names) == ["x", "y"]
    assert checkpoint.file_of("x").name == "b.safetensors"


def test_a_shard_is_opened_when_it_is_needed(tmp_path: Path) -> None:
    directory = sharded(tmp_path / "m", {"x": "b.safetensors", "y": "gone.safetensors"}, b={"x": 2})
    checkpoint = open_checkpoint(directory)
    assert checkpoint.read("x")[0, 0] == 2
    with pytest.raises(CheckpointError, match=r"'gone.safetensors', which is missing"):
        checkpoint.read("y")


def test_an_index_that_promises_too_much(tmp_path: Path) -> None:
    directory = sharded(tmp_path / "m", {"x": "b.safetensors"}, b={"z": 2})
    with pytest.raises(CheckpointError, match=r"b.safetensors' has no tensor 'x'"):
        open_checkpoint(directory).read("x")


@pytest.mark.parametrize(
    "name",
    ["../a.safetensors", "/etc/passwd", "x/../../a.safetensors", "..", "", "C:a", "a\\..\\..\\b", "a\x00b", "./a"],
)
def test_an_index_cannot_leave_its_directory(tmp_path: Path, name: str) -> None:
    save_file({"x": np.ones((2, 2), np.float32)}, tmp_path / "a.safetensors")
    directory = sharded(tmp_path / "m", {"x": name})
    with pytest.raises(CheckpointError, match="expected one inside its directory"):
        open_checkpoint(directory)


@pytest.mark.parametrize("index", [[], {"weight_map": 3}, {"weight_map": {"x": 3}}, {}])
def test_a_bad_index(tmp_path: Path, index: Any) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(CheckpointError, match=r"index.json"):
        open_checkpoint(tmp_path)


def test_links_out_of_the_directory_are_not_followed(tmp_path: Path) -> None:
    outside = save_bert(tmp_path / "outside")
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "config.json").symlink_to(outside / "config.json")
    with pytest.raises(CheckpointError, match="link out of its directory"):
        open_checkpoint(linked)
    inside = save_bert(tmp_path / "inside")
    (inside / "model.safetensors").rename(inside / "other.safetensors")
    (inside / "model.safetensors").symlink_to("other.safetensors")
    assert open_checkpoint(inside).names


def test_links_of_the_hub_cache_are(tmp_path: Path) -> None:
    (tmp_path / "models--a--b").mkdir()
    blobs = save_bert(tmp_path / "models--a--b" / "blobs")
    snapshot = tmp_path / "models--a--b" / "snapshots" / "0123"
    snapshot.mkdir(parents=True)
    for name in ("config.json", "model.safetensors"):
        (snapshot / name).symlink_to(f"../../blobs/{name}")
    assert open_checkpoint(snapshot).config == CONFIG
    (snapshot / "model.safetensors").unlink()
    save_file({"x": np.ones(2, np.float32)}, tmp_path / "x.safetensors")
    (snapshot / "model.safetensors").symlink_to(tmp_path / "x.safetensors")
    with pytest.raises(CheckpointError, match="link out of its directory"):
        open_checkpoint(snapshot)
    assert blobs.is_dir()


@pytest.mark.parametrize(
    "prefix", ["", "_orig_mod.", "module.", "model.", "transformer.", "module._orig_mod.", "bert."]
)
def test_wrappers_before_a_name(tmp_path: Path, prefix: str) -> None:
    save_file({f"{prefix}embeddings.weight": np.ones((2, 2), np.float32)}, tmp_path / "a.safetensors")
    found = open_checkpoint(tmp_path / "a.safetensors").find("embeddings.weight", {"bert"})
    assert found == f"{prefix}embeddings.weight"


def test_other_parts_are_no_wrappers(tmp_path: Path) -> None:
    tensors = {f"{p}.x.weight": np.ones((2, 2), np.float32) for p in ("decoder", "teacher.model", "bert")}
    save_file(tensors, tmp_path / "a.safetensors")
    checkpoint = open_checkpoint(tmp_path / "a.safetensors")
    assert checkpoint.find("x.weight") is None
    assert checkpoint.find("x.weight", {"bert"}) == "bert.x.weight"
    assert checkpoint.find("x.weight", {"decoder"}) == "decoder.x.weight"
    with pytest.raises(CheckpointError, match=r"has no tensor 'x.weight', which its model_type promises"):
        checkpoint.locate("x.weight")


def test_two_that_could_be_meant(tmp_path: Path) -> None:
    save_file({k: np.ones((2, 2), np.float32) for k in ("x.w", "module.x.w")}, tmp_path / "a.safetensors")
    with pytest.raises(CheckpointError, match=r"could all be 'x.w'"):
        open_checkpoint(tmp_path / "a.safetensors").find("x.w")


def test_tensors_without_values(tmp_path: Path) -> None:
    arrays = {"gathered": np.zeros((0,), np.float32), "nan": np.full((2, 2), np.nan, np.float32)}
    arrays |= {"huge": np.full((2, 2), -1e38, np.float32)}
    save_file(arrays | {"flag": np.ones(2, bool)}, tmp_path / "a.safetensors")
    checkpoint = open_checkpoint(tmp_path / "a.safetensors")
    with pytest.raises(CheckpointError, match="save a gathered checkpoint"):
        checkpoint.read("gathered")
    for name in ("nan", "huge"):
        with pytest.raises(CheckpointError, match="not finite or beyond 1e"):
            checkpoint.read(name)
    with pytest.raises(CheckpointError, match="no array of real numbers"):
        checkpoint.read("flag")


def test_pickles_are_not_read_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pickle
    import sys

    class Trap:
        def __reduce__(self) -> tuple[Any, tuple[str, str]]:
            return Path.write_text, (tmp_path / "sprung", "")  # type: ignore[return-value]

    for name in ("pytorch_model.bin", "a.pt"):
        (tmp_path / name).write_bytes(pickle.dumps({"x": Trap()}))
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    monkeypatch.setitem(sys.modules, "torch", None)
    for path in (tmp_path, tmp_path / "a.pt"):
        with pytest.raises(CheckpointError, match="is a pickle, which is not read without torch"):
            open_checkpoint(path)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gone/", "no model"),
        ("./gone", "no model at './gone'"),
        ("gone.safetensors", "no model at"),
        ("a/b/c", "no model at"),
        ("", "no model at"),
    ],
)
def test_no_such_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(CheckpointError, match=message):
        open_checkpoint(name)


def test_a_directory_without_weights_or_with_a_bad_config(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"has no config.json and none of model.safetensors"):
        open_checkpoint(tmp_path)
    for content in ("[]", "{", '{"a": 1, "a": 2}', "\xff"):
        (tmp_path / "config.json").write_bytes(content.encode("latin-1"))
        with pytest.raises(CheckpointError, match=r"config.json"):
            open_checkpoint(tmp_path)


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_bytes(b"ONNX")
    with pytest.raises(CheckpointError, match="expected a model directory"):
        open_checkpoint(tmp_path / "a.onnx")
