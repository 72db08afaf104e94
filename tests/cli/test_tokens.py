"""``posgeom tokens`` on a corpus, on counts and on a run."""

import json
from pathlib import Path

from tests.cli.helpers import Run, refused


def write_corpus(path: Path) -> Path:
    lines = [f"the {word} is {other} today" for word in ("cat", "dog", "sun") for other in "abcdefgh"]
    path.write_text("\n".join(line for line in lines for _ in range(12)) + "\n")
    return path


def test_a_corpus_its_counts_and_its_run_say_the_same(run: Run, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "a.txt")
    given = ["-n", 5, "--fold-by", "row", "--json"]
    done = run("tokens", corpus, *given)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    position = next(one for one in document["looked_at"] if one["kind"] == "position" and one["number"] == 0)
    best = max(position["tokens"], key=lambda row: row["share"])
    assert best["token"] == "the"
    assert (best["frequency"], best["elsewhere"]) == (1.0, 0.2)
    assert run("analyze", corpus, "-n", 5, "--fold-by", "row", "--out", "run", "--no-report").returncode == 0
    assert json.loads(run("tokens", "run", "--json").stdout) == document
    assert json.loads(run("tokens", "--counts", "run/counts.parquet", "--json").stdout) == document


def test_the_table_names_tokens_and_what_the_numbers_are(run: Run, tmp_path: Path) -> None:
    done = run("tokens", write_corpus(tmp_path / "a.txt"), "-n", 5, "--fold-by", "row", "--position", 0)
    assert done.returncode == 0, done.stderr
    assert "Position 0: squared distance from the centre" in done.stdout
    assert "told from noise" in done.stdout
    assert "the " in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_refusals(run: Run, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "a.txt")
    refused(run("tokens"), "no corpus")
    refused(run("tokens", corpus, "-n", 5, "--position", 17), "position 17 takes no part")
    refused(run("tokens", corpus, "-n", 5, "--tokens", 0), "--tokens", "expected at least 1")
    refused(run("tokens", corpus, "-n", 5, "--estimator", "plugin"), "cross-validated")
