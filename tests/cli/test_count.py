"""`posgeom count` and `posgeom merge`."""

import json
from pathlib import Path

from posgeom.corpus.storage import read_counts
from tests.cli.helpers import Run, refused
from tests.corpus.engines.helpers import make


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
    assert (len(counts.null), counts.null_seed) == (2, 3)
    document = json.loads(run("analyze", "--counts", "auto.parquet", "-d", 8, "--json").stdout)
    assert document["tokenizer"]["engines"][0].startswith("nanotoken")
    assert document["tokenizer"]["engine_notes"] == []
    refused(run("count", corpus, "--null", -1, "-o", "x.parquet"), "-1 null replicates: expected 0 to 1,000")
    refused(run("count", corpus, "--tokenizer-engine", "chunks", "-o", "x.parquet"), "has no part in the built-in")
    refused(run("analyze", "--counts", "auto.parquet", "--tokenizer-engine", "chunks"), "--tokenizer-engine was fixed")
    refused(run("count", corpus, "--tokenizer-engine", "warp", "-o", "x.parquet"), "warp")
    assert not (tmp_path / "x.parquet").exists()
