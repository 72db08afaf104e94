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
from posgeom.simulation.synthetic import synthetic
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
        assert row["value"] == stored[name]["alignment"]
        if name != "alibi":
            gap = stored[name]["alignment"] - stored["alibi"]["alignment"]
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


def test_only_alignment_says_which_is_more_faithful(runs: Path) -> None:
    text = " ".join(posgeom("compare", "a", cwd=runs).stdout.split())
    assert "more faithful: confidence that the row is more faithful than the reference" in text
    other = " ".join(posgeom("compare", "a", "--score", "stress_scaled", cwd=runs).stdout.split())
    assert "Intervals of stress_scaled are approximate, and rank no row" in other
    document = json.loads(posgeom("compare", "a", "--score", "stress_scaled", "--json", cwd=runs).stdout)
    assert all(row["difference"] is None or row["difference"]["confidence"] is None for row in document["rows"])


def test_where_nothing_can_be_aligned_no_row_is_ranked(tmp_path: Path) -> None:
    texts = [" ".join(f"w{w}" for w in row) for row in np.random.default_rng(1).integers(0, 6, (400, 6))]
    counts = pg.count_texts([f"{text} {k}" for k, text in enumerate(texts)], n_positions=6)
    pg.save(pg.analyze(counts, n_dims=4, ranks=[1]), tmp_path / "flat")
    done = posgeom("compare", "flat", cwd=tmp_path)
    assert done.returncode == 0
    text = " ".join(done.stdout.split())
    assert "alignment is undefined: no axis of this geometry is more than noise" in text
    assert "undef" in text


def test_without_intervals_there_are_only_values(runs: Path) -> None:
    done = posgeom("compare", "bare", cwd=runs)
    assert done.returncode == 0
    assert "no intervals" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a", "--score", "beauty"], "--score 'beauty': expected one of alignment"),
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


def test_replicates_that_cannot_be_read_or_are_not_there(runs: Path, tmp_path: Path) -> None:
    run = read_run(runs / "a")
    path = tmp_path / "replicates.npz"
    path.write_bytes(b"PK nonsense")
    with pytest.raises(RunError, match="cannot read"):
        read_scored(tmp_path, run, "pearson")
    path.unlink()
    assert all(one.replicates is None for one in read_scored(tmp_path, run, "pearson"))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("left_out", None, "is of another version: run posgeom analyze --out again"),
        ("left_out", lambda x: x[:, :1], "is damaged"),
        ("left_out", lambda x: x[:, :, 1:], "is damaged"),
        ("left_out", lambda x: x[0], "is damaged"),
        ("left_out", lambda x: x > 0, "is damaged"),
        ("left_out", lambda x: x + np.inf, "is damaged"),
        ("parts", lambda x: x.astype(float), "is damaged"),
        ("value", lambda x: x[1:], "is damaged"),
    ],
)
def test_damaged_replicates(runs: Path, tmp_path: Path, name: str, change: Any, message: str) -> None:
    run = read_run(runs / "a")
    with np.load(runs / "a" / "replicates.npz") as stored:
        arrays: dict[str, Any] = dict(stored)
    np.savez(tmp_path / "replicates.npz", **arrays)
    assert all(one.replicates is not None for one in read_scored(tmp_path, run, "pearson"))
    arrays[name] = None if change is None else change(arrays[name])
    np.savez(tmp_path / "replicates.npz", **{key: value for key, value in arrays.items() if value is not None})
    with pytest.raises(RunError, match=message):
        read_scored(tmp_path, run, "pearson")


@pytest.mark.slow
def test_halves_that_were_split_otherwise_are_compared_in_either_order(runs: Path, tmp_path: Path) -> None:
    """The seed decides the halves that mds is fitted to; without a fold, either run has lost the same documents."""
    pg.save(pg.analyze(synthetic().counts, n_dims=16, ranks=[2], seed=1), tmp_path / "seed")
    found = []
    for one, other in ((runs / "a", tmp_path / "seed"), (tmp_path / "seed", runs / "a")):
        document = json.loads(posgeom("compare", str(one), str(other), "--json", cwd=tmp_path).stdout)
        rows = [row["difference"] for row in document["rows"] if row["encoding"] == "mds" and row["difference"]]
        found.append(rows[0])
    assert found[0]["paired"]
    assert found[0]["value"] == pytest.approx(-found[1]["value"])
    assert found[0]["interval"]["standard_error"] == pytest.approx(found[1]["interval"]["standard_error"])
