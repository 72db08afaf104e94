"""The command line as a user meets it: whole processes, their output and exit codes."""

import csv
import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ENTRY = [sys.executable, "-c", "from posgeom.cli.main import main; main()"]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    words = ["red", "green", "blue", "one", "two"]
    lines = [" ".join(rng.choice(words[: 2 + i % 4], 9)) + f" {i}" for i in range(300)]
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def call(*arguments: object, **settings: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*ENTRY, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True, check=False, **settings
        )

    return call


def refused(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    """Exit code 2, and one line that says what it should."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("posgeom: error: ")
    for part in parts:
        assert part in done.stderr


def visible(directory: Path) -> list[str]:
    return sorted(p.name for p in directory.rglob("*"))


def test_table(run: Run, corpus: Path) -> None:
    done = run("analyze", corpus, "-n", 12, "-d", 16)
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 100
    for part in ("300 documents (0 empty)", "sinusoidal", "mds:rank=1", "is not a better model", "n = 12"):
        assert part in " ".join(done.stdout.split())


def test_json_is_the_stored_document_and_nothing_else(run: Run, corpus: Path, tmp_path: Path) -> None:
    done = run("analyze", corpus, "-n", 12, "-d", 16, "--json", "--out", "run")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document == json.loads((tmp_path / "run" / "scores.json").read_text())
    assert document["corpus"]["documents"] == 300
    assert document["n_positions"] == 12
    assert {e["name"] for e in document["encodings"]} >= {"sinusoidal", "rope", "alibi", "random", "mds"}


def test_options_reach_the_analysis(run: Run, corpus: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.random.default_rng(0).normal(size=(64, 3)))
    done = run(
        *("analyze", corpus, "-t", "chars", "-n", 20, "-d", 6, "--convention", "paper", "--estimator", "crossval"),
        *("--empty", "mask", "--min-depth", 5, "--folds", 4, "--metric", "hellinger-normalized", "--seed", 9),
        *("--encoding", "t.npy", "--encoding", "alibi:form=kernel", "--only", "--ranks", "2", "--workers", 3, "--json"),
    )
    document = json.loads(done.stdout)
    assert document["tokenizer"]["kind"] == "chars"
    assert (document["convention"], document["estimator"], document["empty_policy"]) == ("paper", "crossval", "mask")
    assert (document["min_depth"], document["n_folds"], document["seed"]) == (5, 4, 9)
    assert document["metric"] == "hellinger-normalized"
    assert [e["name"] for e in document["encodings"]] == ["t.npy", "alibi:form=kernel"]


def test_formats_columns_and_groups(run: Run, corpus: Path, tmp_path: Path) -> None:
    lines = corpus.read_text().splitlines()
    with (tmp_path / "c.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["id", "body", "author"], *([i, t, f"a{i % 9}"] for i, t in enumerate(lines))])
    pq.write_table(pa.table({"body": lines, "author": [f"a{i % 9}" for i in range(300)]}), tmp_path / "c.parquet")
    with gzip.open(tmp_path / "c.jsonl.gz", "wt") as stream:
        stream.writelines(json.dumps({"body": t, "author": f"a{i % 9}"}) + "\n" for i, t in enumerate(lines))
    results = []
    for name in ("c.csv", "c.parquet", "c.jsonl.gz"):
        done = run("analyze", name, "--column", "body", "--group", "author", "-n", 12, "-d", 8, "--json")
        document = json.loads(done.stdout)
        assert document["corpus"]["grouped_by"] == "author"
        results.append((document["spectrum"], document["encodings"]))
    assert results[0] == results[1] == results[2]


def test_standard_input(run: Run, corpus: Path) -> None:
    from_file = json.loads(run("analyze", corpus, "-n", 12, "-d", 8, "--json").stdout)
    piped = json.loads(run("analyze", "-", "-n", 12, "-d", 8, "--json", input=corpus.read_text()).stdout)
    assert piped["encodings"] == from_file["encodings"]
    assert piped["corpus"]["sources"] == ["-"]


def test_count_merge_and_analyze_counts(run: Run, corpus: Path, tmp_path: Path) -> None:
    lines = corpus.read_text().splitlines()
    (tmp_path / "a.txt").write_text("\n".join(lines[:100]))
    (tmp_path / "b.txt").write_text("\n".join(lines[100:]))
    for name in "ab":
        done = run("count", f"{name}.txt", "-n", 12, "-o", f"{name}.parquet")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"'{name}.parquet': 1" if name == "a" else "'b.parquet': 2")
    assert run("merge", "a.parquet", "b.parquet", "-o", "both.parquet").returncode == 0
    whole = json.loads(run("analyze", corpus, "-n", 12, "-d", 8, "--json").stdout)
    for counts in (["--counts", "both.parquet"], ["--counts", "a.parquet", "--counts", "b.parquet"]):
        document = json.loads(run("analyze", *counts, "-d", 8, "--json").stdout)
        assert document["encodings"] == whole["encodings"]
        assert document["vocab_size"] == whole["vocab_size"]
    refused(run("analyze", "--counts", "both.parquet", "-n", 5), "-n", "count again")
    refused(run("analyze", corpus, "--counts", "both.parquet"), "expected one of them")
    refused(run("merge", "a.parquet", "missing.parquet", "-o", "c.parquet"), "missing.parquet")
    refused(run("merge", "a.parquet", "./a.parquet", "-o", "c.parquet"), "named twice")
    assert not (tmp_path / "c.parquet").exists()


def test_demo(run: Run, tmp_path: Path) -> None:
    done = run("demo", "--out", "demo")
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert "Three regimes make a geometry of few dimensions" in text
    assert "Indentation makes the first columns unlike each other" in text
    assert run("demo", "--out", "demo", "--quiet").returncode == 0  # again, into the same place
    for name in ("synthetic", "source-lines"):
        assert json.loads((tmp_path / "demo" / name / "scores.json").read_text())["schema_version"] == 1
    source = json.loads((tmp_path / "demo" / "source-lines" / "scores.json").read_text())
    assert source["corpus"]["documents"] > 50_000
    assert source["tokenizer"]["kind"] == "chars"


def test_a_context_longer_than_any_document_is_no_error(run: Run, corpus: Path) -> None:
    document = json.loads(run("analyze", corpus, "-n", 1000, "-d", 8, "--json").stdout)
    assert document["n_positions"] == 1000
    assert document["n_positions_used"] == 10
    assert document["positions_empty"] == list(range(10, 1000))


def test_help_and_version(run: Run) -> None:
    for command in ("analyze", "count", "merge", "demo"):
        done = run(command, "--help")
        assert done.returncode == 0
        assert "Example" in done.stdout
    assert run("--version").stdout.startswith("posgeom 0")
    assert run("--help").returncode == 0
    bare = run()
    assert (bare.returncode, bare.stderr) == (2, "")
    assert "analyze" in bare.stdout


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["missing.txt"], ["'missing.txt'", "no such file"]),
        (["*.none"], ["*.none"]),
        ([], ["no corpus"]),
        (["empty.txt"], ["no documents in empty.txt"]),
        (["blank.txt"], ["all 3 documents in blank.txt are empty"]),
        (["binary.txt"], ["'binary.txt'", "binary"]),
        (["cut.parquet"], ["'cut.parquet'"]),
        (["cut.txt.gz"], ["'cut.txt.gz'"]),
        (["c.jsonl"], ["'c.jsonl'", "--column"]),
        (["c.jsonl", "--column", "nope"], ["'nope'", "'a'", "'b'"]),
        (["c.jsonl", "--column", "a", "--group", "nope"], ["'nope'"]),
        (["latin.txt"], ["'latin.txt'", "line 2", "--utf8-errors replace"]),
        (["corpus.txt", "-n", "1"], ["n = 1", "at least 2"]),
        (["corpus.txt", "-n", "0"], ["n = 0"]),
        (["corpus.txt", "-n", "many"], ["-n"]),
        (["corpus.txt", "-d", "0"], ["d = 0"]),
        (["corpus.txt", "-t", "./none.json"], ["'./none.json'", "-t takes"]),
        (["corpus.txt", "-t", "corpus.txt"], ["'corpus.txt' is not a tokenizer.json"]),
        (["corpus.txt", "--encoding", "flat.npy"], ["flat.npy", "expected (positions, dimensions)"]),
        (["corpus.txt", "--encoding", "short.npy"], ["short.npy", "3 rows"]),
        (["corpus.txt", "--encoding", "nan.npy"], ["nan.npy", "nan at row 1, column 0"]),
        (["corpus.txt", "--encoding", "none.npy"], ["none.npy"]),
        (["corpus.txt", "--encoding", "spiral"], ["no encoding 'spiral'", "sinusoidal"]),
        (["corpus.txt", "--metric", "cosine"], ["--metric"]),
        (["corpus.txt", "--metric", "fisher-rao", "--estimator", "crossval"], ["fisher-rao", "plugin"]),
        (["corpus.txt", "--min-depth", "0"], ["minimum depth 0"]),
        (["corpus.txt", "--min-depth", "100000"], ["lower --min-depth"]),
        (["corpus.txt", "--folds", "0"], ["0 folds"]),
        (["corpus.txt", "--folds", "1"], ["needs at least 2", "--estimator plugin"]),
        (["corpus.txt", "--ranks", "1,x"], ["--ranks '1,x'"]),
        (["corpus.txt", "--workers", "0"], ["0 workers"]),
        (["corpus.txt", "--only"], ["no encoding to score"]),
        (["corpus.txt", "--counts", "corpus.txt"], ["both a corpus and --counts"]),
        (["--counts", "corpus.txt"], ["corpus.txt"]),
        (["--counts", "."], ["cannot read counts from '.'", "directory"]),
        (["--counts", "none.parquet"], ["'none.parquet': No such file"]),
        (["--counts", "none.parquet", "--whole-files"], ["--whole-files was fixed when the counts were made"]),
        (["corpus.txt", "--seed", "-1"], ["seed -1"]),
        (["corpus.txt", "-d", "100000000"], ["d = 100000000"]),
        (["corpus.txt", "--encoding", "x\x1b[31m.npy"], ["no file", "\\x1b[31m.npy"]),
        (["\x1b[31m.txt"], ["\\x1b[31m.txt"]),
        (["corpus.txt", "--nonsense"], ["--nonsense"]),
        (["corpus.txt", "--format", "xml"], ["--format"]),
    ],
)
def test_bad_input(run: Run, corpus: Path, tmp_path: Path, arguments: list[str], parts: list[str]) -> None:
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "blank.txt").write_text("\n  \n\n")
    (tmp_path / "binary.txt").write_bytes(bytes(range(256)) * 9)
    (tmp_path / "latin.txt").write_bytes(b"fine\ncaf\xe9\n")
    (tmp_path / "c.jsonl").write_text('{"a": "x", "b": "y"}\n')
    pq.write_table(pa.table({"text": ["x"] * 99}), tmp_path / "cut.parquet")
    for name, content in (
        ("cut.parquet", (tmp_path / "cut.parquet").read_bytes()),
        ("cut.txt.gz", gzip.compress(b"some words\n" * 500)),
    ):
        (tmp_path / name).write_bytes(content[: len(content) - 12])
    np.save(tmp_path / "flat.npy", np.ones(200))
    np.save(tmp_path / "short.npy", np.ones((3, 2)))
    np.save(tmp_path / "nan.npy", np.array([[1.0, 2], [np.nan, 3]] * 100))
    before = visible(tmp_path)
    refused(run("analyze", *arguments, "--out", "new/run"), *parts)
    assert visible(tmp_path) == before


def test_output_that_cannot_be_written(run: Run, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    refused(run("analyze", corpus, "--out", "file"), "cannot write 'file'")
    refused(run("analyze", corpus, "--out", "file/below"), "cannot write")
    refused(run("analyze", corpus, "--out", "/proc/none"), "cannot write '/proc/none'")
    refused(run("count", corpus, "-o", "missing/c.parquet"), "cannot write 'missing/c.parquet'")
    refused(run("count", corpus, "-o", "."), "it is a directory")


@pytest.mark.parametrize("limit", [100, 2000, 5000])
def test_a_disk_that_fills_up_part_way(run: Run, corpus: Path, tmp_path: Path, limit: int) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    before = visible(tmp_path)
    refused(run("analyze", corpus, "-n", 12, "--out", "run", preexec_fn=small_files), "cannot write")
    assert visible(tmp_path) == before


def test_standard_output_that_is_full(run: Run, corpus: Path, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*ENTRY, "analyze", str(corpus), "--json"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "cannot write standard output: No space left on device" in done.stderr


def test_closed_streams(corpus: Path) -> None:
    entry = f"{sys.executable} -c 'from posgeom.cli.main import main; main()'"
    for line, code, out in (
        (f"{entry} analyze {corpus} >&-", 0, b""),
        (f"{entry} analyze {corpus} 2>&- | head -c 6", 0, b"corpus"),
        (f"{entry} analyze missing --json 2>&-", 2, b""),
    ):
        done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (code, out, b"")


@pytest.mark.parametrize("reader", ["head -c 10", "true"])
def test_a_reader_that_leaves(corpus: Path, reader: str) -> None:
    command = f"{sys.executable} -c 'from posgeom.cli.main import main; main()' analyze {corpus} --json | {reader}"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("wait", [0.0, 0.6])
def test_interruption_leaves_no_file(tmp_path: Path, which: signal.Signals, wait: float) -> None:
    """Killed while it reads an endless corpus from standard input."""
    process = subprocess.Popen(
        [*ENTRY, "analyze", "-", "--out", "run"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A test run in the background has SIGINT ignored, and its children would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdin is not None
    deadline = time.monotonic() + 60
    while not (tmp_path / "run").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.stdin.write(b"some words here\n" * 50_000)
    process.stdin.flush()
    time.sleep(wait)
    process.send_signal(which)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err) == (b"", b"posgeom: interrupted\n")
    assert visible(tmp_path) == []


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_an_8_bit_standard_output(run: Run, corpus: Path, tmp_path: Path, encoding: str) -> None:
    odd = tmp_path / "\u4e2d\u6587 [red]\x1b[2J.txt"
    odd.write_text(corpus.read_text())
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "TERM": "dumb"}
    done = run("analyze", odd, "-n", 12, "-d", 8, env=environment, encoding=encoding)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert "[red]" in done.stdout


def test_results_do_not_depend_on_workers_or_order(run: Run, corpus: Path, tmp_path: Path) -> None:
    lines = corpus.read_text().splitlines()
    (tmp_path / "shuffled.txt").write_text("\n".join(sorted(lines)))
    results = [
        json.loads(run("analyze", name, "-n", 12, "-d", 8, "--workers", workers, "--json").stdout)["encodings"]
        for name, workers in (("corpus.txt", 1), ("corpus.txt", 4), ("shuffled.txt", 2))
    ]
    assert results[0] == results[1] == results[2]


def test_tsv_without_header(run: Run, data_dir: Path) -> None:
    done = run(
        *("analyze", data_dir / "cola_train.tsv", "--no-header", "--column", 4, "-n", 16, "-d", 8, "--json"),
    )
    document = json.loads(done.stdout)
    assert document["corpus"]["documents"] == 8551
    assert document["corpus"]["columns"] == ["4"]


def test_file_names_that_are_not_unicode(run: Run, corpus: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "\udcff.npy", np.random.default_rng(0).normal(size=(12, 3)))
    assert run("count", corpus, "-n", 12, "-o", "\udcff.parquet").returncode == 0
    done = run("analyze", "--counts", "\udcff.parquet", "--encoding", "\udcff.npy", "--only", "--out", "\udcff")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "\udcff" / "scores.json").exists()


def test_nothing_is_printed_as_a_control_code(run: Run, corpus: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x\x1b[31m\n.npy", np.random.default_rng(0).normal(size=(12, 3)))
    done = run("analyze", corpus, "-n", 12, "--encoding", "x\x1b[31m\n.npy", "--only", "--out", "o\x1b[31m")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "\\x1b[31m\\n.npy" in done.stdout
