"""One number by name and group, each with its interval: points side by side, on a linear or logarithmic axis."""

from collections.abc import Sequence
from typing import Any

from posgeom.report.charts.channels import HAS_INTERVAL, by_colour, by_shape, legend_of
from posgeom.report.charts.figure import Figure, Row, inline, need_extra
from posgeom.report.charts.lines import log_scale
from posgeom.report.charts.words import in_words, number, told

_BAND = 11


def grouped_figure(
    rows: Sequence[Row], *, name: str, title: str, value_title: str, log: bool = False, caption: str = ""
) -> Figure:
    """Chart of numbers by name and group; bars from zero, or points where the axis is logarithmic and has no zero."""
    need_extra()
    import altair as alt

    groups = list(dict.fromkeys(row["group"] for row in rows))
    names = list(dict.fromkeys(row["name"] for row in rows))
    legend = legend_of(groups, columns=1)

    def sentence(row: Row) -> str:
        return f"{value_title} of {row['name']}, {row['group']}: {number(row['value'], '.4g', row)}"

    plain = alt.Chart(inline(told(rows, sentence))).encode(
        y=alt.Y("name:N", sort=names, title=None, axis=alt.Axis(grid=log, ticks=False)),
        yOffset=alt.YOffset("group:N", sort=groups),
        **in_words(),
    )
    base = plain.encode(color=by_colour("group", groups, legend))
    scale, axis = alt.Scale(zero=True), alt.Axis(tickCount=5)
    if log:
        scale, axis = log_scale([row[key] for row in rows for key in ("value", "low", "high")])
    x = alt.X("value:Q", title=value_title, scale=scale, axis=axis)
    low = alt.X("low:Q", title=value_title, scale=scale, axis=axis)
    layers: list[Any]
    if log:
        shape = by_shape("group", groups, legend)
        layers = [
            base.transform_filter(HAS_INTERVAL).mark_rule(strokeWidth=3, opacity=0.4).encode(x=low, x2="high:Q"),
            base.mark_point(filled=True, size=55, opacity=1).encode(x=x, shape=shape),
        ]
    else:
        layers = [
            base.mark_bar(opacity=0.85).encode(x=x),
            plain.transform_filter(HAS_INTERVAL).mark_rule(style="guide", strokeWidth=1.5).encode(x=low, x2="high:Q"),
        ]
    height = max(_BAND * len(groups) + 8, 20) * len(names)
    chart = alt.LayerChart(layer=layers).properties(width=320, height=height)
    return Figure(name, title, caption, chart, list(rows))
