"""`posgeom count` and `posgeom merge`."""

import json
from pathlib import Path

import pytest
from safetensors import safe_open

from posgeom.counts.storage import read_counts
from tests.cli.helpers import Run, refused
from tests.tokenize.engines.helpers import make


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


@pytest.mark.slow
def test_long_documents_bins_and_leaks(run: Run, corpus: Path, tmp_path: Path) -> None:
    done = run("count", corpus, "-n", 10, "--full-length", "-o", "long.parquet")
    assert "300 documents (0 empty, 0 of less than 10 positions left out)" in done.stdout, done.stderr
    done = run("count", corpus, "-n", 9, "-o", "short.parquet")
    assert "note: Length: 100.0% of the documents are longer than n = 9 and were cut there." in done.stderr
    longer = corpus.read_text().splitlines()
    corpus.write_text("\n".join(["short one", *longer]))
    done = run("count", corpus, "-n", 10, "--min-length", 3, "-o", "some.parquet")
    assert "300 documents (0 empty, 1 of less than 3 positions left out)" in done.stdout, done.stderr
    refused(run("merge", "long.parquet", "some.parquet", "-o", "x.parquet"), "with minimum length 10 and 3")
    done = run("analyze", "--counts", "long.parquet", "--bins", "uniform:5", "-d", 8, "--out", "run")
    assert done.returncode == 0, done.stderr
    assert "bins       5 uniform, 2 positions wide, each at its centre; depth is tokens" in done.stdout
    assert "documents  of 10 positions or more; 0 shorter ones left out" in done.stdout
    document = json.loads((tmp_path / "run" / "scores.json").read_text())
    assert document["bins"] == {"kind": "uniform", "edges": [0, 2, 4, 6, 8, 10]}
    refused(run("analyze", "--counts", "run/counts.parquet", "--bins", "uniform:2"), "in bins (uniform:5) already")
    again = json.loads(run("analyze", "--counts", "run/counts.parquet", "-d", 8, "--json").stdout)
    assert again["encodings"] == document["encodings"]
    for arguments in (["long.parquet", "--bins", "uniform:5"], ["run/counts.parquet"]):
        done = run(
            "export", "mds:rank=2,missing=linear", "--counts", *arguments, "-d", 4, "-o", f"{len(arguments)}.npy"
        )
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "1.npy").read_bytes() == (tmp_path / "3.npy").read_bytes()
    with safe_open(str(tmp_path / "run" / "mds.safetensors"), "numpy") as tensors:
        assert json.loads(tensors.metadata()["posgeom"])["bin_edges"] == [0, 2, 4, 6, 8, 10]
    where = ["--counts", "run/counts.parquet", "-d", "4", "-o", "x.safetensors"]
    assert run("export", "mds:missing=linear", *where).returncode == 0
    with safe_open(str(tmp_path / "x.safetensors"), "numpy") as tensors:
        assert "[0, 2, 4, 6, 8, 10]" in str(tensors.metadata())
    (tmp_path / "x.safetensors").unlink()
    refused(run("export", "sinusoidal", "--bins", "uniform:5", "-o", "x.npy"), "--bins without --counts")
    (tmp_path / "family.txt").write_text(
        "\n".join(" ".join(["a long sentence of words"] * 5 + [str(i)]) for i in range(80))
    )
    done = run("count", "family.txt", "-o", "family.parquet")
    assert "note: Near-duplicates across folds: 83% of the passages of 12 tokens" in done.stderr
    assert "--fold-by" in run("analyze", "--counts", "family.parquet", "-d", 8, "--convention", "paper").stdout


def test_what_folds_are_by(run: Run, tmp_path: Path) -> None:
    (tmp_path / "short.csv").write_text("sentence,row\n" + "".join(f"w{i % 9} w{i % 4},{i // 2}\n" for i in range(200)))
    found = {}
    for fold_by in ("text", "row", "column:row"):
        done = run("count", "short.csv", "--column", "sentence", "-n", 2, "--fold-by", fold_by, "-o", "c.parquet")
        assert done.returncode == 0, done.stderr
        found[fold_by] = (read_counts(tmp_path / "c.parquet").grouped_by, done.stderr)
    assert found["text"][0] is None
    assert found["text"][1].startswith("note: Copies: 100% of the documents have a text that another has too")
    assert found["row"] == ("row", "")
    assert found["column:row"] == ("column:row", "")
    refused(run("analyze", "--counts", "c.parquet", "--fold-by", "row"), "--fold-by was fixed")
    refused(run("count", "short.csv", "--fold-by", "x", "-o", "x.parquet"), "no column 'x'", "--fold-by NAME")
    refused(run("count", "short.csv", "--fold-by", "", "-o", "x.parquet"), "fold_by '': expected text, row")
    refused(run("count", "short.csv", "--fold-by", "row", "--engine", "dask", "-o", "x.parquet"), "--engine local")
    assert not (tmp_path / "x.parquet").exists()


def test_engines_and_null_corpora(run: Run, corpus: Path, tmp_path: Path) -> None:
    make("bert").save(str(tmp_path / "tokenizer.json"))
    said = {}
    for engine in ("auto", "chunks", "reference"):
        done = run(
            "count", corpus, "-t", "tokenizer.json", "-n", 12, "-o", f"{engine}.parquet", "--tokenizer-engine", engine
        )
        assert done.returncode == 0, done.stderr
        said[engine] = done.stdout
    assert "ids by nanotoken" in said["auto"]
    assert "ids by chunks, tokenizers" in said["chunks"]
    assert "ids by tokenizers" in said["reference"]
    assert len({line.rsplit("sha256 ", 1)[1] for line in said.values()}) == 1
    done = run("count", corpus, "-n", 12, "--null", 2, "--seed", 3, "-o", "null.parquet")
    assert ", 2 null, " in done.stdout
    counts = read_counts(tmp_path / "null.parquet")
    assert (len(counts.null), counts.null_seed, counts.null_kind) == (2, 3, "rotate")
    assert run("count", corpus, "-n", 12, "--null", 2, "--null-kind", "permute", "-o", "other.parquet").returncode == 0
    assert read_counts(tmp_path / "other.parquet").null_kind == "permute"
    refused(run("merge", "null.parquet", "other.parquet", "-o", "x.parquet"), "kind of the null replicates 'rotate'")
    refused(run("count", corpus, "--null", 1, "--null-kind", "x", "-o", "x.parquet"), "--null-kind")
    document = json.loads(run("analyze", "--counts", "auto.parquet", "-d", 8, "--json").stdout)
    assert document["tokenizer"]["engines"][0].startswith("nanotoken")
    assert document["tokenizer"]["engine_notes"] == []
    refused(run("count", corpus, "--null", -1, "-o", "x.parquet"), "-1 null replicates: expected 0 to 1,000")
    refused(run("count", corpus, "--tokenizer-engine", "chunks", "-o", "x.parquet"), "has no part in the built-in")
    refused(run("analyze", "--counts", "auto.parquet", "--tokenizer-engine", "chunks"), "--tokenizer-engine was fixed")
    refused(run("count", corpus, "--tokenizer-engine", "warp", "-o", "x.parquet"), "warp")
    assert not (tmp_path / "x.parquet").exists()
