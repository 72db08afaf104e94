"""`posgeom count` and `posgeom merge`."""

import json
from pathlib import Path

from tests.cli.helpers import Run, refused


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
