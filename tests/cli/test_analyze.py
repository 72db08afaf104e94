"""`posgeom analyze` as a user meets it: whole processes."""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.helpers import Run


def test_table(run: Run, corpus: Path) -> None:
    done = run("analyze", corpus, "-n", 12, "-d", 16)
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 100
    for part in ("300 documents (0 empty)", "sinusoidal", "mds:rank=1", "is not a better model", "n = 12"):
        assert part in " ".join(done.stdout.split())


@pytest.mark.slow
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


def test_without_intervals_and_with_null_corpora(run: Run, corpus: Path) -> None:
    small = ("-n", 12, "-d", 8, "--json")
    plain = json.loads(run("analyze", corpus, *small, "--no-intervals").stdout)
    known = json.loads(run("analyze", corpus, *small, "--level", 0.9, "--null", 3, "--null-kind", "permute").stdout)
    assert (plain["uncertainty"], plain["beyond_lengths"]) == (None, None)
    assert {str(row["intervals"]) for row in plain["encodings"]} == {"{}"}
    assert known["uncertainty"]["level"] == 0.9
    assert (known["beyond_lengths"]["null_kind"], known["beyond_lengths"]["n_null"]) == ("permute", 3)
    assert "pearson" in known["encodings"][0]["intervals"]
    for without, row in zip(plain["encodings"], known["encodings"], strict=True):
        assert without | {"intervals": row["intervals"]} == row


def test_formats_columns_and_groups(run: Run, corpus: Path, tmp_path: Path) -> None:
    lines = corpus.read_text().splitlines()
    with (tmp_path / "c.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["id", "body", "author"], *([i, t, f"a{i % 9}"] for i, t in enumerate(lines))])
    pq.write_table(pa.table({"body": lines, "author": [f"a{i % 9}" for i in range(300)]}), tmp_path / "c.parquet")
    with gzip.open(tmp_path / "c.jsonl.gz", "wt") as stream:
        stream.writelines(json.dumps({"body": t, "author": f"a{i % 9}"}) + "\n" for i, t in enumerate(lines))
    results = []
    for name in ("c.csv", "c.parquet", "c.jsonl.gz"):
        done = run("analyze", name, "--column", "body", "--fold-by", "author", "-n", 12, "-d", 8, "--json")
        document = json.loads(done.stdout)
        assert document["corpus"]["grouped_by"] == "author"
        results.append((document["spectrum"], document["encodings"]))
    assert results[0] == results[1] == results[2]


def test_standard_input(run: Run, corpus: Path) -> None:
    from_file = json.loads(run("analyze", corpus, "-n", 12, "-d", 8, "--json").stdout)
    piped = json.loads(run("analyze", "-", "-n", 12, "-d", 8, "--json", input=corpus.read_text()).stdout)
    assert piped["encodings"] == from_file["encodings"]
    assert piped["corpus"]["sources"] == ["-"]


def test_a_context_longer_than_any_document_is_no_error(run: Run, corpus: Path) -> None:
    document = json.loads(run("analyze", corpus, "-n", 1000, "-d", 8, "--json").stdout)
    assert document["n_positions"] == 1000
    assert document["n_positions_used"] == 10
    assert document["positions_empty"] == list(range(10, 1000))


@pytest.mark.slow
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


@pytest.mark.slow
def test_file_names_that_are_not_unicode(run: Run, corpus: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "\udcff.npy", np.random.default_rng(0).normal(size=(12, 3)))
    assert run("count", corpus, "-n", 12, "-o", "\udcff.parquet").returncode == 0
    done = run("analyze", "--counts", "\udcff.parquet", "--encoding", "\udcff.npy", "--only", "--out", "\udcff")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "\udcff" / "scores.json").exists()


@pytest.mark.slow
def test_nothing_is_printed_as_a_control_code(run: Run, corpus: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x\x1b[31m\n.npy", np.random.default_rng(0).normal(size=(12, 3)))
    done = run("analyze", corpus, "-n", 12, "--encoding", "x\x1b[31m\n.npy", "--only", "--out", "o\x1b[31m")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "\\x1b[31m\\n.npy" in done.stdout
