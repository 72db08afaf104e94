"""A dataset on a hub: a stand-in on the loopback answers what the real one answers."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.helpers import Run, refused
from tests.corpus.web import Page, Server, running

REVISION = "0" * 40
TRAIN, TEST = (
    "".join(json.dumps({"label": i, "text": text}) + "\n" for i, text in enumerate(texts)).encode()
    for texts in (["one two", "three"], ["four"])
)
FILES = {"data/train.jsonl": TRAIN, "data/test.jsonl": TEST}


def answer(content: Any) -> Page:
    return Page(json.dumps(content).encode(), headers={"Content-Type": "application/json"})


@pytest.fixture
def hub() -> Iterator[Server]:
    """Holds the dataset ``owner/name``; ``owner/gated`` may not be read."""
    with running() as server:
        found = [
            {"type": "file", "oid": str(i) * 40, "size": len(content), "path": path}
            for i, (path, content) in enumerate(FILES.items())
        ]
        info = answer({"id": "owner/name", "sha": REVISION, "siblings": [{"rfilename": path} for path in FILES]})
        root = "/api/datasets/owner/name"
        server.pages |= {root: info, f"{root}/revision/main": info, f"{root}/revision/{REVISION}": info}
        for revision in ("main", REVISION):
            server.pages[f"{root}/tree/{revision}/data"] = answer(found)
            server.pages[f"{root}/tree/{revision}?recursive=true&expand=false"] = answer(found)
            server.pages[f"{root}/tree/{revision}"] = answer([{"type": "directory", "oid": "f" * 40, "path": "data"}])
            for i, (path, content) in enumerate(FILES.items()):
                headers = {"ETag": f'"{i}"', "X-Repo-Commit": REVISION}
                server.pages[f"/datasets/owner/name/resolve/{revision}/{path}"] = Page(
                    content, 200, headers, ranges=True
                )
        for name, status, code in (("gated", 403, "GatedRepo"), ("gone", 404, "RepoNotFound")):
            refusal = Page(b"{}", status, {"X-Error-Code": code})
            server.pages[f"/api/datasets/owner/{name}"] = refusal
            server.pages[f"/datasets/owner/{name}/resolve/main/README.md"] = refusal
        server.missing = Page(status=404, headers={"X-Error-Code": "EntryNotFound"})
        yield server


@pytest.fixture
def environment(hub: Server, tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return kept | {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home"), "HF_TOKEN": "hf_hunter2"}


@pytest.mark.slow
def test_dataset_on_the_hub(run_process: Run, environment: dict[str, str]) -> None:
    files = "hf://datasets/owner/name"
    names = ["hf:owner/name", "hf:owner/name:default:test", files, f"{files}/data/*.jsonl", f"{files}/data/test.jsonl"]
    done = run_process("count", *names, "-n", "8", "-o", "c.parquet", env=environment)
    assert done.returncode == 0
    assert done.stderr.startswith("note: Copies: 100% of the documents have a text that another has too")
    assert ": 6 documents (0 empty)" in done.stdout  # two, one, and the three of the files, each read once


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hf:owner/gone", "'hf:owner/gone': not found"),
        ("hf:owner/gated", "'hf:owner/gated': permission denied"),
        ("hf://datasets/owner/gated/a.txt", "permission denied (HTTP 403)"),
        ("hf://datasets/owner/name/data/dev.jsonl", "not found"),
    ],
)
def test_what_the_hub_lacks(run_process: Run, environment: dict[str, str], name: str, expected: str) -> None:
    done = run_process("count", name, "-o", "c.parquet", env=environment)
    refused(done, expected)
    assert "hunter2" not in done.stderr


@pytest.mark.slow
def test_dataset_in_the_cache(run_process: Run, environment: dict[str, str]) -> None:
    code = "import datasets; datasets.load_dataset('owner/name')"
    subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    environment["HF_HUB_OFFLINE"] = "1"
    done = run_process("count", "hf:owner/name", "-n", "8", "-o", "c.parquet", env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert ": 2 documents (0 empty)" in done.stdout


@pytest.mark.slow
def test_hub_that_is_not_there(run_process: Run, environment: dict[str, str]) -> None:
    environment["HF_ENDPOINT"] = "http://127.0.0.1:9"
    refused(
        run_process("count", "hf:owner/name", "-o", "c.parquet", env=environment, timeout=50),
        "the hub cannot be reached",
    )
    name = "hf://datasets/owner/name/a.txt"
    refused(
        run_process("count", name, "-o", "c.parquet", env=environment, timeout=50), "cannot connect: check HF_ENDPOINT"
    )
