"""`posgeom.plots`: charts for notebooks, of stored runs and of analyses in memory alike."""

import subprocess
import sys
from pathlib import Path

import pytest

import posgeom as pg
from posgeom.errors import RunError
from posgeom.report.files import save
from posgeom.report.run import read_run
from posgeom.simulation.synthetic import synthetic


@pytest.fixture(scope="module")
def analysis() -> pg.Analysis:
    return pg.analyze(synthetic().counts, n_dims=8, ranks=[2])


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
    assert pg.plots.logo(letters).to_dict()["layer"]
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
