"""Lines of several named series: what several charts have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

from posgeom.report.charts.channels import HAS_INTERVAL, by_colour, by_dash, legend_of
from posgeom.report.charts.figure import Figure, Row, inline, known, need_extra
from posgeom.report.charts.theme import N_SERIES
from posgeom.report.charts.words import in_words, number, told


@dataclass(frozen=True, slots=True)
class Quantity:
    """What an axis shows."""

    field: str
    title: str
    words: str
    """How a sentence names it."""
    log: bool = False
    spec: str = ","
    """Of its numbers, in sentences."""


@dataclass(frozen=True, slots=True)
class Lines:
    """What the lines are."""

    field: str
    """Column of their names."""
    points: bool = False
    """Whether values are marked."""
    level: float | None = None
    """Of the intervals, where there are any."""
    shown: Sequence[str] | None = None
    """Names in order of their importance, where not all can be told apart."""


def lines_figure(
    rows: Sequence[Row], *, name: str, title: str, x: Quantity, y: Quantity, lines: Lines, caption: str = ""
) -> Figure:
    """Chart of lines."""
    need_extra()
    import altair as alt

    every = list(dict.fromkeys(str(row[lines.field]) for row in rows))
    names = list(every if lines.shown is None else lines.shown)[:N_SERIES]

    def sentence(row: Row) -> str:
        whose = f" of {row[lines.field]}" if len(names) > 1 else ""
        value = number(row[y.field], y.spec, row, lines.level)
        return f"{y.words}{whose} at {x.words} {row[x.field]:{x.spec}}: {value}"

    drawn = told([row for row in rows if str(row[lines.field]) in names], sentence)
    scale = alt.Scale(type="log", base=2, nice=False) if x.log else alt.Scale(zero=False, nice=False)
    axis = alt.Axis(format="~s" if x.log else "d", grid=False, tickMinStep=1)
    legend = legend_of(names, line=True)
    base = alt.Chart(inline(drawn)).encode(
        x=alt.X(f"{x.field}:Q", title=x.title, scale=scale, axis=axis),
        color=by_colour(lines.field, names, legend),
    )
    height = alt.Y(f"{y.field}:Q", title=y.title)
    if y.log:
        y_scale, y_axis = log_scale([row[y.field] for row in drawn])
        height = height.scale(y_scale).axis(y_axis)
    layers: list[Any] = []
    if known(drawn, "low"):
        band = base.transform_filter(HAS_INTERVAL).mark_area(opacity=0.2)
        layers.append(band.encode(y=alt.Y("low:Q", title=y.title), y2="high:Q"))
    layers.append(base.mark_line().encode(y=height, strokeDash=by_dash(lines.field, names, legend)))
    # A point that is not seen is what the pointer finds.
    marks: Any = {"filled": True, "size": 28, "opacity": 1} if lines.points else {"size": 90, "opacity": 0}
    layers.append(base.mark_point(**marks).encode(y=height, **in_words()))
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
