"""``posgeom compare`` on stored runs, and what is wrong with them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import posgeom as pg
from posgeom.errors import RunError
from posgeom.report.replicates import read_scored
from posgeom.report.run import read_run
from posgeom.studies.synthetic import synthetic
from tests.cli.helpers import posgeom


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs")
    same, other = synthetic().counts, synthetic(seed=1).counts
    for name, counts, n_dims in (("a", same, 16), ("wide", same, 64), ("other", other, 16)):
        pg.save(pg.analyze(counts, n_dims=n_dims, ranks=[2]), place / name)
    pg.save(pg.analyze(same, n_dims=16, ranks=[2], level=None), place / "bare")
    return place


def test_encodings_of_one_run(runs: Path) -> None:
    done = posgeom("compare", "a", cwd=runs)
    assert done.returncode == 0
    assert max(len(line) for line in done.stdout.splitlines()) <= 100
    assert "reference" in done.stdout
    assert "is not a better model" in " ".join(done.stdout.split())
    document = json.loads(posgeom("compare", "a", "--against", "alibi", "--json", cwd=runs).stdout)
    rows = {row["encoding"]: row for row in document["rows"]}
    assert rows["alibi"]["difference"] is None
    known = read_run(runs / "a")
    assert known.scores is not None
    stored = {row["name"]: row for row in known.scores["encodings"]}
    for name, row in rows.items():
        assert row["value"] == stored[name]["stress_scaled"]
        if name != "alibi":
            gap = stored[name]["stress_scaled"] - stored["alibi"]["stress_scaled"]
            assert row["difference"]["value"] == pytest.approx(gap)
            assert row["difference"]["paired"]


def test_the_difference_is_that_of_the_scorecard(runs: Path) -> None:
    card = pg.analyze(synthetic().counts, n_dims=16, ranks=[2]).scorecard
    document = json.loads(posgeom("compare", "a", "--against", "alibi", "--json", cwd=runs).stdout)
    found = {row["encoding"]: row["difference"] for row in document["rows"]}
    assert {"random", "mds"} <= set(found)  # one that is fixed, one that is fitted
    for name in set(found) - {"alibi"}:
        known = card.difference(name, "alibi")
        assert known.interval is not None
        assert found[name]["interval"]["standard_error"] == pytest.approx(known.interval.standard_error)
        assert found[name]["confidence"] == pytest.approx(known.confidence)


def test_runs_of_one_corpus_are_paired_and_others_are_not(runs: Path) -> None:
    for other, paired in (("wide", True), ("other", False)):
        document = json.loads(posgeom("compare", "a", other, "--json", cwd=runs).stdout)
        differences = [row["difference"] for row in document["rows"] if row["difference"]]
        assert len(differences) == len(document["rows"]) / 2
        assert {d["paired"] for d in differences} == {paired}
    text = " ".join(posgeom("compare", "a", "other", "--against", "alibi", cwd=runs).stdout.split())
    assert "independent" in text


def test_without_intervals_there_are_only_values(runs: Path) -> None:
    done = posgeom("compare", "bare", cwd=runs)
    assert done.returncode == 0
    assert "no intervals" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a", "--score", "beauty"], "--score 'beauty': expected one of stress_raw"),
        (["a", "--level", "1.5"], "--level 1.5"),
        (["a", "--against", "none such"], "no encoding 'none such'"),
        (["a", "other", "--against", "none such"], "in every run"),
        (["missing"], "missing"),
    ],
)
def test_bad_input(runs: Path, arguments: list[str], message: str) -> None:
    done = posgeom("compare", *arguments, cwd=runs)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_damaged_replicates(runs: Path, tmp_path: Path) -> None:
    run = read_run(runs / "a")
    path = tmp_path / "replicates.npz"
    path.write_bytes(b"PK nonsense")
    with pytest.raises(RunError, match="cannot read"):
        read_scored(tmp_path, run, "pearson")
    shapes = {"full": (2, 6), "one_out": (2, 10, 6), "terms": (2, 3, 6), "factors": (2, 2, 6), "sets": (2, 4, 10)}
    arrays: dict[str, Any] = {name: np.zeros(shape) for name, shape in shapes.items()}
    np.savez(path, parts=np.zeros(1, np.uint8), **arrays)
    with pytest.raises(RunError, match="is damaged"):
        read_scored(tmp_path, run, "pearson")
    path.unlink()
    assert all(one.leaving is None for one in read_scored(tmp_path, run, "pearson"))
