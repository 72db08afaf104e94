"""The ledger: every claim has a row, a verdict comes from a run, and what is missing is said."""

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posgeom.errors import GeometryError, PosgeomError
from posgeom.estimation.metrics import METRICS
from posgeom.paper.inputs import Inputs, PaperFiles, open_inputs
from posgeom.paper.measured import Measured
from posgeom.scores.stress import Stress
from posgeom.theory import kernel_claims
from posgeom.theory.bounds import STATEMENTS, Statement
from posgeom.theory.claims import CLAIMS, ledger
from posgeom.theory.evidence import Evidence
from posgeom.theory.stationary_families import FAMILIES, stationary_families
from posgeom.theory.verdict import Finding, Verdict, plain
from tests.models.raw import bert_tensors, save_bert

BOUNDS = import_module("posgeom.theory.bounds")  # whose name in the package is that of the function
WITHOUT_INPUT = {
    **dict.fromkeys((7, 17), Verdict.SCALE),
    **dict.fromkeys((9, 10, 11, 12, 14, 18, 23, 29, 30, 34, 36), Verdict.FALSE),
    **dict.fromkeys((13, 32, 33, 35), Verdict.CONVENTION),
    31: Verdict.HOLDS,
}
"""Verdicts that need nothing but synthetic corpora; the others are not run."""
MADE_OF_RUNS = (2, 4, 8, 37, 38)


def verdicts(evidence: Evidence, *numbers: int) -> dict[int, Verdict]:
    return {row.claim.number: row.finding.verdict for row in ledger(evidence, numbers).rows}


@pytest.fixture(scope="module")
def nothing() -> Evidence:
    return Evidence(open_inputs(n_seeds=3))


@pytest.fixture(scope="module")
def something(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """A corpus that drifts at its begin in place of both, and a small model with its vocabulary."""
    folder = tmp_path_factory.mktemp("given")
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(40)]
    lines = []
    for _ in range(3000):
        start, rest = rng.choice(words[:8], 2), rng.choice(words, 10)
        lines.append(" ".join([*start, *rest]))
    corpus = folder / "corpus.txt"
    corpus.write_text("\n".join(lines))
    vocabulary = {"[UNK]": 0} | {word: k + 1 for k, word in enumerate(words)}
    tokenizer = folder / "tokenizer.json"
    model = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}
    tokenizer.write_text(json.dumps({"model": model, "pre_tokenizer": {"type": "Whitespace"}, "added_tokens": []}))
    tensors = bert_tensors(n_positions=128)
    tensors["embeddings.word_embeddings.weight"] = rng.standard_normal((41, 128)).astype(np.float32)
    bert = save_bert(folder / "bert", tensors, max_position_embeddings=128)
    inputs = open_inputs(PaperFiles(sst2=corpus, imdb=corpus, tokenizer=tokenizer, model=bert), n_seeds=2)
    return Evidence(inputs, str(bert))


def test_every_claim_has_its_number_and_its_words() -> None:
    assert [claim.number for claim in CLAIMS] == list(range(1, 39))
    assert len({claim.text for claim in CLAIMS}) == 38
    assert all(claim.check.__doc__ and claim.section for claim in CLAIMS)
    with pytest.raises(PosgeomError, match="no claim 39"):
        ledger(Evidence(), [39])


@pytest.mark.slow
def test_without_input_the_rest_is_not_run_and_says_why(nothing: Evidence) -> None:
    document = ledger(nothing, [n for n in range(1, 39) if n != 6]).to_dict()
    json.dumps(document, allow_nan=False)
    assert len(document["claims"]) == 37
    for row in document["claims"]:
        assert row["verdict"] == str(WITHOUT_INPUT.get(row["number"], Verdict.NOT_RUN)), row
        assert row["because"][0] != row["because"][0].lower() or not row["because"][0].isalpha()
        assert row["because"].endswith(".")
        assert row["command"].startswith(f"posgeom claims {row['number']}")
        if row["verdict"] == Verdict.NOT_RUN:
            assert "--" in row["because"]
            assert "--" in row["command"]


@pytest.mark.slow
def test_a_corpus_and_a_model_leave_only_what_needs_training(something: Evidence) -> None:
    numbers = [claim.number for claim in CLAIMS if claim.number not in (1, 6)]  # these run torch
    rows = {row.claim.number: row for row in ledger(something, numbers).rows}
    not_run = {number for number, row in rows.items() if row.finding.verdict is Verdict.NOT_RUN}
    assert not_run == {*MADE_OF_RUNS, 25}  # and the weights of BERT-base
    assert rows[3].finding.verdict is Verdict.NOISE
    assert rows[5].finding.verdict is Verdict.HOLDS
    assert rows[32].finding.verdict is Verdict.HOLDS
    assert rows[15].finding.verdict is Verdict.NOISE
    assert rows[19].finding.verdict is Verdict.HOLDS
    assert rows[26].finding.verdict is Verdict.CONVENTION
    assert "another corpus than the paper's" in rows[15].finding.because
    assert "another" not in rows[9].finding.because


@pytest.mark.models
@pytest.mark.slow
def test_claims_that_run_a_model(tmp_path: Path) -> None:
    from tests.models.small import build, save

    place = str(save(build("bert"), tmp_path / "bert"))
    rows = ledger(Evidence(open_inputs(PaperFiles(model=place), n_seeds=2), place), [1, 6]).rows
    assert [row.finding.verdict for row in rows] == [Verdict.HOLDS, Verdict.NOT_TESTABLE], rows[1].finding
    assert rows[0].finding.numbers["kept"] > 1e6 * rows[0].finding.numbers["removed"]


