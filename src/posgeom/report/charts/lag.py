"""Distance against lag, with the spread over pairs of positions."""

from collections.abc import Sequence
from typing import Any

from posgeom.report.charts.channels import by_colour, by_dash
from posgeom.report.charts.figure import Figure, Row, inline, need_extra
from posgeom.report.charts.theme import N_SERIES

_LEGEND: dict[str, Any] = {"orient": "bottom", "symbolType": "stroke", "symbolSize": 300}


def lag_figure(rows: Sequence[Row], *, metric: str = "Hellinger", caption: str = "") -> Figure:
    """Chart of distance against lag."""
    need_extra()
    import altair as alt

    names = list(dict.fromkeys(row["estimate"] for row in rows))[:N_SERIES]
    shown = [row | {"lag": (row["lag_first"] + row["lag_last"]) / 2, "lags": _lags(row)} for row in rows]
    base = alt.Chart(inline(shown)).encode(
        x=alt.X("lag:Q", title="lag |i - j| (positions)", scale=alt.Scale(zero=False, nice=False)),
        color=by_colour("estimate", names, _LEGEND),
    )
    tooltip: list[Any] = [
        alt.Tooltip("estimate:N"),
        alt.Tooltip("lags:N", title="lag"),
        *(alt.Tooltip(f"{key}:Q", format=".4f") for key in ("median", "low", "high")),
        alt.Tooltip("pairs:Q", format=","),
    ]
    y = alt.Y("median:Q", title=f"{metric} distance", scale=alt.Scale(zero=True))
    layers = [
        base.mark_area(opacity=0.22).encode(y=alt.Y("low:Q", title=f"{metric} distance"), y2="high:Q"),
        base.mark_line().encode(y=y, strokeDash=by_dash("estimate", names, _LEGEND)),
        base.mark_point(opacity=0, size=90).encode(y=y, tooltip=tooltip),
    ]
    chart = alt.LayerChart(layer=layers).properties(width=320, height=220)
    return Figure("lag", "Distance against lag", caption, chart, list(rows))


def _lags(row: Row) -> str:
    first, last = row["lag_first"], row["lag_last"]
    return f"{first}" if first == last else f"{first}-{last}"
