"""`posgeom theory` and `posgeom claims` on the command line: what they print, and what they refuse."""

import json
from pathlib import Path

import numpy as np
import pytest

from posgeom.counts.storage import write_counts
from posgeom.theory.verdict import VERDICTS
from tests.cli.helpers import posgeom, refused
from tests.models.raw import bert_tensors, save_bert
from tests.theory.helpers import drifting, sampled


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("theory") / "counts.parquet"
    write_counts(sampled(drifting(), 400), path)
    return path


CHECKS = {
    "stationarity": "share of the lag",
    "parametrisation": "ALiBi's line",
    "bounds": "KL <= 2 sqrt 2 d",
    "monotonicity": "MDS of rank 1",
    "mds": "stress, SMACOF",
}


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_of_counts(name: str, counts: Path, tmp_path: Path) -> None:
    done = posgeom("theory", name, "--counts", counts, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert CHECKS[name].replace(" ", "") in done.stdout.replace(" ", "").replace("\n", "")
    assert any(f"\n{verdict}: " in done.stdout for verdict in VERDICTS)
    document = json.loads(posgeom("theory", name, "--counts", counts, "--json", cwd=tmp_path).stdout)
    assert document["verdict"] in list(VERDICTS)
    assert document["because"] in " ".join(done.stdout.split())


@pytest.mark.slow
def test_all_of_them_at_once(counts: Path, tmp_path: Path) -> None:
    document = json.loads(posgeom("theory", "all", "--counts", counts, "--json", cwd=tmp_path).stdout)
    assert document.keys() >= {*CHECKS, "ntk", "isometry"}
    for name in CHECKS:
        one = json.loads(posgeom("theory", name, "--counts", counts, "--json", cwd=tmp_path).stdout)
        assert document[name] == one
    printed = posgeom("theory", "all", "--counts", counts, cwd=tmp_path)
    assert printed.returncode == 0
    assert all(f"\n{name}\n" in f"\n{printed.stdout}" for name in document)


def test_what_needs_no_corpus(tmp_path: Path) -> None:
    assert "4.503" in posgeom("theory", "bounds", cwd=tmp_path).stdout
    assert "Fisher-Rao" in posgeom("theory", "isometry", cwd=tmp_path).stdout
    assert "SMACOF" in posgeom("theory", "mds", cwd=tmp_path).stdout


def test_embeddings_of_a_model(counts: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = {"embeddings.word_embeddings.weight": rng.standard_normal((30, 128)).astype(np.float32)}
    model = save_bert(tmp_path / "bert", bert_tensors() | table)
    own, random = (
        json.loads(posgeom("theory", "bounds", "--counts", counts, *words, "--json", cwd=tmp_path).stdout)
        for words in (("--model", model), ())
    )
    assert own["inequalities"][-1]["left"] != random["inequalities"][-1]["left"]
    refused(posgeom("theory", "bounds", "--model", model, cwd=tmp_path), "no corpus")
    bare = save_bert(tmp_path / "bare")
    refused(posgeom("theory", "bounds", "--counts", counts, "--model", bare, cwd=tmp_path), "no token embeddings")


def test_a_corpus_and_encodings(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(f"a b c d {k % 5} {k % 7} {k % 3}" for k in range(400)))
    done = posgeom("theory", "monotonicity", "a.txt", "-n", 8, "--encoding", "alibi", "-d", 8, cwd=tmp_path)
    assert "alibi" in done.stdout, done.stderr


def test_what_is_refused(counts: Path, tmp_path: Path) -> None:
    refused(posgeom("theory", "stationarity", "--counts", counts, "a.txt", cwd=tmp_path), "both a corpus and --counts")
    refused(posgeom("theory", "monotonicity", cwd=tmp_path), "no corpus")
    refused(posgeom("theory", "bounds", "--counts", counts, "-n", 9, cwd=tmp_path), "fixed when the counts were made")
    refused(posgeom("theory", "bounds", "--floor", 2, cwd=tmp_path), "least probability")
    refused(posgeom("theory", "parametrisation", "--counts", counts, "--loss", 3, cwd=tmp_path), "between 0 and 1")
    refused(posgeom("claims", 77, cwd=tmp_path), "no claim 77")
    refused(posgeom("claims", "--run", tmp_path, cwd=tmp_path), "run.json")
    refused(posgeom("claims", 1, "--sst2", "none.parquet", cwd=tmp_path), "none.parquet")


def test_the_ledger_is_printed_and_written(tmp_path: Path) -> None:
    done = posgeom("claims", 7, 9, 25, "--out", "here", "--seeds", 2, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Of 3 claims: artefact of scale: 1, false: 1, not run: 1." in done.stdout
    document = json.loads((tmp_path / "here" / "claims.json").read_text())
    assert [row["number"] for row in document["claims"]] == [7, 9, 25]
    page = (tmp_path / "here" / "claims.md").read_text()
    assert "| 9 | 5.2 | d_H is the geodesic" in page
    assert "`posgeom claims 25 --model MODEL --scratch MODEL`" in page
    printed = json.loads(posgeom("claims", 7, 9, 25, "--json", "--seeds", 2, cwd=tmp_path).stdout)
    assert printed == document


@pytest.mark.slow
def test_the_reproduction_has_the_claims_where_they_are_asked_for(tmp_path: Path) -> None:
    done = posgeom("reproduce", "table2", "--claims", "--seeds", 2, "--out", "here", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Of 38 claims: " in done.stdout
    assert len(json.loads((tmp_path / "here" / "reproduce.json").read_text())["claims"]["claims"]) == 38
    assert "What the paper claims" in (tmp_path / "here" / "reproduce.html").read_text()
