"""A sequence logo: bits of information by position, divided among the tokens of a small alphabet."""

from collections.abc import Sequence

from posgeom.report.charts.figure import Figure, Row, inline, need_extra
from posgeom.report.charts.theme import N_SERIES
from posgeom.report.charts.words import in_words, told

_HEIGHT, _STEP, _LEAST = 190, 15, 0.06
"""Size of the chart, width of a position, and the share of the height from which on a letter can be read."""


def logo_figure(rows: Sequence[Row], *, caption: str) -> Figure:
    """Chart of stacked bars with the tokens in them, the most frequent on top."""
    need_extra()
    import altair as alt

    names = list(dict.fromkeys(row["token"] for row in rows))
    total = sorted(names, key=lambda name: -sum(row["bits"] for row in rows if row["token"] == name))
    tallest = max((row["top"] for row in rows), default=0.0) or 1.0
    drawn = told(
        [row for row in rows if row["bits"] > 0],
        lambda row: (
            f"{row['token']} at position {row['position']}: {row['bits']:.4f} bits, {row['share']:.1%} of all there"
        ),
    )
    positions = list(dict.fromkeys(row["position"] for row in rows))  # those that say nothing keep their places
    base = alt.Chart(inline(drawn)).encode(
        x=alt.X(
            "position:O",
            title="position",
            scale=alt.Scale(domain=positions),
            axis=alt.Axis(labelOverlap=True, labelSeparation=4, labelAngle=0, grid=False),
        ),
        y=alt.Y("base:Q", title="bits", scale=alt.Scale(domain=[0, tallest])),
        **in_words(),
    )
    colour = alt.Color(
        "token:N",
        title=None,
        sort=total,
        scale=alt.Scale(domain=total[:N_SERIES]),
        legend=alt.Legend(orient="bottom"),
    )
    bars = base.mark_bar(width={"band": 0.94}).encode(y2="top:Q", color=colour)
    letters = (
        base.transform_filter(f"datum.bits > {_LEAST * tallest}")
        .transform_calculate(middle="(datum.base + datum.top) / 2")
        .mark_text(color="white", fontWeight="bold", fontSize=_STEP - 4)
        .encode(y="middle:Q", text="token:N")
    )
    chart = alt.LayerChart(layer=[bars, letters]).properties(width=_STEP * len(positions), height=_HEIGHT)
    return Figure("logo", "Sequence logo", caption, chart, list(rows), layout="fixed")
