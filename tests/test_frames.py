"""Results as data frames."""

import sys

import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pytest

import posgeom as pg
from posgeom.errors import PosgeomError
from posgeom.frames import Framed, flat
from posgeom.paper.inputs import Inputs
from posgeom.paper.items import reproduce
from posgeom.policies import LEVEL
from posgeom.simulation.synthetic import synthetic
from posgeom.theory import isometry, stationarity
from posgeom.theory.claims import ledger
from posgeom.theory.evidence import Evidence
from posgeom.theory.mds_claims import random_rows


@pytest.fixture(scope="module")
def analysis() -> pg.Analysis:
    return pg.analyze(synthetic().counts, n_dims=8, ranks=[1])


def test_a_scorecard_is_a_flat_table(analysis: pg.Analysis) -> None:
    card = analysis.scorecard
    for frame in (card.to_pandas(), analysis.to_pandas()):
        assert isinstance(frame, pd.DataFrame)
        assert frame["name"].tolist() == [row.name for row in card]
        assert frame["alignment_low"].iloc[0] == card.rows[0].intervals["alignment"].low
        assert frame["min_separation_pair_1"].tolist() == [row.min_separation_pair[1] for row in card]
        assert not any(isinstance(value, dict | list | tuple) for value in frame.iloc[0])
    frame = card.to_polars()
    assert isinstance(frame, pl.DataFrame)
    assert frame["alignment"].to_list() == [row.alignment for row in card]


@pytest.fixture(scope="module")
def results(analysis: pg.Analysis) -> dict[str, Framed]:
    counts, shape = analysis.counts, analysis.geometry
    axes = pg.leading_axes(counts, 4)
    fit = pg.fit_warp(shape)
    results = (
        *(pg.token_effects(counts, shape)[0], fit, axes, pg.sampled_scores([pg.sinusoidal(32, 16)], axes)[1]),
        *(pg.depth_curve(counts, shape), pg.significance(shape), stationarity(shape), isometry(random_rows(0))),
        ledger(Evidence(), [9, 29]),
    )
    return {type(one).__name__: one for one in results if one is not None}


@pytest.mark.parametrize(
    "name",
    [
        *("TokenEffects", "WarpFit", "LeadingAxes", "SampledScores", "DepthCurve", "Significance"),
        *("Stationarity", "Isometry", "Ledger"),
    ],
)
def test_results_with_rows_are_flat_tables(name: str, results: dict[str, Framed]) -> None:
    result = results[name]
    rows, frame = result.to_dicts(), result.to_polars()
    assert len(rows) == len(frame) == len(result.to_pandas()) > 0
    assert result.to_pandas().columns.tolist() == frame.columns
    assert not any(isinstance(value, dict | list | tuple) for value in frame.row(0))
    for row, flat_row in zip(rows, frame.to_dicts(), strict=True):
        plain = {name: value for name, value in row.items() if not isinstance(value, dict)}
        assert plain.items() <= flat_row.items()


def test_intervals_are_those_of_the_estimates(analysis: pg.Analysis, results: dict[str, Framed]) -> None:
    tested = pg.significance(analysis.geometry)
    assert tested is not None
    frame = tested.to_polars()
    bounds = tested.axes[1].corrected.interval(LEVEL)
    assert bounds is not None
    assert (frame["axis"][1], frame["corrected_low"][1], frame["corrected_high"][1]) == (2, bounds.low, bounds.high)
    fit = results["WarpFit"]
    assert isinstance(fit, pg.WarpFit)
    interval = fit["log"].parameter_interval
    (row,) = (row for row in fit.to_polars().to_dicts() if row["name"] == "log")
    assert (row["parameter_low"], row["alignment"]) == (interval and interval.low, fit["log"].alignment.value)


def test_a_reproduction_has_a_row_for_each_number() -> None:
    frame = reproduce(["table3"], Inputs(n_seeds=2)).to_polars()
    first = frame.row(0, named=True)
    assert (first["item"], first["quantity"], first["paper_text"]) == ("table3", "raw stress, MDS", "0.009")
    assert first["ours_low"] <= first["ours_value"] <= first["ours_high"]


def test_rows_are_flattened() -> None:
    row = {"a": 1, "b": {"c": 2, "d": [3, 4]}, "intervals": {"x": {"low": 0, "high": 1}}, "e": None}
    assert flat(row) == {"a": 1, "b_c": 2, "b_d_0": 3, "b_d_1": 4, "x_low": 0, "x_high": 1, "e": None}


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_what_to_install_is_said(name: str, analysis: pg.Analysis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(PosgeomError, match=f"{name} is not installed: pip install {name}"):
        getattr(analysis.scorecard, f"to_{name}")()
