"""What is kept of a run: partial counts that prove themselves, one run to a directory, one client at a time."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import fsspec
import pytest

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
    with directory.opened():
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


def entered(place: Path) -> None:
    with RunDirectory(place).opened():
        pass


def test_somebody_elses_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"holds 'thesis\.txt' and no run"):
        entered(tmp_path)
    with pytest.raises(OutputError, match="it is a file"):
        entered(tmp_path / "thesis.txt")
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
    directory.write_text(MANIFEST, "{}")
    with directory.opened():
        with pytest.raises(OutputError, match=f"in use by process {os.getpid()} on {socket.gethostname()}: wait"):
            entered(tmp_path / "run")
        assert (tmp_path / "run" / LOCK).exists()
        with pytest.raises(OutputError, match="in use by process"):  # the one refused has not let anybody in
            entered(tmp_path / "run")
    assert not (tmp_path / "run" / LOCK).exists()
    entered(tmp_path / "run")


def test_the_lock_of_a_dead_client_is_taken_over(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from posgeom.counts.cluster.run_directory import RunDirectory\n"
        "with RunDirectory(sys.argv[1]).opened():\n"
        "    print(flush=True)\n"
        "    input()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    with pytest.raises(OutputError, match=f"in use by process {holder.pid} on"):
        entered(tmp_path / "run")
    holder.kill()
    holder.communicate()
    assert (tmp_path / "run" / LOCK).exists()
    entered(tmp_path / "run")


@pytest.mark.parametrize("content", ["", "{", "process 1 on elsewhere"])
def test_what_a_lock_says_keeps_nobody_out(directory: RunDirectory, content: str) -> None:
    directory.write_text(MANIFEST, "{}")
    directory.write_text(LOCK, content)
    with directory.opened():
        pass


@pytest.mark.parametrize("counted", [False, True])
def test_a_run_that_fails_at_once_leaves_nothing(tmp_path: Path, counted: bool) -> None:
    directory = RunDirectory(tmp_path / "run")

    def fail() -> None:
        with directory.opened():
            directory.prepare(set())
            directory.write_text(MANIFEST, "{}")
            if counted:
                directory.write_counts("key", COUNTS)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (tmp_path / "run").exists() == counted
    assert not (tmp_path / "run" / LOCK).exists()


def test_an_object_store_without_directories(tmp_path: Path) -> None:
    assert "memory" in fsspec.available_protocols()
    directory = prepared("memory://bucket/deep/run")
    directory.write_counts("key", COUNTS)
    directory.prepare(set())
    assert directory.read_counts("key") is None
    assert directory.read_text(MANIFEST) is None
    directory.remove()
