"""Calibration: coverage of the intervals."""

from collections.abc import Sequence

from posgeom.report.charts.figure import Figure, Row, inline, need_extra
from posgeom.report.charts.words import in_words, number, told

_HEIGHT_OF_A_COVERAGE, _PANEL_WIDTH, _PANELS = 15, 110, 4


def coverage_figure(rows: Sequence[Row], *, level: float, caption: str = "") -> Figure:
    """Chart of the share of intervals that hold the truth."""
    need_extra()
    import altair as alt

    names = list(dict.fromkeys(row["estimate"] for row in rows))
    scenarios = list(dict.fromkeys(row["scenario"] for row in rows))
    rows = [{"level": level, **row} for row in rows]
    drawn = told(
        rows, lambda row: f"coverage of {row['estimate']} in {row['scenario']}: {number(row['coverage'], '.3f', row)}"
    )
    scale, axis = alt.Scale(zero=False), alt.Axis(format=".2f", tickCount=4)
    base = alt.Chart().encode(y=alt.Y("estimate:N", sort=names, title=None, axis=alt.Axis(labelLimit=220)))
    bars = base.mark_rule().encode(x=alt.X("low:Q", title=None, scale=scale, axis=axis), x2="high:Q")
    points = base.mark_point(filled=True, size=28, opacity=1).encode(
        x="coverage:Q",
        **in_words(),
    )
    wanted = alt.Chart().mark_rule(style="edge").encode(x="mean(level):Q")
    size = {"width": _PANEL_WIDTH, "height": _HEIGHT_OF_A_COVERAGE * len(names)}
    layers = alt.LayerChart(layer=[wanted, bars, points], data=inline(drawn)).properties(**size)
    chart = layers.facet(alt.Facet("scenario:N", sort=scenarios, header=alt.Header(title=None)), columns=_PANELS)
    return Figure("coverage", "Coverage of the intervals", caption, chart, rows)
