"""Verdicts."""

import pytest

from posgeom.paper.result import (
    VERDICTS,
    Estimate,
    ItemResult,
    Missing,
    Verdict,
    compare,
    not_comparable,
    not_run,
    over_seeds,
)


@pytest.mark.parametrize(
    ("ours", "key", "verdict"),
    [
        (0.5630, "table4.sst2.alibi", Verdict.AGREES),
        (0.5636, "table4.sst2.alibi", Verdict.CLOSE),
        (271.03, "table4.sst2.sinusoidal", Verdict.CLOSE),
        (265.0, "table4.sst2.sinusoidal", Verdict.DIFFERS),
        (1e-16, "table4.sst2.mds", Verdict.AGREES),
        (1e-3, "table4.sst2.mds", Verdict.DIFFERS),
        (-3.4, "table4.sst2.rope", Verdict.DIFFERS),
        (2.9, "table4.sst2.rope", Verdict.AGREES),
        (over_seeds([2.0, 2.1, 2.3]), "table3.sinusoidal", Verdict.SPREAD),
        (over_seeds([1.5, 1.6]), "table3.sinusoidal", Verdict.DIFFERS),
        (over_seeds([31, 31]), "table2.rank", Verdict.AGREES),
        # A bound holds for every seed or it does not hold.
        (over_seeds([-11.0, 11.0]), "table4.sst2.rope", Verdict.SPREAD),
        (over_seeds([-1.0, 1.0]), "table4.sst2.rope", Verdict.AGREES),
        (over_seeds([5.0, 6.0]), "table4.sst2.rope", Verdict.DIFFERS),
        (None, "table2.rank", Verdict.DIFFERS),
    ],
)
def test_verdicts(ours: Estimate | float | None, key: str, verdict: Verdict) -> None:
    row = compare("quantity", ours, key)
    assert row.verdict == verdict
    assert str(verdict) in {str(v) for v in VERDICTS}


def test_the_spread_of_layers_is_no_uncertainty() -> None:
    assert compare("quantity", over_seeds([1.0, 3.0], "layers"), "table3.sinusoidal").verdict == Verdict.DIFFERS


def test_differences_and_units() -> None:
    row = compare("two axes", 80.0, "table2.two_axes")
    assert row.difference == pytest.approx(0.1)
    assert row.unit == "%"
    assert compare("bound", 1.0, "table4.sst2.rope").difference is None
    assert compare("no number", 1.0, unit="%").verdict == Verdict.NO_NUMBER


def test_rows_without_a_number_of_ours() -> None:
    row = not_run("rank", "table2.rank")
    assert row.ours is None
    assert row.paper is not None
    assert not_comparable(row).verdict == Verdict.NOT_RUN
    assert not_comparable(compare("rank", 3, "table2.rank")).verdict == Verdict.OTHER_INPUT
    assert not_comparable(compare("rank", 3)).verdict == Verdict.NO_NUMBER


def test_status() -> None:
    missing = (Missing("IMDB", "not named", "--imdb PATH"),)
    nothing = ItemResult("x", "X", None, (not_run("rank", "table2.rank"),), missing=missing)
    part = ItemResult("x", "X", None, (not_run("rank", "table2.rank"), compare("rank", 31)), missing=missing)
    everything = ItemResult("x", "X", None, (compare("rank", 31, "table2.rank"),))
    assert [item.status for item in (nothing, part, everything)] == ["not run", "partly run", "run"]
