"""Results as data frames."""

import sys

import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pytest

import posgeom as pg
from posgeom.errors import PosgeomError
from posgeom.frames import flat
from posgeom.simulation.synthetic import synthetic


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


def test_rows_are_flattened() -> None:
    row = {"a": 1, "b": {"c": 2, "d": [3, 4]}, "intervals": {"x": {"low": 0, "high": 1}}, "e": None}
    assert flat(row) == {"a": 1, "b_c": 2, "b_d_0": 3, "b_d_1": 4, "x_low": 0, "x_high": 1, "e": None}


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_what_to_install_is_said(name: str, analysis: pg.Analysis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(PosgeomError, match=f"{name} is not installed: pip install {name}"):
        getattr(analysis.scorecard, f"to_{name}")()
