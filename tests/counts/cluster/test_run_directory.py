"""What is kept of a run: partial counts that prove themselves, one run to a directory, one client at a time."""

import json
import os
import socket
import time
from pathlib import Path

import fsspec
import pytest

from posgeom.counts.cluster.lock import STALE_SECONDS, RunLock
from posgeom.counts.cluster.run_directory import LOCK, MANIFEST, RunDirectory
from posgeom.counts.counting import count_texts
from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import OutputError
from tests.counts.cluster.helpers import assert_identical

COUNTS = count_texts(["a b c", "b c", ""], n_positions=4, n_folds=2)


@pytest.fixture
def directory(tmp_path: Path) -> RunDirectory:
    return prepared(tmp_path / "run")


def prepared(place: str | Path) -> RunDirectory:
    directory = RunDirectory(place)
    directory.create()
    directory.prepare(set())
    return directory


@pytest.mark.parametrize("place", ["run", "file:{}/run", "memory://run", "odd::name %20 é"])
def test_counts_come_back(tmp_path: Path, place: str) -> None:
    place = place.replace("file:{}", f"file://{tmp_path}")
    directory = prepared(place if "://" in place else tmp_path / place)
    directory.write_counts("key", COUNTS)
    directory.write_counts("key", COUNTS)
    found = directory.read_counts("key")
    assert found is not None
    assert_identical(found, COUNTS)
    assert directory.read_counts("key", merged=True) is None
    assert directory.read_counts("other") is None
    assert directory.prepare({"key"}) == {"key"}
    assert directory.prepare({"other"}) == set()
    assert directory.read_counts("key") is None
    directory.remove()


def test_an_empty_partition_comes_back(directory: RunDirectory) -> None:
    for kind, vocabulary in (("bytes", None), ("whitespace", ())):
        whole = count_texts(["a"], kind, n_positions=2, n_folds=1)
        nothing = PositionCounts(
            *(whole.fold[:0], whole.position[:0], whole.token[:0], whole.count[:0], 2, whole.tokenizer),
            documents=whole.documents * 0,
            empty_documents=0,
            vocabulary=vocabulary,
        )
        directory.write_counts(kind, nothing)
        found = directory.read_counts(kind)
        assert found is not None
        assert_identical(found, nothing)
        assert_identical(found.merge(whole), nothing.merge(whole))
        assert nothing.merge(whole).n_tokens == 1


def test_the_same_counts_are_the_same_bytes(directory: RunDirectory, tmp_path: Path) -> None:
    file = tmp_path / "run/partials/key.parquet"
    directory.write_counts("key", COUNTS)
    before = file.read_bytes()
    directory.write_counts("key", COUNTS)
    assert file.read_bytes() == before


@pytest.mark.parametrize("damage", ["half", "empty", "zeros", "flipped", "renamed", "other"])
def test_damaged_counts_are_as_good_as_missing(directory: RunDirectory, tmp_path: Path, damage: str) -> None:
    directory.write_counts("key", COUNTS)
    file = tmp_path / "run/partials/key.parquet"
    content = file.read_bytes()
    middle = len(content) // 2
    file.write_bytes(
        {
            "half": content[:middle],
            "empty": b"",
            "zeros": bytes(len(content)),
            "flipped": content[:20] + bytes([content[20] ^ 1]) + content[21:],
            "other": b"not Parquet at all",
        }.get(damage, content)
    )
    if damage == "renamed":
        file.rename(file.with_name("another.parquet"))
    key = "another" if damage == "renamed" else "key"
    assert directory.read_counts(key) is None
    assert not file.with_name(f"{key}.parquet").exists()


def test_what_was_left_half_written_is_cleared_away(directory: RunDirectory, tmp_path: Path) -> None:
    rest = tmp_path / "run/partials/.tmp-123-key.parquet"
    rest.write_bytes(b"half")
    (tmp_path / "run/mine.parquet").write_text("put here by somebody")
    assert directory.prepare({"key"}) == set()
    assert not rest.exists()
    assert (tmp_path / "run/mine.parquet").exists()


def test_somebody_elses_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"holds 'thesis\.txt' and no run"):
        RunDirectory(tmp_path).create()
    with pytest.raises(OutputError, match="it is a file"):
        RunDirectory(tmp_path / "thesis.txt").create()
    with pytest.raises(OutputError, match="nosuchprotocol"):
        RunDirectory("nosuchprotocol://x")


def test_only_the_runs_own_files_are_removed(directory: RunDirectory, tmp_path: Path) -> None:
    directory.write_text(MANIFEST, "{}")
    (tmp_path / "run/notes.txt").write_text("mine")
    directory.remove()
    assert [p.name for p in (tmp_path / "run").iterdir()] == ["notes.txt"]
    directory.remove()
    (tmp_path / "run/notes.txt").unlink()
    directory.remove()
    assert not (tmp_path / "run").exists()


def test_a_second_client_is_refused(directory: RunDirectory, tmp_path: Path) -> None:
    with RunLock(directory):
        with pytest.raises(OutputError, match=f"in use by process {os.getpid()}"), RunLock(directory):
            pass
        assert (tmp_path / "run" / LOCK).exists()
    assert not (tmp_path / "run" / LOCK).exists()


@pytest.mark.parametrize(
    ("holder", "taken_over"),
    [
        ({"host": socket.gethostname(), "pid": 2**22 + 1, "age": 0}, True),
        ({"host": socket.gethostname(), "pid": 1, "age": 0}, False),
        ({"host": "elsewhere", "pid": 2**22 + 1, "age": 0}, False),
        ({"host": "elsewhere", "pid": 2**22 + 1, "age": STALE_SECONDS + 1}, True),
    ],
)
def test_the_lock_of_a_dead_client_is_taken_over(
    directory: RunDirectory, holder: dict[str, object], taken_over: bool
) -> None:
    age = holder["age"]
    assert isinstance(age, int)
    directory.write_text(LOCK, json.dumps(holder | {"token": "x", "time": time.time() - age}))
    if taken_over:
        with RunLock(directory):
            pass
    else:
        with pytest.raises(OutputError, match="in use by process"), RunLock(directory):
            pass


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": 1}', '{"pid": "x", "time": 1, "host": 1, "token": 1}'])
def test_a_damaged_lock_keeps_nobody_out(directory: RunDirectory, content: str) -> None:
    directory.write_text(LOCK, content)
    with RunLock(directory):
        pass


def test_a_lock_that_was_lost_is_not_removed(directory: RunDirectory, tmp_path: Path) -> None:
    with RunLock(directory):
        directory.write_text(LOCK, json.dumps({"token": "x", "host": "y", "pid": 1, "time": time.time()}))
    assert (tmp_path / "run" / LOCK).exists()


def test_an_object_store_without_directories(tmp_path: Path) -> None:
    assert "memory" in fsspec.available_protocols()
    directory = prepared("memory://bucket/deep/run")
    directory.write_counts("key", COUNTS, merged=True)
    directory.clear_merged()
    assert directory.read_counts("key", merged=True) is None
    assert directory.read_text(MANIFEST) is None
    directory.remove()
