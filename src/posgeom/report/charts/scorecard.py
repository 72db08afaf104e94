"""Scorecard: a score of every encoding with its interval, and what the corpus itself leaves open."""

from collections.abc import Sequence
from typing import Any

from posgeom.report.charts.channels import HAS_INTERVAL, by_encoding
from posgeom.report.charts.figure import Figure, Row, inline, known, need_extra
from posgeom.report.charts.theme import REFERENCE_SERIES, encoding_series

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
    caption: str = "",
) -> Figure:
    """Chart of one score of every encoding."""
    need_extra()
    import altair as alt

    rows = [_row(encoding, score) for encoding in encodings]
    sign = -1 if score in _DESCENDING else 1
    rows.sort(key=lambda row: (row[score] is None, sign * (row[score] or 0.0), row["encoding"]))
    order = [row["encoding"] for row in rows]
    coloured = [row | {"_series": encoding_series(row["encoding"])} for row in rows]
    base = alt.Chart(inline(coloured)).encode(
        color=by_encoding(),
        y=alt.Y(
            "encoding:N", sort=order, title=None, axis=alt.Axis(labelLimit=190, grid=True, ticks=False, labelPadding=9)
        ),
        tooltip=[
            alt.Tooltip("encoding:N"),
            alt.Tooltip(f"{score}:Q", format=".4f", title=score.replace("_", " ")),
            *(alt.Tooltip(f"{key}:Q", format=".4f") for key in known(rows, "low", "high")),
        ],
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
        layers = [*_ceiling(ceiling, at_end=score in _DESCENDING), *layers]
    chart = alt.LayerChart(layer=layers).properties(width=300, height=_ROW_HEIGHT * len(rows))
    return Figure(f"scorecard-{score}" if score != "alignment" else "scorecard", "Scorecard", caption, chart, rows)


def _row(encoding: dict[str, Any], score: str) -> Row:
    interval = (encoding.get("intervals") or {}).get(score) or {}
    row = {"encoding": encoding["name"], "n_dims": encoding.get("n_dims"), score: encoding.get(score)}
    return row | {"low": interval.get("low"), "high": interval.get("high")}


def _ceiling(ceiling: dict[str, Any], *, at_end: bool) -> list[Any]:
    import altair as alt

    data = alt.Chart(inline([{"ceiling": ceiling["value"], "from": ceiling.get("low"), "to": ceiling.get("high")}]))
    tooltip = [alt.Tooltip("ceiling:Q", title="half against half", format=".4f")]
    band = [] if ceiling.get("low") is None else [data.mark_rect(style="edge-band").encode(x="from:Q", x2="to:Q")]
    side: dict[str, Any] = {"align": "right", "dx": -3} if at_end else {"align": "left", "dx": 3}
    text = data.mark_text(text="half against half", style="edge-text", baseline="bottom", dy=-2, **side)
    return [
        *band,
        data.mark_rule(style="edge").encode(x="ceiling:Q", tooltip=tooltip),
        text.encode(x="ceiling:Q", y=alt.value(0)),
    ]
