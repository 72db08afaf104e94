"""Each chart: its spec is one that Vega-Lite takes, draws, and shows the numbers that its table has."""

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vl_convert

from posgeom.errors import PosgeomError
from posgeom.report.charts import figure as module
from posgeom.report.charts.compare import compare_figure
from posgeom.report.charts.density import density_figure
from posgeom.report.charts.depth import depth_figure
from posgeom.report.charts.figure import Figure, draw, with_theme, write_figure
from posgeom.report.charts.lag import lag_figure
from posgeom.report.charts.layers import layers_figure
from posgeom.report.charts.lines import Lines, Quantity, lines_figure
from posgeom.report.charts.matrix import matrix_figure
from posgeom.report.charts.mds_map import map_figure
from posgeom.report.charts.scorecard import scorecard_figure
from posgeom.report.charts.spectrum import spectrum_figure
from posgeom.report.charts.theme import COLOURS, N_SERIES, config, encoding_series

HOSTILE = "</script><img src=x onerror=alert(1)>"
VALUES = np.array([[0.0, 0.5, np.nan], [1.0, 0.25, 0.75]])


def interval(low: float | None, high: float | None) -> dict[str, Any]:
    return {"intervals": {"alignment": {"low": low, "high": high}}}


ENCODINGS: list[dict[str, Any]] = [
    {"name": HOSTILE, "n_dims": 4, "alignment": 0.3} | interval(0.2, 0.4),
    {"name": "rope", "n_dims": 4, "alignment": 0.1} | interval(None, None),
    {"name": "nope", "n_dims": None, "alignment": None},
]
CEILING = {"value": 0.05, "low": 0.04, "high": 0.06}
SQUARE = [[0.0, 1.0, 2.0], [1.0, 0.0, 1.5], [2.0, 1.5, 0.0]]
LAGS = [
    {"estimate": e, "lag_first": k, "lag_last": k, "pairs": 9 - k, "median": k / 2, "low": k / 4, "high": k}
    for e in ("plug-in", "cross-validated")
    for k in range(1, 9)
]
SPECTRUM = [{"axis": k, "eigenvalue": 1 / k - 0.2, "low": None, "high": None} for k in range(1, 6)]
FIGURES = {
    "scorecard": lambda: scorecard_figure(ENCODINGS, noise_ceiling={"alignment": CEILING}),
    "matrix": lambda: matrix_figure(
        {"plug-in": SQUARE, "cross-validated": SQUARE}, first=[0, 1, 3], last=[0, 2, 3], depth=[9, 8, 7]
    ),
    "lag": lambda: lag_figure(LAGS),
    "spectrum": lambda: spectrum_figure(
        [row | {"plugin": 1.5, "low": 0.0, "p_value": 0.3, "significant": row["axis"] == 1} for row in SPECTRUM]
    ),
    "plain spectrum": lambda: spectrum_figure(SPECTRUM),
    "map": lambda: map_figure(
        [{"position": k, "axis_1": k / 2, "axis_2": k * k / 9} for k in range(5)], shares=[0.7, 0.2]
    ),
    "depth": lambda: depth_figure(
        [{"first": k, "last": k, "depth": 9 - k, "state": "used" if k < 7 else "too shallow"} for k in range(9)],
        min_depth=3,
    ),
    "density": lambda: density_figure(
        [{"encoding": e, "width": 0.1, "x": [0.1, 0.2], "y": [0.1, 0.3], "pairs": [3, 40]} for e in (HOSTILE, "rope")]
    ),
    "lines": lambda: lines_figure(
        [{"series": s, "x": 2**k, "y": 1 / k, "low": 0.0, "high": 1.0} for s in ("a", HOSTILE) for k in range(1, 5)],
        name="lines", title="Lines", x=Quantity("x", "x", "x", log=True), y=Quantity("y", "y", "y", spec=".3f"),
        lines=Lines("series", points=True, level=0.9),
    ),
    "layers": lambda: layers_figure(VALUES, title=HOSTILE),
    "compare": lambda: compare_figure(
        [
            {"run": r, "encoding": e, "alignment": s, "low": s, "high": None if s is None else 1.0}
            for r in (HOSTILE, "b")
            for e, s in (("rope", 0.5), ("nope", None))
        ]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
def test_a_chart_draws_and_its_text_is_text(name: str, tmp_path: Path) -> None:
    figure: Figure = FIGURES[name]()
    written = write_figure(figure, tmp_path)
    assert [Path(n).suffix for n in written] == [".svg", ".pdf", ".png", ".csv"]
    svg = (tmp_path / written[0]).read_text()
    assert "<img" not in svg
    assert "<script" not in svg
    assert "NaN" not in svg
    assert (tmp_path / written[1]).read_bytes().startswith(b"%PDF")
    assert (tmp_path / written[2]).read_bytes().startswith(b"\x89PNG")
    with (tmp_path / written[3]).open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(figure.table)
    for stored, row in zip(rows, figure.table, strict=True):
        assert stored == {key: "" if value is None else str(value) for key, value in row.items()}


@pytest.mark.parametrize("name", FIGURES)
def test_a_spec_has_no_colour_of_its_own_but_scales(name: str) -> None:
    """Everything else comes from the theme, so that a page can be light or dark."""
    spec = FIGURES[name]().spec()
    assert "config" not in spec
    found = set(re.findall(r"#[0-9a-f]{6}", str({k: v for k, v in spec.items() if k != "datasets"})))
    assert not found


def test_the_scorecard_is_sorted_and_says_what_is_undefined(tmp_path: Path) -> None:
    figure = FIGURES["scorecard"]()
    assert [row["encoding"] for row in figure.table] == [HOSTILE, "rope", "nope"]
    draw(figure, tmp_path / "s.svg")
    svg = (tmp_path / "s.svg").read_text()
    assert svg.count(">undefined<") == 1
    assert ">half against half<" in svg
    rising = scorecard_figure(
        [{"name": "a", "pearson": 0.2}, {"name": "b", "pearson": 0.9}, {"name": "c", "pearson": None}], score="pearson"
    )
    assert [row["encoding"] for row in rising.table] == ["b", "a", "c"]


def test_the_matrix_tells_positions_value_and_depth() -> None:
    figure = FIGURES["matrix"]()
    assert figure.table[1] == {"i_first": 0, "i_last": 0, "j_first": 1, "j_last": 2, "depth_i": 9, "depth_j": 8} | {
        "plug-in": 1.0,
        "cross-validated": 1.0,
    }
    assert len(figure.table) == 6
    spec = figure.spec()
    values = [row for rows in spec["datasets"].values() for row in rows]
    assert {row["i"] for row in values if "i" in row} == {"0", "1-2", "3"}
    assert {row["depth of j"] for row in values if "j" in row} == {9, 8, 7}


def test_the_map_has_one_unit_on_both_axes() -> None:
    spec = FIGURES["map"]().spec()
    domains = [spec["layer"][1]["encoding"][axis]["scale"]["domain"] for axis in ("x", "y")]
    lengths = [high - low for low, high in domains]
    assert lengths[0] == pytest.approx(lengths[1])
    assert spec["width"] == spec["height"]


def test_undefined_cells_of_the_heat_map_are_grey(tmp_path: Path) -> None:
    draw(layers_figure(VALUES, title="a & <b>"), tmp_path / "h.svg")
    svg = (tmp_path / "h.svg").read_text()
    found = re.findall(r'aria-label="layer (\d), head (\d): alignment ([^"]+)"[^>]*fill="([^"]+)"', svg)
    numbers = {(int(layer), int(head)): float(value) for layer, head, value, _ in found if value != "undefined"}
    assert numbers == {cell: value for cell, value in np.ndenumerate(VALUES) if np.isfinite(value)}
    colours = {(int(layer), int(head)): fill for layer, head, _, fill in found}  # the last drawn is on top
    assert colours[0, 2] == COLOURS["undefined"]
    assert colours[0, 0] == "rgb(68, 1, 84)"  # the two ends of viridis
    assert colours[1, 0] == "rgb(253, 231, 37)"


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def test_colours_stand_out_from_paper() -> None:
    """WCAG: 3 to 1 for graphics, 4.5 to 1 for text."""
    for part, colour in COLOURS.items():
        ratio = 1.05 / (luminance(colour) + 0.05)
        if part.startswith("series") or part == "edge":
            assert ratio >= 3, part
        if part in ("ink", "muted", "edge"):
            assert ratio >= 4.5, part
    assert config()["range"]["category"][N_SERIES:] == [COLOURS["ink"]]


def test_more_series_than_can_be_told_apart_stay_in_the_table() -> None:
    rows = [{"s": f"s{k}", "x": x, "y": x * k} for k in range(20) for x in (1, 2)]
    x, y = (Quantity(key, key, key) for key in ("x", "y"))
    figure = lines_figure(rows, name="n", title="t", x=x, y=y, lines=Lines("s"))
    drawn = {row["s"] for values in figure.spec()["datasets"].values() for row in values}
    assert len(drawn) == N_SERIES
    assert len(figure.table) == 40


def test_a_form_that_there_is_not(tmp_path: Path) -> None:
    with pytest.raises(PosgeomError, match=r"'a\.gif': expected a name that ends in \.svg, \.pdf, \.png"):
        draw(FIGURES["lag"](), tmp_path / "a.gif")


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = FIGURES["lag"]()
    assert with_theme(figure)["config"]["background"] == "white"
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    with pytest.raises(PosgeomError, match=r"pip install 'posgeom\[report\]'"):
        FIGURES["layers"]()
    with pytest.raises(PosgeomError, match=r"pip install"):
        draw(figure, Path("never.svg"))


def styles(names: list[str]) -> dict[str, tuple[str, str]]:
    """Colour and dash of the line of each name, as drawn."""
    rows = [{"s": name, "x": x, "y": x} for name in names for x in (1, 2)]
    x, y = (Quantity(key, key, key) for key in ("x", "y"))
    svg = vl_convert.vegalite_to_svg(with_theme(lines_figure(rows, name="n", title="t", x=x, y=y, lines=Lines("s"))))
    marks = svg[svg.index("mark-line role-mark") :]
    lines = re.findall(r'<path aria-label="[^"]*; s: ([^";]+)"[^>]*?stroke="([^"]+)"([^>]*)>', marks)
    assert len(lines) == len(names)
    return {name: (colour, "".join(re.findall('stroke-dasharray="([^"]+)"', more))) for name, colour, more in lines}


def test_a_colour_and_a_dash_belong_to_an_encoding() -> None:
    """Whatever else is in a chart, and in whatever order; nothing in it looks like another line."""
    names = ["random", "mds:8", "corpus", "alibi", "sinusoidal", "mds", "mine"]
    all_of_them = styles(names)
    assert len(set(all_of_them.values())) == len(names)
    assert len({dash for _, dash in all_of_them.values()}) == len(names)  # in black and white too
    assert all_of_them["mds"][0] == all_of_them["mds:8"][0] == COLOURS["series-2"]
    assert all_of_them["corpus"][0] == COLOURS["ink"]
    assert all_of_them["random"][0] == COLOURS[f"series-{N_SERIES - 1}"]
    assert styles(names[::-1]) == all_of_them
    for some in (["mds", "sinusoidal"], ["alibi", "random"]):
        assert styles(some) == {name: all_of_them[name] for name in some}
    assert encoding_series("MDS") == encoding_series("mds:8") == encoding_series("mds")
    assert [colour for colour, _ in styles(["run a", "run b"]).values()] == [COLOURS["series-0"], COLOURS["series-1"]]


def test_what_is_pointed_at_is_told_in_words() -> None:
    spec = FIGURES["scorecard"]().spec()
    told = {row["_told"] for rows in spec["datasets"].values() for row in rows if "_told" in row}
    assert "alignment of rope: 0.100" in told
    assert "alignment of nope: undefined" in told
    lines = {row["_told"] for rows in FIGURES["lines"]().spec()["datasets"].values() for row in rows}
    assert "y of a at x 2: 1.000, 90 % 0.000 to 1.000" in lines
