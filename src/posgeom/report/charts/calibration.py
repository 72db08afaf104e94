"""Calibration: bias of estimates in units of their spread, and coverage of their intervals."""

from collections.abc import Sequence

from posgeom.report.charts.figure import Figure, Row, inline, need_extra

_HEIGHT_OF_AN_ESTIMATE, _HEIGHT_OF_A_COVERAGE, _PANEL_WIDTH = 34, 15, 110


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
    rows = [{"level": level, **row} for row in rows]
    scale, axis = alt.Scale(zero=False), alt.Axis(format=".2f", tickCount=4)
    base = alt.Chart().encode(y=alt.Y("estimate:N", sort=names, title=None, axis=alt.Axis(labelLimit=220)))
    bars = base.mark_rule().encode(x=alt.X("low:Q", title=None, scale=scale, axis=axis), x2="high:Q")
    points = base.mark_point(filled=True, size=28, opacity=1).encode(
        x="coverage:Q",
        tooltip=[
            "scenario:N",
            "estimate:N",
            *(alt.Tooltip(f"{k}:Q", format=".3f") for k in ("coverage", "low", "high")),
        ],
    )
    wanted = alt.Chart().mark_rule(style="edge").encode(x="mean(level):Q")
    size = {"width": _PANEL_WIDTH, "height": _HEIGHT_OF_A_COVERAGE * len(names)}
    layers = alt.LayerChart(layer=[wanted, bars, points], data=inline(rows)).properties(**size)
    chart = layers.facet(alt.Facet("scenario:N", sort=scenarios, header=alt.Header(title=None)), columns=len(scenarios))
    return Figure("coverage", "Coverage of the intervals", caption, chart, rows)


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
    chart = alt.LayerChart(layer=[truth, points]).properties(width=300, height=_HEIGHT_OF_AN_ESTIMATE * len(names))
    return Figure("bias", "Plug-in and cross-validated estimates over the truth", caption, chart, list(rows))
