"""`posgeom train` and `posgeom reproduce --train`."""

import json
from pathlib import Path

import pytest

from tests.cli.helpers import Run, refused
from tests.training.corpora import write_corpus, write_tokenizer

pytestmark = pytest.mark.models
SHORT = ("--steps", 4, "--batch-size", 16, "-n", 12, "--schedule", "0,2")


@pytest.fixture
def words(tmp_path: Path) -> Path:
    return write_corpus(tmp_path, n_documents=700)


@pytest.fixture
def vocabulary(tmp_path: Path) -> Path:
    return write_tokenizer(tmp_path)


def test_train_and_report(run: Run, words: Path, vocabulary: Path, tmp_path: Path) -> None:
    done = run("train", words, "--column", "text", "-t", vocabulary, *SHORT, "--out", "one")
    assert done.returncode == 0, done.stderr
    for part in ("from scratch; positions: default", "H3: M sees", "do not predict performance", "written to 'one'"):
        assert part in " ".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert {"run.json", "steps.parquet", "model"} <= {path.name for path in (tmp_path / "one").iterdir()}
    again = run("train", words, "--column", "text", "-t", vocabulary, *SHORT, "--out", "one")
    refused(again, "'one' holds a run that has ended")
    labels = ("--task", "label", "--label", "label", "-e", "sinusoidal", "--frozen")
    done = run("train", words, "--column", "text", "-t", vocabulary, *labels, *SHORT, "--out", "two", "--json")
    document = json.loads(done.stdout)
    assert [record["step"] for record in document["records"]] == [0, 2, 4]
    assert document == json.loads((tmp_path / "two" / "run.json").read_text())
    assert run("report", "one", "two", "-o", "both.html").returncode == 0
    assert "one, two" in (tmp_path / "both.html").read_text()


def test_refusals(run: Run, words: Path, vocabulary: Path) -> None:
    given = ("train", words, "--column", "text", "-t", vocabulary)
    refused(run("train", words, "--column", "text"), "give -t")
    refused(run(*given, "--task", "label"), "--label NAME")
    refused(run(*given, "--schedule", "1,x"), "--schedule '1,x': expected steps such as 0,50,100")
    refused(run(*given, "-e", "alibi:form=kernel"), "distances but no vectors")
    refused(run(*given, "--model", "nothing/here/at/all"), "cannot be loaded by transformers")
    refused(run("reproduce", "fig5", "--train", "tiny"), "--train needs SST-2 with its labels")


def test_reproduce_reads_runs_that_were_trained(run: Run, words: Path, vocabulary: Path, tmp_path: Path) -> None:
    options = ("--task", "label", "--label", "label", "--column", "text", "-t", vocabulary, *SHORT)
    assert run("train", words, *options, "-n", 128, "--out", "training/scratch", "--no-report").returncode == 0
    done = run("reproduce", "fig5", "--sst2", words, "-t", vocabulary, "--train", "tiny", "--seeds", 2, "--json")
    assert done.returncode == 0, done.stderr
    item = json.loads(done.stdout)["items"][0]
    rows = {row["quantity"]: row for row in item["rows"]}
    stored = json.loads((tmp_path / "training" / "scratch" / "run.json").read_text())["records"]
    assert rows["separation, scratch, at first"]["ours"]["value"] == stored[0]["min_separation"]
    assert rows["separation, scratch, at first"]["verdict"] == "not comparable"
    assert rows["separation, fine-tuned, at first"]["verdict"] == "not run"
    assert [line["x"] for line in item["panels"][0]["series"]] == [[0, 2, 4]]
    refused(
        run("reproduce", "fig5", "--sst2", words, "-t", vocabulary, "--train", "tiny", "--seed", 1),
        "holds a run of another preset or seed",
    )
