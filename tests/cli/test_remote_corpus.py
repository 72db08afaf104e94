"""URLs and datasets as the corpus of a command, the same counts, and no noise."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import posgeom
from tests.cli.helpers import Run, refused, visible
from tests.counts.helpers import check_same_counts


@pytest.fixture
def stored(s3: Any, corpus: Path, tmp_path: Path) -> list[tuple[str, Path]]:
    """The corpus in a bucket in several forms, each with its local twin."""
    lines = corpus.read_text().splitlines()
    twins = [corpus, tmp_path / "c.txt.gz", tmp_path / "c.parquet"]
    twins[1].write_bytes(gzip.compress(corpus.read_bytes()))
    pq.write_table(pa.table({"text": lines}), twins[2], row_group_size=50)
    for path in twins:
        s3.upload_file(str(path), "corpus", f"dir/{path.name}")
    return [(f"s3://corpus/dir/{path.name}", path) for path in twins]


def test_counts_are_the_same(run: Run, stored: list[tuple[str, Path]], tmp_path: Path) -> None:
    for url, path in stored:
        done = run("count", url, "-n", 12, "-o", "there.parquet")
        assert (done.returncode, done.stderr) == (0, "")
        there = posgeom.read_counts(tmp_path / "there.parquet")
        check_same_counts(there, posgeom.count(path, n_positions=12))
        assert there.sources == (url,)


def test_prefix_and_pattern(run: Run, stored: list[tuple[str, Path]]) -> None:
    done = run("count", "s3://corpus/dir/", "s3://corpus/*/c*", "-n", 12, "-o", "c.parquet")
    assert done.returncode == 0
    assert done.stderr.startswith("note: Copies: 100% of the documents have a text that another has too")
    assert "900 documents" in done.stdout


def test_analyze_keeps_the_name(run: Run, stored: list[tuple[str, Path]]) -> None:
    done = run("analyze", stored[0][0], "-n", 8, "-d", 8, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["corpus"]["sources"] == [stored[0][0]]


@pytest.mark.slow
def test_dataset(run_process: Run, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    lines = corpus.read_text().splitlines()
    pq.write_table(pa.table({"text": lines}), tmp_path / "d" / "train.parquet")
    datasets.disable_progress_bars()
    datasets.Dataset.from_dict({"text": lines}).save_to_disk(tmp_path / "saved")
    environment = {"HF_HOME": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1"}
    outputs = set()
    for name in (str(corpus), "hf:d", "hf:saved"):
        done = run_process("count", name, "-n", "12", "-o", "c.parquet", env={**os.environ, **environment})
        assert (done.returncode, done.stderr) == (0, "")
        outputs.add(done.stdout)
    assert len(outputs) == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("s3://corpus/missing.txt", "not found"),
        ("s3://key:hunter2@corpus/a.txt", "credentials inside a bucket's URL"),
        ("http://user:hunter2@127.0.0.1:9/a.txt?sig=hunter2", "'http://***@127.0.0.1:9/a.txt?sig=***': cannot connect"),
        ("hf:owner/name:config:split", "offline, and not in the cache"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_failure_is_one_line(
    run_process: Run, s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, expected: str
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    before = visible(tmp_path)
    done = run_process("count", name, "-o", "c.parquet")
    refused(done, expected)
    assert "hunter2" not in done.stderr
    assert [n for n in visible(tmp_path) if not n.startswith("cache")] == before


@pytest.mark.slow
def test_nobody_listens(run_process: Run, s3: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    refused(
        run_process("count", "s3://corpus/a.txt", "-o", "c.parquet", timeout=50),
        "cannot connect: check AWS_ENDPOINT_URL",
    )
