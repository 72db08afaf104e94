"""Spectrum of a geometry, and which of its axes are more than noise."""

from collections.abc import Sequence
from typing import Any

from posgeom.report.charts.channels import HAS_INTERVAL, by_colour, legend_of
from posgeom.report.charts.figure import Figure, Row, inline, known, need_extra
from posgeom.report.charts.words import in_words, number, told

MAX_AXES = 30
"""Axes drawn; the table has all."""
_TICKS = (1, 2, 3, 5, 10, 20, 30)
_Y_TITLE = "eigenvalue (squared distance)"


def spectrum_figure(rows: Sequence[Row], *, level: float | None = None, caption: str = "") -> Figure:
    """Chart of eigenvalues by axis."""
    need_extra()
    import altair as alt

    drawn = told(rows[:MAX_AXES], lambda row: _sentence(row, level))
    base = alt.Chart(inline(drawn)).encode(
        x=alt.X(
            "axis:Q",
            title="axis (logarithmic)",
            scale=alt.Scale(type="log", domain=[1, max(len(drawn), 2)], nice=False, padding=8),
            axis=alt.Axis(grid=False, format="d", values=[k for k in _TICKS if k <= len(drawn)]),
        )
    )
    has_plugin = bool(known(drawn, "plugin"))
    names = ["eigenvalue", "plug-in"] if has_plugin else ["eigenvalue"]
    legend = legend_of(names)
    colour = by_colour("series", names, legend)
    layers: list[Any] = []
    if known(drawn, "low"):
        bars = base.transform_filter(HAS_INTERVAL).mark_rule(strokeWidth=3, opacity=0.4)
        layers.append(bars.encode(y=alt.Y("low:Q", title=_Y_TITLE), y2="high:Q"))
    # Pale where an axis was tested and is not more than noise.
    opacity = alt.condition("datum.significant === false", alt.value(0.35), alt.value(1))
    own = base.transform_calculate(series="'eigenvalue'").mark_point(filled=True, size=34)
    layers.append(own.encode(y=alt.Y("eigenvalue:Q", title=_Y_TITLE), color=colour, opacity=opacity, **in_words()))
    if has_plugin:
        layers.append(
            base.transform_calculate(series="'plug-in'")
            .mark_point(shape="diamond", size=26)
            .encode(y=alt.Y("plugin:Q", title=_Y_TITLE), color=colour, **in_words())
        )
    rank = sum(row.get("significant") is True for row in drawn)
    if any(row.get("significant") is False for row in drawn):
        edge = alt.Chart(inline([{"_edge": max(rank + 0.5, 1.0)}])).encode(x="_edge:Q")
        layers.append(edge.mark_rule(style="edge"))
        layers.append(
            edge.mark_text(style="edge-text", text="noise from here on", align="left", dx=4, dy=6).encode(
                y=alt.value(0)
            )
        )
    chart = alt.LayerChart(layer=layers).properties(width=320, height=220)
    return Figure("spectrum", "Spectrum", caption, chart, list(rows))


def _sentence(row: Row, level: float | None) -> str:
    said = f"axis {row['axis']}: eigenvalue {number(row['eigenvalue'], '.4g', row, level)}"
    if row.get("plugin") is not None:
        said += f"; plug-in {row['plugin']:.4g}"
    if row.get("p_value") is not None:
        said += f"; p = {row['p_value']:.2g}"
    return said + ("; not more than noise" if row.get("significant") is False else "")
