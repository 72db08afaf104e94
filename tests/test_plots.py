"""`posgeom.plots`: charts for notebooks, of stored runs and of analyses in memory alike."""

import subprocess
import sys
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import altair as alt
import pytest

import posgeom as pg
from posgeom.errors import PosgeomError, RunError
from posgeom.report.charts.figure import draw
from posgeom.report.files import save
from posgeom.report.run import read_run
from posgeom.simulation.synthetic import synthetic


@pytest.fixture(scope="module")
def analysis() -> pg.Analysis:
    return pg.analyze(synthetic().counts, n_dims=8, ranks=[2])


@pytest.mark.slow
def test_a_stored_run_gives_the_charts_of_the_analysis(analysis: pg.Analysis, tmp_path: Path) -> None:
    save(analysis, tmp_path)
    stored = read_run(tmp_path)
    of_other_runs = {"layers", "logo", "separation", "alignment_steps", "loss", "warp", "left_out"}
    for name in set(pg.plots.__all__) - {"KINDS", "by_kind", "figure", "save_page", "depth_curve"} - of_other_runs:
        draw = getattr(pg.plots, name)
        charts = [draw(run).to_dict() for run in (analysis, stored)]
        assert all(chart == charts[0] for chart in charts), name
        assert charts[0]["config"]["background"] == "white"
    assert pg.plots.depth(str(tmp_path)).to_dict() == pg.plots.depth(tmp_path).to_dict()
    assert len(pg.plots.figure(analysis, "matrix").table) == 32 * 33 // 2
    with pytest.raises(RunError, match="has no numbers for layers"):
        pg.plots.layers(analysis)
    with pytest.raises(RunError, match="has no numbers for loss"):
        pg.plots.loss(analysis)


def test_a_small_alphabet_has_a_logo() -> None:
    texts = ["ACGT", "CCGA", "GAGC", "TAGG"] * 60
    letters = pg.analyze(pg.count_texts(texts, "chars", n_positions=4, fold_by="row"), n_dims=2, ranks=[1])
    figure = pg.plots.figure(letters, "logo")
    tops = {row["position"]: row["token"] for row in sorted(figure.table, key=lambda row: row["top"])}
    assert tops[2] == "G"
    bars = pg.plots.logo(letters).to_dict()["layer"][0]
    assert bars["encoding"]["x"]["scale"]["domain"] == [0, 1, 2, 3]  # one that says nothing keeps its place
    assert all(row["bits"] >= 0 for row in figure.table)


def test_there_is_a_function_for_every_kind() -> None:
    names = {kind.replace("-", "_") for kind in pg.plots.KINDS} - {"map"} | {"map_of_positions"}
    assert names == set(pg.plots.__all__) - {"KINDS", "by_kind", "figure", "save_page"}


def test_it_is_read_when_it_is_asked_for() -> None:
    code = "import sys, posgeom; a = 'posgeom.plots' in sys.modules; posgeom.plots; print(a, 'altair' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"
    with pytest.raises(AttributeError, match="no attribute 'plot'"):
        getattr(pg, "plot")  # noqa: B009  type checkers know that there is none


def test_a_notebook_keeps_a_picture_beside_the_chart(analysis: pg.Analysis) -> None:
    """No HTML, which front ends prefer to pictures and which loads scripts from a network."""
    charts: dict[str, Any] = {
        "image/svg+xml": pg.plots.scorecard(analysis),
        "image/png": pg.plots.matrix(analysis, width=200),  # of many cells
    }
    for picture, chart in charts.items():
        changed = chart.properties(title="mine")
        content, metadata = changed._repr_mimebundle_()
        (interactive,) = content.keys() - {picture, "text/plain"}
        assert interactive.startswith("application/vnd.vegalite.v")
        assert content[interactive] == changed.to_dict()
        if picture == "image/png":
            size = metadata["image/png"]
            assert pixels(content["image/png"]) == pytest.approx([2 * size["width"], 2 * size["height"]], abs=1)
        else:
            assert ">mine<" in content[picture]
    assert content["text/plain"].startswith("Distance matrix. Distance between every two positions")
    with alt.renderers.enable("html"):  # who chooses a renderer has it, and the picture
        content, _ = charts["image/svg+xml"]._repr_mimebundle_()
    assert content.keys() >= {"text/html", "image/svg+xml"}


def pixels(png: bytes) -> list[int]:
    return [int.from_bytes(png[at : at + 4], "big") for at in (16, 20)]


@pytest.mark.slow
def test_size_type_and_resolution(analysis: pg.Analysis, tmp_path: Path) -> None:
    for kind, path in (("scorecard", []), ("matrix", ["hconcat", 1]), ("density", ["spec"])):
        spec: Any = pg.plots.by_kind()[kind](analysis, width=210, height=90, font_size=7).to_dict()
        panel = reduce(getitem, path, spec)
        assert (panel["width"], panel["height"]) == (210, 90), kind
        assert spec["config"]["axis"]["labelFontSize"] == 7
    assert pg.plots.matrix(analysis).to_dict() == pg.plots.matrix(analysis, width=None, dpi=72).to_dict()
    sizes = {}
    for dpi in (72, 300):
        chart: Any = pg.plots.scorecard(analysis, dpi=dpi)
        chart.save(tmp_path / "altair.png")
        draw(pg.plots.figure(analysis, "scorecard", dpi=dpi), tmp_path / "ours.png")
        sizes[dpi] = pixels((tmp_path / "ours.png").read_bytes())
        assert pixels((tmp_path / "altair.png").read_bytes()) == pytest.approx(sizes[dpi], abs=1)
    assert sizes[300] == pytest.approx([length * 300 / 72 for length in sizes[72]], abs=3)
    with pytest.raises(PosgeomError, match=r"width 0: expected a number between 1 and 5,000"):
        pg.plots.lag(analysis, width=0)
    with pytest.raises(PosgeomError, match=r"dpi nan: expected a number between 1 and 1,200"):
        pg.plots.lag(analysis, dpi=float("nan"))
    with pytest.raises(PosgeomError, match=r"pixels: expected at most 200,000,000 in all"):
        draw(pg.plots.figure(analysis, "lag", width=5000, height=5000, dpi=1200), tmp_path / "large.png")


@pytest.mark.slow
def test_some_encodings(analysis: pg.Analysis) -> None:
    names = ["sinusoidal", "mds"]
    assert {row["encoding"] for row in pg.plots.figure(analysis, "scorecard", encodings=names).table} == set(names)
    assert {row["encoding"] for row in pg.plots.figure(analysis, "density", encodings=names).table} == set(names)
    assert {row["encoding"] for row in pg.plots.figure(analysis, "width", encodings=names).table} == set(names)
    lines = pg.plots.figure(analysis, "violations", encodings=names).table
    assert {row["distances_of"] for row in lines} == {"corpus", *names}
    with pytest.raises(RunError, match="'analysis' has no encoding 'sinusoid': expected one of 'sinusoidal'"):
        pg.plots.scorecard(analysis, encodings=["sinusoid"])
    with pytest.raises(RunError, match="a chart of lag has no encodings to choose from: scorecard, "):
        pg.plots.lag(analysis, encodings=names)
