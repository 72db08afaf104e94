"""Lines of several named series: what several charts have in common."""

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Any

from posgeom.report.charts.channels import HAS_INTERVAL, by_colour, by_dash
from posgeom.report.charts.figure import Figure, Row, inline, known, need_extra
from posgeom.report.charts.theme import N_SERIES


def lines_figure(
    rows: Sequence[Row],
    *,
    name: str,
    title: str,
    x: str,
    y: str,
    series: str,
    x_title: str,
    y_title: str,
    x_log: bool = False,
    y_log: bool = False,
    points: bool = False,
    formats: tuple[str, str] = (",", ".4f"),
    shown: Sequence[str] | None = None,
    caption: str = "",
) -> Figure:
    """Chart of lines."""
    need_extra()
    import altair as alt

    every = list(dict.fromkeys(str(row[series]) for row in rows))
    names = list(every if shown is None else shown)[:N_SERIES]
    drawn = [row for row in rows if str(row[series]) in names]
    scale = alt.Scale(type="log", base=2, nice=False) if x_log else alt.Scale(zero=False, nice=False)
    tooltip: list[Any] = [
        alt.Tooltip(f"{series}:N"),
        alt.Tooltip(f"{x}:Q", title=x_title, format=formats[0]),
        alt.Tooltip(f"{y}:Q", title=y_title, format=formats[1]),
    ]
    has_interval = bool(known(drawn, "low"))
    if has_interval:
        tooltip += [alt.Tooltip("low:Q", format=formats[1]), alt.Tooltip("high:Q", format=formats[1])]
    axis = alt.Axis(format="~s" if x_log else "d", grid=False, tickMinStep=1)
    base = alt.Chart(inline(drawn)).encode(
        x=alt.X(f"{x}:Q", title=x_title, scale=scale, axis=axis),
        color=by_colour(series, names, _legend(names)),
    )
    height = alt.Y(f"{y}:Q", title=y_title)
    if y_log:
        y_scale, y_axis = log_scale([row[y] for row in drawn])
        height = height.scale(y_scale).axis(y_axis)
    layers: list[Any] = []
    if has_interval:
        band = base.transform_filter(HAS_INTERVAL).mark_area(opacity=0.2)
        layers.append(band.encode(y=alt.Y("low:Q", title=y_title), y2="high:Q"))
    layers.append(base.mark_line().encode(y=height, strokeDash=by_dash(series, names, _legend(names))))
    # A point that is not seen is what the pointer finds.
    marks: Any = {"filled": True, "size": 28, "opacity": 1} if points else {"size": 90, "opacity": 0}
    layers.append(base.mark_point(**marks).encode(y=height, tooltip=tooltip))
    chart = alt.LayerChart(layer=layers).properties(width=320, height=220)
    return Figure(name, title, caption, chart, list(rows))


def log_scale(values: Sequence[float | None]) -> tuple[Any, Any]:
    """A logarithmic scale from power of ten to power of ten, with a tick at each."""
    import altair as alt

    positive = [value for value in values if value is not None and value > 0] or [1.0]
    low, high = floor(log10(min(positive))), ceil(log10(max(positive)))
    powers = [float(f"1e{k}") for k in range(low, max(high, low + 1) + 1)]
    step = -(-len(powers) // _MAX_POWERS)
    return alt.Scale(type="log", domain=[powers[0], powers[-1]]), alt.Axis(values=powers[::step], format="~g")


_MAX_POWERS = 9


def _legend(names: Sequence[str]) -> Any:
    import altair as alt

    return (
        alt.Legend(orient="bottom", columns=2, title=None, symbolType="stroke", symbolSize=300)
        if len(names) > 1
        else None
    )
