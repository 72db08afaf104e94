"""Distance against lag, with the spread over pairs of positions."""

from collections.abc import Sequence

from posgeom.report.charts.channels import by_colour, by_dash, legend_of
from posgeom.report.charts.figure import Figure, Row, inline, need_extra
from posgeom.report.charts.theme import N_SERIES
from posgeom.report.charts.words import in_words, number, told


def lag_figure(rows: Sequence[Row], *, metric: str = "Hellinger", caption: str = "") -> Figure:
    """Chart of distance against lag."""
    need_extra()
    import altair as alt

    names = list(dict.fromkeys(row["estimate"] for row in rows))[:N_SERIES]
    legend = legend_of(names, line=True)
    shown = told([row | {"lag": (row["lag_first"] + row["lag_last"]) / 2} for row in rows], _sentence)
    base = alt.Chart(inline(shown)).encode(
        x=alt.X("lag:Q", title="lag |i - j| (positions)", scale=alt.Scale(zero=False, nice=False)),
        color=by_colour("estimate", names, legend),
    )
    y = alt.Y("median:Q", title=f"{metric} distance", scale=alt.Scale(zero=True))
    layers = [
        base.mark_area(opacity=0.22).encode(y=alt.Y("low:Q", title=f"{metric} distance"), y2="high:Q"),
        base.mark_line().encode(y=y, strokeDash=by_dash("estimate", names, legend)),
        base.mark_point(opacity=0, size=90).encode(y=y, **in_words()),
    ]
    chart = alt.LayerChart(layer=layers).properties(width=320, height=220)
    return Figure("lag", "Distance against lag", caption, chart, list(rows))


def _sentence(row: Row) -> str:
    first, last = row["lag_first"], row["lag_last"]
    return (
        f"median {row['estimate']} distance at lag {first if first == last else f'{first} to {last}'}: "
        f"{number(row['median'], '.4f')}; the middle 80 % of {row['pairs']:,} pairs lie between "
        f"{number(row['low'], '.4f')} and {number(row['high'], '.4f')}"
    )
