"""Map of positions: the two leading axes of classical MDS, coloured by position."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from posgeom.report.charts.channels import map_scales
from posgeom.report.charts.figure import Figure, Row, inline, need_extra
from posgeom.report.charts.theme import SEQUENTIAL
from posgeom.report.charts.words import in_words, told

MAX_POINTS = 1024
"""Positions drawn, evenly spaced where there are more; the table has all."""
_SIDE, _LABELS = 280, 12
_AXES = ("axis_1", "axis_2")


def map_figure(rows: Sequence[Row], *, shares: Sequence[float] = (), caption: str = "") -> Figure:
    """Map of positions."""
    need_extra()
    import altair as alt

    limits = [_fences([row[key] for row in rows]) for key in _AXES]
    scales = map_scales(*limits)
    ends = [scale.to_dict()["domain"] for scale in scales]
    titles = [f"MDS axis {k + 1}" + (f" ({shares[k]:.0%} of the inertia)" if k < len(shares) else "") for k in range(2)]
    axis = alt.Axis(tickCount=5)
    step = -(-len(rows) // MAX_POINTS) or 1
    drawn: list[Row] = []
    far: list[str] = []
    labels_at: list[list[float]] = []
    for n, row in enumerate(rows):
        at = [min(max(row[key], low), high) for key, (low, high) in zip(_AXES, ends, strict=True)]
        is_far = at != [row[key] for key in _AXES]
        if is_far:
            far.append(str(row["position"]))
        if is_far or n % step == 0:
            wide = [(high - low) / _LABELS for low, high in ends]
            # A label stands where none before it would be covered.
            labelled = all(abs(at[0] - x) > wide[0] or abs(at[1] - y) > wide[1] for x, y in labels_at)
            labels_at += [at] * labelled
            drawn.append(row | {"_x": at[0], "_y": at[1], "_label": str(row["position"]) if labelled else ""})
    if far:
        caption += f" Drawn at the edge, beyond the limits of the map: {', '.join(far[:_LABELS])}."
    base = alt.Chart(inline(told(drawn, _sentence))).encode(
        x=alt.X("_x:Q", title=titles[0], scale=scales[0], axis=axis),
        y=alt.Y("_y:Q", title=titles[1], scale=scales[1], axis=axis),
    )
    points = base.mark_point(filled=True, size=36, opacity=0.95, style="outlined").encode(
        color=alt.Color(
            "position:Q", title="position", scale=alt.Scale(scheme=SEQUENTIAL), legend=alt.Legend(format="d")
        ),
        **in_words(),
    )
    path: Any = base.mark_line(style="guide", strokeWidth=0.7, opacity=0.6).encode(order="position:Q")
    labels = base.mark_text(align="left", dx=5, dy=-5).encode(text="_label:N")
    chart = alt.LayerChart(layer=[path, points, labels]).properties(width=_SIDE, height=_SIDE)
    return Figure("map", "Map of positions", caption, chart, list(rows), layout="square")


def _sentence(row: Row) -> str:
    return f"position {row['position']}: {row['axis_1']:.4f} on axis 1, {row['axis_2']:.4f} on axis 2"


def _fences(values: Sequence[float]) -> list[float]:
    """The ends of what lies within Tukey's outer fences, three interquartile ranges beyond the quartiles."""
    if not values:
        return []
    low, high = np.quantile(values, (0.25, 0.75))
    reach = 3 * (high - low)
    return [value for value in values if low - reach <= value <= high + reach]
