"""Runs side by side: one score of every encoding in each of them."""

from collections.abc import Sequence
from typing import Any

from posgeom.report.charts.channels import HAS_INTERVAL, by_colour, by_shape
from posgeom.report.charts.figure import Figure, Row, inline, known, need_extra
from posgeom.report.charts.scorecard import AXES
from posgeom.report.charts.theme import N_SERIES

_BAND = 9


def compare_figure(rows: Sequence[Row], *, score: str = "alignment", caption: str = "") -> Figure:
    """Chart of one score by encoding and run."""
    need_extra()
    import altair as alt

    runs = list(dict.fromkeys(row["run"] for row in rows))[:N_SERIES]
    drawn = [row for row in rows if row["run"] in runs]
    names = list(dict.fromkeys(row["encoding"] for row in drawn))
    legend = alt.Legend(orient="bottom", columns=1)
    base = alt.Chart(inline(drawn)).encode(
        y=alt.Y("encoding:N", sort=names, title=None, axis=alt.Axis(grid=True, ticks=False, labelPadding=9)),
        yOffset=alt.YOffset("run:N", sort=runs),
        color=by_colour("run", runs, legend),
    )
    tooltip = [
        "run:N",
        "encoding:N",
        *(alt.Tooltip(f"{key}:Q", format=".4f") for key in known(drawn, score, "low", "high")),
    ]
    axis = alt.Axis(tickCount=5)
    shape = by_shape("run", runs, legend)
    layers: list[Any] = []
    if known(drawn, "low"):
        bars = base.transform_filter(HAS_INTERVAL).mark_rule(strokeWidth=3, opacity=0.4)
        layers.append(bars.encode(x=alt.X("low:Q", title=AXES[score], axis=axis), x2="high:Q"))
    points = base.mark_point(filled=True, size=45, opacity=1)
    layers.append(points.encode(x=alt.X(f"{score}:Q", title=AXES[score], axis=axis), shape=shape, tooltip=tooltip))
    height = max(_BAND * len(runs) + 6, 18) * len(names)
    chart = alt.LayerChart(layer=layers).properties(width=300, height=height)
    return Figure("compare", "Runs side by side", caption, chart, list(rows))
