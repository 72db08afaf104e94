"""Spectrum of a geometry, with the edge of noise."""

from collections.abc import Sequence
from typing import Any, Literal

from posgeom.report.charts.figure import Figure, Row, inline, known, need_extra

MAX_AXES = 30
"""Axes drawn; the table has all."""
_Y_TITLE = "eigenvalue (squared distance)"


def spectrum_figure(rows: Sequence[Row], *, edge_title: str | None = None, caption: str = "") -> Figure:
    """Chart of eigenvalues by axis.

    Parameters
    ----------
    rows : sequence of dict
        Keys ``axis`` (from 1), ``eigenvalue``, ``low``, ``high`` (its interval), ``plugin`` (the plug-in
        estimate's), ``noise_edge`` (what noise alone reaches on that axis); None is undefined or unknown.
    edge_title : str, optional
        What the noise edge is.
    caption : str

    Returns
    -------
    Figure
    """
    need_extra()
    import altair as alt

    drawn = list(rows[:MAX_AXES])
    tooltip: list[Any] = [
        alt.Tooltip("axis:Q"),
        *(alt.Tooltip(f"{key}:Q", format=".4g") for key in known(drawn, "eigenvalue", "low", "high", "plugin")),
        *(alt.Tooltip(f"{key}:Q", format=".4g", title="noise edge") for key in known(drawn, "noise_edge")),
    ]
    base = alt.Chart(inline(drawn)).encode(
        x=alt.X("axis:Q", title="axis", scale=alt.Scale(nice=False, padding=8), axis=alt.Axis(grid=False, format="d"))
    )
    has_edge = bool(known(drawn, "noise_edge"))
    has_plugin = bool(known(drawn, "plugin"))
    names = ["eigenvalue", "plug-in"] if has_plugin else ["eigenvalue"]
    legend = alt.Legend(orient="bottom") if has_plugin else None
    colour = alt.Color("series:N", title=None, sort=names, scale=alt.Scale(domain=names), legend=legend)
    layers: list[Any] = []
    if known(drawn, "low"):
        bars = base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(strokeWidth=3, opacity=0.4)
        layers.append(bars.encode(y=alt.Y("low:Q", title=_Y_TITLE), y2="high:Q"))
    own = base.transform_calculate(series="'eigenvalue'").mark_point(filled=True, size=34, opacity=1)
    layers.append(own.encode(y=alt.Y("eigenvalue:Q", title=_Y_TITLE), color=colour, tooltip=tooltip))
    if has_plugin:
        layers.append(
            base.transform_calculate(series="'plug-in'")
            .mark_point(shape="diamond", size=26)
            .encode(y=alt.Y("plugin:Q", title=_Y_TITLE), color=colour, tooltip=tooltip)
        )
    if has_edge:
        last = [row for row in drawn if row.get("noise_edge") is not None][-1:]
        layers.append(base.mark_line(style="edge", interpolate="step").encode(y="noise_edge:Q"))
        # Where the edge ends early, beyond it: above it stand the axes that are more than noise.
        align: Literal["left", "right"] = "left" if 2 * last[0]["axis"] <= len(drawn) else "right"
        text = alt.Chart(inline(last)).mark_text(
            text=edge_title or "noise edge", style="edge-text", align=align, baseline="bottom", dy=-4
        )
        layers.append(text.encode(x="axis:Q", y="noise_edge:Q"))
    chart = alt.LayerChart(layer=layers).properties(width=320, height=220)
    return Figure("spectrum", "Spectrum", caption, chart, list(rows))
