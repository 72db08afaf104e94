"""Spectrum of a geometry, and which of its axes are more than noise."""

from collections.abc import Sequence
from typing import Any

from posgeom.report.charts.channels import HAS_INTERVAL, by_colour
from posgeom.report.charts.figure import Figure, Row, inline, known, need_extra

MAX_AXES = 30
"""Axes drawn; the table has all."""
_TICKS = (1, 2, 3, 5, 10, 20, 30)
_Y_TITLE = "eigenvalue (squared distance)"


def spectrum_figure(rows: Sequence[Row], *, caption: str = "") -> Figure:
    """Chart of eigenvalues by axis."""
    need_extra()
    import altair as alt

    drawn = list(rows[:MAX_AXES])
    tooltip: list[Any] = [
        alt.Tooltip("axis:Q"),
        *(alt.Tooltip(f"{key}:Q", format=".4g") for key in known(drawn, "eigenvalue", "low", "high", "plugin")),
        *(alt.Tooltip(f"{key}:Q", format=".3g", title="p") for key in known(drawn, "p_value")),
    ]
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
    legend = alt.Legend(orient="bottom") if has_plugin else None
    colour = by_colour("series", names, legend)
    layers: list[Any] = []
    if known(drawn, "low"):
        bars = base.transform_filter(HAS_INTERVAL).mark_rule(strokeWidth=3, opacity=0.4)
        layers.append(bars.encode(y=alt.Y("low:Q", title=_Y_TITLE), y2="high:Q"))
    # Pale where an axis was tested and is not more than noise.
    opacity = alt.condition("datum.significant === false", alt.value(0.35), alt.value(1))
    own = base.transform_calculate(series="'eigenvalue'").mark_point(filled=True, size=34)
    layers.append(own.encode(y=alt.Y("eigenvalue:Q", title=_Y_TITLE), color=colour, opacity=opacity, tooltip=tooltip))
    if has_plugin:
        layers.append(
            base.transform_calculate(series="'plug-in'")
            .mark_point(shape="diamond", size=26)
            .encode(y=alt.Y("plugin:Q", title=_Y_TITLE), color=colour, tooltip=tooltip)
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
