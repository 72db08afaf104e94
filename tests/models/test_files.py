"""Files of a model on the hub: a stand-in on the loopback, read by range requests through the hub's own client."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_hub
import numpy as np
import pytest
from safetensors.numpy import save

from posgeom.errors import CheckpointError
from posgeom.models.files import HubFiles
from tests.corpus.web import Page, Server, running
from tests.models.raw import CONFIG, bert_tensors

REVISION = "0" * 40
TABLE = "embeddings.position_embeddings.weight"
FILLER = 64 << 20


def answer(content: Any) -> Page:
    return Page(json.dumps(content).encode(), headers={"Content-Type": "application/json"})


@pytest.fixture(scope="module")
def hub() -> Iterator[Server]:
    """Holds the sharded model ``owner/name``, whose first shard is large."""
    tensors = bert_tensors()
    table = tensors.pop(TABLE)
    first = save({"filler": np.zeros(FILLER, np.uint8), TABLE: table})
    places = {TABLE: "model-1.safetensors"} | dict.fromkeys(tensors, "model-2.safetensors")
    files = {
        "config.json": json.dumps(CONFIG).encode(),
        "model.safetensors.index.json": json.dumps({"weight_map": places}).encode(),
        "model-1.safetensors": first,
        "model-2.safetensors": save(tensors),
    }
    with running() as server:
        listed = [
            {"type": "file", "oid": str(i) * 40, "size": len(content), "path": path}
            for i, (path, content) in enumerate(files.items())
        ]
        info = answer({"id": "owner/name", "sha": REVISION, "siblings": [{"rfilename": path} for path in files]})
        root = "/api/models/owner/name"
        server.pages |= {root: info, f"{root}/revision/main": info, f"{root}/revision/{REVISION}": info}
        for revision in ("main", REVISION):
            server.pages[f"{root}/tree/{revision}"] = answer(listed)
            for i, (path, content) in enumerate(files.items()):
                headers = {"ETag": f'"{i}"', "X-Repo-Commit": REVISION}
                server.pages[f"/owner/name/resolve/{revision}/{path}"] = Page(content, 200, headers, ranges=True)
        refusal = Page(b"{}", 404, {"X-Error-Code": "RepoNotFound"})
        server.pages["/owner/other/resolve/main/modules.json"] = refusal
        server.pages["/owner/other/resolve/main/config.json"] = refusal
        server.missing = Page(status=404, headers={"X-Error-Code": "EntryNotFound"})
        yield server


def inspected(hub: Server, tmp_path: Path, name: str) -> "subprocess.CompletedProcess[str]":
    """`posgeom inspect` in a process of its own, since the hub's address is read once."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    environment = kept | {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home")}
    code = [sys.executable, "-m", "posgeom", "inspect", name, "--json"]
    return subprocess.run(code, env=environment, capture_output=True, text=True, check=False)


def test_only_what_is_needed_is_fetched(hub: Server, tmp_path: Path) -> None:
    hub.log.clear()
    done = inspected(hub, tmp_path, "owner/name")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["tensor_bytes_read"] == 24 * 128 * 4
    fetched = [line for line in hub.log if line.startswith("GET") and "safetensors" in line and "index" not in line]
    assert fetched
    assert not any("model-2" in line for line in fetched)
    ranges = [line.split("bytes=")[1].split("-") for line in fetched]
    assert sum(int(last) - int(first) + 1 for first, last in ranges) < FILLER / 16


def test_no_such_model(hub: Server, tmp_path: Path) -> None:
    done = inspected(hub, tmp_path, "owner/other")
    assert done.returncode == 2
    assert "no model on the hub that is open to you" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_without_a_network_and_without_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise OSError("name or service\nnot known")

    monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", unreachable)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", unreachable)
    with pytest.raises(CheckpointError, match=r"none available from the hub .name or service not known.") as refusal:
        HubFiles("owner/name").find("config.json")
    assert "\n" not in str(refusal.value)


def test_names_that_leave_are_refused_before_anything_is_asked() -> None:
    with pytest.raises(CheckpointError, match="expected one inside its directory"):
        HubFiles("owner/name").find("../x")
