"""Scorecard: a score of every encoding with its interval, and what the corpus itself leaves open."""

from collections.abc import Sequence
from typing import Any

from posgeom.report.charts.channels import HAS_INTERVAL, by_encoding
from posgeom.report.charts.figure import Figure, Row, inline, known, need_extra
from posgeom.report.charts.theme import REFERENCE_SERIES, encoding_series
from posgeom.report.charts.words import in_words, number, told

AXES = {
    "alignment": "alignment (higher: more faithful)",
    "stress_scaled": "scaled stress (lower: more faithful)",
    "stress_raw": "raw stress (lower: more faithful)",
    "stress_1": "stress-1 (lower: more faithful)",
    "pearson": "Pearson correlation (higher: more faithful)",
    "spearman": "Spearman correlation (higher: more faithful)",
}
"""Scores that can be drawn, and what their axis says."""
_DESCENDING = ("alignment", "pearson", "spearman")
_ROW_HEIGHT = 19


def scorecard_figure(
    encodings: Sequence[dict[str, Any]],
    *,
    score: str = "alignment",
    noise_ceiling: dict[str, Any] | None = None,
    level: float | None = None,
    caption: str = "",
) -> Figure:
    """Chart of one score of every encoding."""
    need_extra()
    import altair as alt

    rows = [_row(encoding, score) for encoding in encodings]
    sign = -1 if score in _DESCENDING else 1
    rows.sort(key=lambda row: (row[score] is None, sign * (row[score] or 0.0), row["encoding"]))
    order = [row["encoding"] for row in rows]
    label = score.replace("_", " ")
    coloured = told(
        [row | {"_series": encoding_series(row["encoding"])} for row in rows],
        lambda row: f"{label} of {row['encoding']}: {number(row[score], '.3f', row, level)}",
    )
    base = alt.Chart(inline(coloured)).encode(
        color=by_encoding(),
        y=alt.Y(
            "encoding:N", sort=order, title=None, axis=alt.Axis(labelLimit=190, grid=True, ticks=False, labelPadding=9)
        ),
        **in_words(),
    )
    defined = f"isValid(datum.{score})"
    axis = alt.Axis(tickCount=5)
    layers: list[Any] = []
    if known(rows, "low"):
        bars = base.transform_filter(HAS_INTERVAL).mark_rule(strokeWidth=4, opacity=0.4)
        layers.append(bars.encode(x=alt.X("low:Q", title=AXES[score], axis=axis), x2="high:Q"))
    if known(rows, score):
        points = base.transform_filter(defined).mark_point(filled=True, size=55, opacity=1)
        layers.append(points.encode(x=alt.X(f"{score}:Q", title=AXES[score], axis=axis)))
    if any(row[score] is None for row in rows):
        text = base.transform_filter(f"!{defined}").mark_text(text="undefined", align="left", style="undefined-text")
        layers.append(text.encode(x=alt.value(4)))
    reference = [row for row in coloured if row["_series"] == REFERENCE_SERIES and row[score] is not None]
    if reference:
        line = alt.Chart(inline(reference[:1])).mark_rule(style="guide", strokeDash=[2, 2])
        layers.insert(0, line.encode(x=alt.X(f"{score}:Q", title=AXES[score], axis=axis)))
    ceiling = (noise_ceiling or {}).get(score)
    if ceiling is not None and ceiling.get("value") is not None:
        layers = [*_ceiling(ceiling, level, at_end=score in _DESCENDING), *layers]
    chart = alt.LayerChart(layer=layers).properties(width=300, height=_ROW_HEIGHT * len(rows))
    return Figure(f"scorecard-{score}" if score != "alignment" else "scorecard", "Scorecard", caption, chart, rows)


def _row(encoding: dict[str, Any], score: str) -> Row:
    interval = (encoding.get("intervals") or {}).get(score) or {}
    row = {"encoding": encoding["name"], "n_dims": encoding.get("n_dims"), score: encoding.get(score)}
    return row | {"low": interval.get("low"), "high": interval.get("high")}


def _ceiling(ceiling: dict[str, Any], level: float | None, *, at_end: bool) -> list[Any]:
    import altair as alt

    row = {"ceiling": ceiling["value"], "low": ceiling.get("low"), "high": ceiling.get("high")}
    data = alt.Chart(inline(told([row], lambda row: f"half against half: {number(row['ceiling'], '.3f', row, level)}")))
    band = [] if row["low"] is None else [data.mark_rect(style="edge-band").encode(x="low:Q", x2="high:Q")]
    side: dict[str, Any] = {"align": "right", "dx": -3} if at_end else {"align": "left", "dx": 3}
    text = data.mark_text(text="half against half", style="edge-text", baseline="bottom", dy=-2, **side)
    return [
        *band,
        data.mark_rule(style="edge").encode(x="ceiling:Q", **in_words()),
        text.encode(x="ceiling:Q", y=alt.value(0)),
    ]
