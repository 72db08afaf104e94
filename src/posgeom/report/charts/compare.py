"""Runs side by side: one score of every encoding in each of them."""

from collections.abc import Sequence
from typing import Any

from posgeom.report.charts.channels import HAS_INTERVAL, by_colour, by_shape, legend_of
from posgeom.report.charts.figure import Figure, Row, inline, known, need_extra
from posgeom.report.charts.scorecard import AXES
from posgeom.report.charts.theme import N_SERIES
from posgeom.report.charts.words import in_words, number, told

_BAND = 9


def compare_figure(rows: Sequence[Row], *, score: str = "alignment", caption: str = "") -> Figure:
    """Chart of one score by encoding and run."""
    need_extra()
    import altair as alt

    runs = list(dict.fromkeys(row["run"] for row in rows))[:N_SERIES]
    drawn = told(
        [row for row in rows if row["run"] in runs],
        lambda row: (
            f"{score.replace('_', ' ')} of {row['encoding']} in {row['run']}: "
            f"{number(row[score], '.3f', row, row.get('level'))}"
        ),
    )
    names = list(dict.fromkeys(row["encoding"] for row in drawn))
    legend = legend_of(runs, columns=1)
    base = alt.Chart(inline(drawn)).encode(
        y=alt.Y("encoding:N", sort=names, title=None, axis=alt.Axis(grid=True, ticks=False, labelPadding=9)),
        yOffset=alt.YOffset("run:N", sort=runs),
        color=by_colour("run", runs, legend),
    )
    axis = alt.Axis(tickCount=5)
    shape = by_shape("run", runs, legend)
    layers: list[Any] = []
    if known(drawn, "low"):
        bars = base.transform_filter(HAS_INTERVAL).mark_rule(strokeWidth=3, opacity=0.4)
        layers.append(bars.encode(x=alt.X("low:Q", title=AXES[score], axis=axis), x2="high:Q"))
    points = base.mark_point(filled=True, size=45, opacity=1)
    layers.append(points.encode(x=alt.X(f"{score}:Q", title=AXES[score], axis=axis), shape=shape, **in_words()))
    height = max(_BAND * len(runs) + 6, 18) * len(names)
    chart = alt.LayerChart(layer=layers).properties(width=300, height=height)
    return Figure("compare", "Runs side by side", caption, chart, list(rows))