def test_verdicts_follow_the_numbers(nothing: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    """Break what is behind a verdict, and it is another."""
    monkeypatch.setitem(METRICS, "hellinger", METRICS["fisher-rao"])
    fresh = Evidence(nothing.inputs)
    assert verdicts(fresh, 9, 10) == {9: Verdict.HOLDS, 10: Verdict.HOLDS}
    monkeypatch.setattr(kernel_claims, "INCREASING", "exp(-d^2)")
    assert verdicts(fresh, 29) == {29: Verdict.HOLDS}
    generous = Statement("KL <= 100 d", "", STATEMENTS["kl_above"].left, lambda s: np.full_like(s["d"], 1e9))
    monkeypatch.setattr(BOUNDS, "STATEMENTS", {**STATEMENTS, "kl_above": generous})
    monkeypatch.setattr(BOUNDS, "search_counterexample", lambda _: None)
    assert verdicts(Evidence(nothing.inputs), 30) == {30: Verdict.HOLDS}
    wrong = Statement("d^2 <= KL / 2", "", STATEMENTS["kl_below"].left, lambda s: s["kl"] / 4)
    monkeypatch.setattr(BOUNDS, "STATEMENTS", {**STATEMENTS, "kl_below": wrong})
    assert verdicts(Evidence(nothing.inputs), 31) == {31: Verdict.FALSE}


def test_families_decide_the_claims_on_stationarity(nothing: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    linear = {"linear": FAMILIES["linear"]}
    check = stationary_families((32, 64), families=linear)
    evidence = Evidence(nothing.inputs)
    monkeypatch.setitem(evidence.__dict__, "families", check)
    assert verdicts(evidence, 13, 18) == {13: Verdict.FALSE, 18: Verdict.HOLDS}


def test_stress_that_grows_exponentially_would_be_seen(nothing: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Measured.stress

    def exponential(subject: Measured, spec: str, n_dims: int, seed: int | None = None) -> Stress:
        return replace(real(subject, spec, n_dims, seed), raw=float(np.exp(n_dims / 100)))

    monkeypatch.setattr(Measured, "stress", exponential)
    assert verdicts(nothing, 23) == {23: Verdict.HOLDS}


def test_an_error_of_a_check_is_its_reason(nothing: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(evidence: Evidence) -> Finding:
        raise GeometryError("no such thing")

    monkeypatch.setattr("posgeom.theory.claims.CLAIMS", (type(CLAIMS[0])(1, "3", "text", fails),))
    (row,) = ledger(nothing).rows
    assert row.finding == Finding(Verdict.NOT_RUN, "No such thing.")


def run_of(encoding: str = "default", **changes: Any) -> dict[str, Any]:
    """A document as `posgeom train` writes it, in the parts that claims read."""
    first = {"min_separation": 0.7, "alignment": 0.1, "accuracy": 0.5, "accuracy_error": 0.01}
    last = {
        "min_separation": 0.7,
        "stress_raw": 2.0,
        "accuracy": 0.5,
        "accuracy_error": 0.01,
        "h2": 0,
        "h2_pairs": 16,
        "alignment": 0.4,
        "alignment_high": 0.5,
    }
    first["min_separation"] = changes.pop("start", 0.7)
    options = {"encoding": encoding, "model": None, "rank": None}
    for name, value in changes.items():
        (options if name in options else last)[name] = value
    return {"task": {"name": "order", "chance": 0.5}, "options": options, "records": [first, last]}


@pytest.mark.parametrize(
    ("number", "runs", "expected"),
    [
        (2, [run_of("none"), run_of(accuracy=0.9)], Verdict.HOLDS),
        (2, [run_of("none", accuracy=0.6)], Verdict.FALSE),
        (2, [run_of("none"), run_of()], Verdict.NOT_TESTABLE),
        (4, [run_of(accuracy=0.9)], Verdict.FALSE),
        (4, [run_of(h2=16, accuracy=0.9)], Verdict.HOLDS),
        (4, [run_of(h2=16)], Verdict.NOT_RUN),
        (4, [run_of(h2=None, h2_pairs=None, accuracy=0.9)], Verdict.NOT_RUN),
        (8, [run_of(model="bert", min_separation=0.703)], Verdict.HOLDS),
        (8, [run_of(model="bert", min_separation=0.8)], Verdict.FALSE),
        (8, [run_of()], Verdict.NOT_RUN),
        (8, [run_of("none", model="bert", start=0.0)], Verdict.NOT_RUN),
        (37, [run_of(stress_raw=1.0, accuracy=0.6), run_of("rope", accuracy=0.9)], Verdict.HOLDS),
        (37, [run_of(stress_raw=1.0, accuracy=0.9), run_of("rope", accuracy=0.6)], Verdict.NOT_TESTABLE),
        (37, [run_of(stress_raw=1.0, accuracy=0.6), run_of("rope", accuracy=0.61)], Verdict.NOT_TESTABLE),
        (37, [run_of(), run_of("rope", stress_raw=1.0)], Verdict.NOT_RUN),
        (38, [run_of(rank=4)], Verdict.NOT_TESTABLE),
        (38, [run_of(rank=4, alignment=0.99, alignment_high=1.01)], Verdict.HOLDS),
        (38, [run_of(rank=4, alignment=None)], Verdict.NOT_RUN),
    ],
)
def test_claims_about_training_read_runs(number: int, runs: list[dict[str, Any]], expected: Verdict) -> None:
    inputs = Inputs(runs={str(k): run for k, run in enumerate(runs)})
    assert verdicts(Evidence(inputs), number) == {number: expected}


def test_what_json_holds() -> None:
    assert plain({"a": np.array([1.0, np.nan]), "b": (np.int64(2), Verdict.FALSE)}) == {
        "a": [1.0, None],
        "b": [2, "false"],
    }
