"""What is told, tabled and drawn of runs of training."""

import re
from pathlib import Path

import pytest

from posgeom.errors import RunError
from posgeom.report.figures import figure_of
from posgeom.report.page import render_page
from posgeom.report.run import read_run
from posgeom.report.training import training_findings, training_lead, training_tables
from tests.report.training_runs import record, run_document, write_run


def test_findings_have_interval_estimator_and_sample() -> None:
    separation, nearness, learned = training_findings(run_document())
    assert "of 4 positions is 0.3 at step 0 and 0.32 at step 20 (2 steps looked at), and is positive" in separation
    assert "(crossval distances of 3 positions, 10 documents)" in nearness
    assert "to 0.250 (95% interval 0.200 to 0.300); the table has moved by 40.0% of its norm" in nearness
    # .7 +- 1.96 * .02
    assert "On 2 held-out documents" in learned
    assert "accuracy to 70.0% (95% interval 66.1% to 73.9%, of one run), where the best constant answer" in learned


def test_positions_that_are_one_are_said_to_be() -> None:
    records = [record(0), record(20, min_separation=0.0, closest_i=0, closest_j=3)]
    assert "is 0 at step 20: positions 0 and 3 have one vector" in training_findings(run_document(records=records))[0]


def test_what_is_undefined_is_said_to_be() -> None:
    undefined = {"alignment": None, "alignment_low": None, "alignment_high": None, "moved": None}
    document = run_document(records=[record(0, **undefined), record(20, **undefined)], geometry=None)
    assert training_findings(document)[1] == "Alignment with the documents trained on is undefined."
    records, theorem = training_tables(document)
    assert [row[3].text for row in records.rows] == [None, None]
    assert theorem.rows[0][2].text is None  # H2 was not tested
    assert theorem.rows[0][1].text == "3 of 6"


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({}, "positions: default, learned on; task order"),
        ({"encoding": "fit", "frozen": True, "rank": 3}, "positions: fit, frozen as a product of rank 3; task order"),
        ({"encoding": "none"}, "positions: none; task order"),
    ],
)
def test_what_was_trained_is_told(chosen: dict[str, object], told: str) -> None:
    document = run_document()
    assert told in training_lead(document | {"options": document["options"] | chosen})


@pytest.mark.parametrize("kind", ["separation", "alignment-steps", "loss"])
def test_figures(tmp_path: Path, kind: str) -> None:
    figure = figure_of(read_run(write_run(tmp_path / "run")), kind)
    assert [row["step"] for row in figure.table] == [0, 20]
    values = {"separation": "min_separation", "alignment-steps": "alignment", "loss": "loss"}
    assert [row[values[kind]] for row in figure.table] == [record(step)[values[kind]] for step in (0, 20)]


def test_a_page_of_one_run_and_of_several(tmp_path: Path) -> None:
    one, other = (read_run(write_run(tmp_path / name)) for name in ("scratch", "tuned"))
    page = render_page([one])
    assert "Positions along training on corpus.jsonl" in page
    assert "a note &lt;b&gt;" in page
    assert "They are diagnostics: a more faithful encoding is not a better model" in page
    both = render_page([one, other])
    assert len(re.findall(r'data-chart="', both)) == len(re.findall(r'data-chart="', page)) == 3
    assert both.count("Theorem 4 along training") >= 2


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"records": [record(0, loss=None)]}, r"run\.json'\.records\[0\]\.loss is 'None': expected a number"),
        ({"schema_version": 1}, "has schema_version 1"),
        ({"records": []}, "has no records"),
    ],
)
def test_damaged_runs_are_refused(tmp_path: Path, changed: dict[str, object], message: str) -> None:
    with pytest.raises(RunError, match=message):
        read_run(write_run(tmp_path / "run", **changed))
