"""Bad input and bad places for output: one line, exit code 2, nothing half-written."""

import gzip
import resource
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.helpers import Run, refused, visible


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
        (["c.jsonl", "--column", "a", "--fold-by", "nope"], ["'nope'"]),
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
        (["corpus.txt", "--bins", "many"], ["bins 'many'", "as in uniform:32"]),
        (["corpus.txt", "-n", "8", "--bins", "uniform:9"], ["9 bins of n = 8 positions: expected 2 to 8"]),
        (["corpus.txt", "--bins", "uniform:1"], ["1 bins", "expected 2 to 512"]),
        (
            ["corpus.txt", "-n", "128", "--full-length"],
            ["all 300 documents in corpus.txt take fewer than 128", "--full-"],
        ),
        (
            ["corpus.txt", "-n", "9", "--min-length", "10"],
            ["minimum length 10: expected 1 to the context length n = 9"],
        ),
        (["corpus.txt", "--min-length", "3", "--full-length"], ["both --min-length and --full-length"]),
        (["--counts", "none.parquet", "--full-length"], ["--full-length was fixed when the counts were made"]),
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


@pytest.mark.slow
@pytest.mark.parametrize("limit", [100, 2000, 5000])
def test_a_disk_that_fills_up_part_way(run_process: Run, corpus: Path, tmp_path: Path, limit: int) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    before = visible(tmp_path)
    refused(run_process("analyze", corpus, "-n", 12, "--out", "run", preexec_fn=small_files), "cannot write")
    assert visible(tmp_path) == before
