"""`--engine dask` of `posgeom count` and `posgeom analyze`."""

from pathlib import Path

import pytest

from tests.cli.helpers import Run, refused, visible

pytestmark = pytest.mark.cluster


def test_count_writes_the_same_file_and_cleans_up(run: Run, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    corpus = corpus.rename(tmp_path / "in" / "corpus.txt")
    local = run("count", corpus, "-n", 12, "-o", "local.parquet")
    dask = run("count", corpus, "-n", 12, "-o", "dask.parquet", "--engine", "dask", "--partition-size", "2kB")
    assert dask.returncode == 0, dask.stderr
    assert dask.stderr == ""
    assert dask.stdout == local.stdout.replace("local", "dask")
    assert (tmp_path / "dask.parquet").read_bytes() == (tmp_path / "local.parquet").read_bytes()
    assert visible(tmp_path) == ["corpus.txt", "dask.parquet", "in", "local.parquet"]


def test_analyze_says_what_it_keeps(run: Run, corpus: Path, tmp_path: Path) -> None:
    options = ["-n", 12, "-d", 8, "--engine", "dask", "--workers", 1, "--run-dir", "run"]
    done = run("analyze", corpus, *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("partial counts are kept in 'run'\n")
    assert (tmp_path / "run/manifest.json").exists()
    refused(run("count", corpus, "-n", 13, *options[2:2], *options[4:], "-o", "x.parquet"), "context length n '12'")


def test_what_makes_no_sense_is_refused_and_leaves_nothing(run: Run, corpus: Path, tmp_path: Path) -> None:
    count = ["count", corpus, "-o", "x.parquet"]
    refused(run(*count, "--scheduler", "tcp://x:1"), "add --engine dask")
    refused(run(*count, "--engine", "dask", "--partition-size", "big"), "as in 64MiB")
    refused(run(*count, "--engine", "dask", "--scheduler", "x", "--workers", 2), "leave --workers out")
    refused(run(*count, "--engine", "dask", "--run-dir", corpus), "it is a file")
    refused(run("count", "-", "-o", "x.parquet", "--engine", "dask"), "expected a file for engine 'dask'")
    refused(run("analyze", corpus, "--engine", "dask", "--scheduler", "x"), "with --run-dir")
    refused(run("analyze", "--counts", "x.parquet", "--engine", "dask"), "--engine was fixed")
    (tmp_path / "broken.txt").write_bytes(b"a\nb \xff\n")
    poisoned = run("count", "broken.txt", "-o", "x.parquet", "--engine", "dask", "--workers", 1)
    refused(poisoned, "'broken.txt', line 2: invalid UTF-8")
    assert visible(tmp_path) == ["broken.txt", "corpus.txt"]
