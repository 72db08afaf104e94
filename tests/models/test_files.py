"""Files of a model on the hub: each asked for when it is needed, on a hub that is a directory."""

import json
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError
from safetensors.numpy import save_file

from posgeom.errors import CheckpointError
from posgeom.models.files import HubFiles
from posgeom.models.inspection import inspect_model
from tests.models.raw import CONFIG, bert_tensors


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A sharded model named owner/name; returns the names of the files that were downloaded."""
    tensors = bert_tensors()
    table = "embeddings.position_embeddings.weight"
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    save_file({table: tensors.pop(table)}, tmp_path / "model-1.safetensors")
    save_file(tensors, tmp_path / "model-2.safetensors")
    places = {table: "model-1.safetensors"} | dict.fromkeys(tensors, "model-2.safetensors")
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    downloaded: list[str] = []

    def metadata(url: str) -> None:
        owner, file = url.split(":")
        if owner != "owner/name":
            raise RepositoryNotFoundError.__new__(RepositoryNotFoundError)
        if not (tmp_path / file).exists():
            raise EntryNotFoundError.__new__(EntryNotFoundError)

    def download(name: str, file: str, *, local_files_only: bool = False) -> str:
        assert not local_files_only
        downloaded.append(file)
        return str(tmp_path / file)

    monkeypatch.setattr(huggingface_hub, "hf_hub_url", lambda name, file: f"{name}:{file}")
    monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", metadata)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    return downloaded


def test_only_what_is_needed_is_downloaded(hub: list[str]) -> None:
    found = inspect_model("owner/name")
    assert hub == ["config.json", "model.safetensors.index.json", "model-1.safetensors"]
    assert found.bytes_read == 24 * 128 * 4
    assert np.isfinite(found.stacks[0].measures.norm_max)  # type: ignore[union-attr]


def test_no_such_model(hub: list[str]) -> None:
    with pytest.raises(CheckpointError, match="no model on the hub that is open to you"):
        inspect_model("owner/other")
    assert hub == []


def test_without_a_network_and_without_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise OSError("name or service\nnot known")

    monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", unreachable)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", unreachable)
    with pytest.raises(CheckpointError, match=r"none available from the hub .name or service not known.") as refusal:
        HubFiles("owner/name").find("config.json")
    assert "\n" not in str(refusal.value)


def test_names_that_leave_are_refused_before_anything_is_asked(hub: list[str]) -> None:
    with pytest.raises(CheckpointError, match="expected one inside its directory"):
        HubFiles("owner/name").find("../x")
    assert hub == []
