"""Reading a stored run: what is not one is refused in one line that names the file."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posgeom.analysis import analyze
from posgeom.chart_data import MAX_CELLS, N_BLOCKS, chart_data, geometry_chart_data
from posgeom.errors import RunError
from posgeom.report.charts.figure import draw
from posgeom.report.figures import KINDS, figure_of, figures
from posgeom.report.files import save
from posgeom.report.run import Run, read_run
from posgeom.results import Analysis
from tests.conftest import make_counts


@pytest.fixture
def copy(run_dir: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(run_dir, tmp_path / "run"))


def change(path: Path, place: list[Any], value: Any) -> None:
    document = json.loads(path.read_text())
    part = document
    for key in place[:-1]:
        part = part[key]
    if value is KeyError:
        del part[place[-1]]
    else:
        part[place[-1]] = value
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("file", "place", "value", "message"),
    [
        ("scores.json", ["encodings", 0, "name"], 3, r"scores\.json'\.encodings\[0\]\.name is '3': expected a text"),
        ("scores.json", ["spectrum"], KeyError, r"scores\.json' has no spectrum: expected a file that posgeom wrote"),
        ("scores.json", ["corpus", "documents"], True, r"documents is 'True': expected a whole number"),
        ("scores.json", ["schema_version"], 99, r"schema_version 99: this posgeom reads 2"),
        ("scores.json", ["encodings", 1, "stress_scaled"], "0", r"expected a number or null"),
        ("scores.json", ["encodings", 0, "intervals"], [1], r"intervals is '\[1\]': expected an object"),
        ("charts.json", ["matrix", "first"], [0], r"charts\.json' has columns of unequal length"),
        ("charts.json", ["map", "axes"], "x", r"axes is 'x': expected a list"),
        ("charts.json", ["violations", "series", 0, "rates"], [], r"columns of unequal length"),
    ],
)
def test_documents_that_are_not_posgeoms(copy: Path, file: str, place: list[Any], value: Any, message: str) -> None:
    change(copy / file, place, value)
    with pytest.raises(RunError, match=message) as caught:
        read_run(copy)
    assert "\n" not in str(caught.value)


def test_files_that_are_no_json(copy: Path) -> None:
    for text in (b"{", b"\xff\xfe", b'{"a": NaN}', b"[" * 100_000, b"[]"):
        (copy / "scores.json").write_bytes(text)
        with pytest.raises(RunError, match=r"scores\.json'"):
            read_run(copy)


def test_directories_that_are_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"is missing: expected a directory that posgeom analyze --out wrote"):
        read_run(tmp_path / "none")
    with pytest.raises(RunError, match=r"has no scores\.json, layers\.json, warp\.json or run\.json"):
        read_run(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match=r"is a file"):
        read_run(tmp_path / "file")


def test_without_charts_the_geometry_is_still_drawn(copy: Path, run: Run) -> None:
    (copy / "charts.json").unlink()
    old = read_run(copy, "run")
    assert old.charts is not None
    assert run.charts is not None
    for key in ("matrix", "lags", "map"):
        assert old.charts[key] == run.charts[key]
    drawn = {figure.name for figure in figures(old)}
    assert drawn == {"scorecard", "matrix", "lag", "spectrum", "map", "depth", "depth-curve"}
    with pytest.raises(RunError, match=r"'run' has no numbers for density: it has those for scorecard, matrix"):
        figure_of(old, "density")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: (path / "distances.npz").unlink(), r"no charts\.json and no distances\.npz"),
        (lambda path: (path / "mds.safetensors").write_bytes(b"x"), r"cannot read '.*mds\.safetensors'"),
        (lambda path: (path / "distances.npz").write_bytes(b"x"), r"cannot read '.*distances\.npz'"),
        (lambda path: np.savez(path / "distances.npz", positions=np.arange(3)), r"has no depth"),
        (
            lambda path: np.savez(path / "distances.npz", positions=[0, 1], depth=[1, 1], plugin_squared=np.eye(3)),
            r"do not fit each other",
        ),
        (
            lambda path: np.savez(
                path / "distances.npz", positions=[0, np.nan], depth=[1, 1], plugin_squared=np.eye(2)
            ),
            r"positions are not all finite",
        ),
    ],
)
def test_arrays_that_are_not_posgeoms(copy: Path, spoil: Any, message: str) -> None:
    (copy / "charts.json").unlink()
    spoil(copy)
    with pytest.raises(RunError, match=message):
        read_run(copy)


def test_intervals_and_tests_are_drawn(run: Run) -> None:
    by_name = {figure.name: figure for figure in figures(run)}
    assert run.scores is not None
    curve = run.scores["depth_curve"]
    assert [row["mean_squared"] for row in by_name["depth-curve"].table] == curve["mean_squared"]
    assert by_name["scorecard"].table[0]["low"] is not None
    assert "95% intervals (jackknife)" in by_name["scorecard"].caption
    assert "of samples of 500" in by_name["scorecard"].caption
    tested = run.scores["significance"]
    spectrum = by_name["spectrum"].table
    assert [row["significant"] for row in spectrum] == [k < tested["significant_rank"] for k in range(len(spectrum))]
    assert [row["p_value"] for row in spectrum[: len(tested["axes"])]] == [axis["p_value"] for axis in tested["axes"]]
    assert f"{tested['significant_rank']} axes are, by 512 patterns of signs" in by_name["spectrum"].caption


def test_where_nothing_can_be_aligned_the_scorecard_says_why(copy: Path) -> None:
    document = json.loads((copy / "scores.json").read_text())
    document["alignment_undefined"] = "no axis is more than noise"
    for encoding in document["encodings"]:
        encoding["alignment"] = None
    (copy / "scores.json").write_text(json.dumps(document))
    figure = figure_of(read_run(copy), "scorecard")
    assert all(row["alignment"] is None for row in figure.table)
    assert "Undefined: no axis is more than noise." in figure.caption


def test_every_kind_has_a_function_of_its_name_or_says_what_there_is(run: Run) -> None:
    with pytest.raises(RunError, match=r"no chart 'pie': expected one of scorecard, matrix"):
        figure_of(run, "pie")
    drawn = [figure.name for figure in figures(run)]
    of_other_runs = {"layers", "logo", "warp", "left-out", "separation", "alignment-steps", "loss"}
    assert drawn == [kind for kind in KINDS if kind not in of_other_runs]


def test_chart_data_is_small_and_follows_the_scores(analysis: Analysis) -> None:
    data = chart_data(analysis)
    assert len(json.dumps(data, allow_nan=False)) < 200_000
    pairs = 32 * 31 // 2
    assert all(sum(density["pairs"]) == pairs for density in data["densities"])
    assert "zero" not in {density["encoding"] for density in data["densities"]}  # it has no scale
    assert len(data["violations"]["series"]) == 1 + len(analysis.encodings)
    last = {row["encoding"]: row for row in data["widths"]}
    for name in ("sinusoidal", "rope", "random", "mds"):
        for score in ("alignment", "stress_scaled"):
            assert last[name][score] == pytest.approx(getattr(analysis.scorecard[name], score), abs=1e-9)


def test_large_matrices_are_averaged() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(MAX_CELLS + 1, 3))
    squared = ((points[:, None] - points) ** 2).sum(axis=2)
    positions = np.arange(MAX_CELLS + 1) + 5
    data = geometry_chart_data(positions, np.full(MAX_CELLS + 1, 7), {"plug-in": squared}, points)
    matrix = data["matrix"]
    assert N_BLOCKS / 2 < len(matrix["first"]) <= N_BLOCKS
    assert (matrix["first"][0], matrix["last"][-1]) == (5, 5 + MAX_CELLS)
    small = geometry_chart_data(positions[:-1], np.full(MAX_CELLS, 7), {"plug-in": squared[:-1, :-1]}, points[:-1])
    np.testing.assert_allclose(small["matrix"]["distances"]["plug-in"], np.sqrt(squared[:-1, :-1]), rtol=1e-5)


def test_a_run_in_which_nothing_is_defined(tmp_path: Path) -> None:
    """Two positions that are one point: no triple, no scale, no stress but the trivial one."""
    counts = make_counts(np.full((2, 2, 1), 50))
    save(analyze(counts, n_dims=4, default_encodings=False, encodings=["nope"], convention="paper"), tmp_path)
    drawn = figures(read_run(tmp_path))
    assert [figure.name for figure in drawn] == ["scorecard", "matrix", "lag", "spectrum", "map", "depth"]
    assert drawn[0].table[0]["alignment"] is None
    for figure in drawn:
        draw(figure, tmp_path / f"{figure.name}.svg")
