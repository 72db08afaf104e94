"""Map of positions: the two leading axes of classical MDS, coloured by position."""

from collections.abc import Sequence
from typing import Any

from posgeom.report.charts.channels import map_scales
from posgeom.report.charts.figure import Figure, Row, inline, need_extra
from posgeom.report.charts.theme import SEQUENTIAL

MAX_POINTS = 1024
"""Positions drawn, evenly spaced where there are more; the table has all."""
_SIDE = 280


def map_figure(rows: Sequence[Row], *, shares: Sequence[float] = (), caption: str = "") -> Figure:
    """Map of positions."""
    need_extra()
    import altair as alt

    scales = map_scales(*([row[key] for row in rows] for key in ("axis_1", "axis_2")))
    titles = [f"MDS axis {k + 1}" + (f" ({shares[k]:.0%} of the inertia)" if k < len(shares) else "") for k in range(2)]
    axis = alt.Axis(tickCount=5)
    step = -(-len(rows) // MAX_POINTS) or 1
    base = alt.Chart(inline(rows[::step])).encode(
        x=alt.X("axis_1:Q", title=titles[0], scale=scales[0], axis=axis),
        y=alt.Y("axis_2:Q", title=titles[1], scale=scales[1], axis=axis),
    )
    points = base.mark_point(filled=True, size=36, opacity=0.95).encode(
        color=alt.Color(
            "position:Q", title="position", scale=alt.Scale(scheme=SEQUENTIAL), legend=alt.Legend(format="d")
        ),
        tooltip=[alt.Tooltip("position:Q"), *(alt.Tooltip(f"axis_{k}:Q", format=".4f") for k in (1, 2))],
    )
    path: Any = base.mark_line(style="guide", strokeWidth=0.7, opacity=0.6).encode(order="position:Q")
    chart = alt.LayerChart(layer=[path, points]).properties(width=_SIDE, height=_SIDE)
    return Figure("map", "Map of positions", caption, chart, list(rows), layout="square")
