"""Calibration: bias of estimates in units of their spread, and coverage of their intervals."""

from collections.abc import Sequence

from posgeom.report.charts.figure import Figure, Row, inline, need_extra

_HEIGHT_A_ROW = 17
_NUMBERS = ("coverage", "low", "high")


def coverage_figure(rows: Sequence[Row], *, level: float, caption: str = "") -> Figure:
    """Chart of the share of intervals that hold the truth.

    Parameters
    ----------
    rows : sequence of dict
        Keys ``scenario``, ``estimate``, ``coverage``, ``low`` and ``high`` (what sampling error leaves open).
    level : float
        What the coverage should be.
    caption : str

    Returns
    -------
    Figure
    """
    need_extra()
    import altair as alt

    names = list(dict.fromkeys(row["estimate"] for row in rows))
    scenarios = list(dict.fromkeys(row["scenario"] for row in rows))
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("estimate:N", sort=names, title=None, axis=alt.Axis(labelLimit=220)),
        yOffset=alt.YOffset("scenario:N", sort=scenarios),
        color=alt.Color("scenario:N", title=None, sort=scenarios, legend=alt.Legend(orient="bottom", columns=3)),
    )
    scale, axis = alt.Scale(zero=False), alt.Axis(format=".2f", tickCount=5)
    across = alt.X("low:Q", title="share of intervals that hold the truth", scale=scale, axis=axis)
    bars = base.mark_rule().encode(x=across, x2="high:Q")
    points = base.mark_point(filled=True, size=28, opacity=1).encode(
        x="coverage:Q",
        tooltip=[
            "scenario:N",
            "estimate:N",
            *(alt.Tooltip(f"{k}:Q", format=".3f") for k in ("coverage", "low", "high")),
        ],
    )
    wanted = alt.Chart(inline([{"level": level}])).mark_rule(style="edge").encode(x="level:Q")
    chart = alt.LayerChart(layer=[wanted, bars, points]).properties(width=300, height=_HEIGHT_A_ROW * 2 * len(names))
    return Figure("coverage", "Coverage of the intervals", caption, chart, list(rows))


def bias_figure(rows: Sequence[Row], *, caption: str = "") -> Figure:
    """Chart of estimates over the truth.

    Parameters
    ----------
    rows : sequence of dict
        Keys ``scenario``, ``estimate``, ``estimator``, ``ratio`` (mean over truth), ``low`` and ``high`` (its
        sampling error).
    caption : str

    Returns
    -------
    Figure
    """
    need_extra()
    import altair as alt

    names = list(dict.fromkeys(row["estimate"] for row in rows))
    estimators = list(dict.fromkeys(row["estimator"] for row in rows))
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("estimate:N", sort=names, title=None, axis=alt.Axis(labelLimit=220)),
        yOffset=alt.YOffset("scenario:N"),
        color=alt.Color("estimator:N", title=None, sort=estimators, legend=alt.Legend(orient="bottom")),
    )
    scale = alt.Scale(type="log")
    axis = alt.Axis(format="~r", values=[0.03, 0.1, 0.3, 1, 3, 10, 30, 100])
    points = base.mark_point(filled=True, size=28, opacity=1).encode(
        x=alt.X("ratio:Q", title="mean of the estimates over the truth", scale=scale, axis=axis),
        shape=alt.Shape("estimator:N", sort=estimators, legend=None),
        tooltip=["scenario:N", "estimate:N", "estimator:N", alt.Tooltip("ratio:Q", format=".3f")],
    )
    truth = alt.Chart(inline([{"one": 1}])).mark_rule(style="edge").encode(x=alt.X("one:Q", scale=scale))
    chart = alt.LayerChart(layer=[truth, points]).properties(width=300, height=_HEIGHT_A_ROW * 2 * len(names))
    return Figure("bias", "Plug-in and cross-validated estimates over the truth", caption, chart, list(rows))
