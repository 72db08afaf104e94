"""Depth: how many sequences each position rests on."""

from collections.abc import Sequence
from typing import Any

from posgeom.report.charts.channels import by_colour, legend_of
from posgeom.report.charts.figure import Figure, Row, inline, need_extra
from posgeom.report.charts.words import in_words, told


def depth_figure(rows: Sequence[Row], *, min_depth: int | None = None, caption: str = "") -> Figure:
    """Chart of depth by position."""
    need_extra()
    import altair as alt

    states = [s for s in ("used", "too shallow", "empty", "not looked at") if any(row["state"] == s for row in rows)]
    # Each bar reaches under the next one, which is drawn over it, so that no seam shows.
    shown = told(
        [row | {"x": row["first"] - 0.5, "x2": row["last"] + (0.5 if row is rows[-1] else 1)} for row in rows],
        lambda row: f"{_positions(row)}: {row['depth']:,} sequences, {row['state']}",
    )
    bars = (
        alt.Chart(inline(shown))
        .mark_rect()
        .encode(
            x=alt.X(
                "x:Q", title="position", scale=alt.Scale(nice=False, zero=False), axis=alt.Axis(grid=False, format="d")
            ),
            x2="x2:Q",
            y=alt.Y("depth:Q", title="sequences with a token there", axis=alt.Axis(format="~s")),
            y2=alt.datum(0),
            color=by_colour("state", states, legend_of(states, columns=4)),
            **in_words(),
        )
    )
    layers: list[Any] = [bars]
    if min_depth is not None:
        least = told([{"min": min_depth}], lambda row: f"minimum depth: {row['min']:,} sequences")
        edge = alt.Chart(inline(least)).encode(y="min:Q")
        layers.append(edge.mark_rule(style="edge").encode(**in_words()))
        label = edge.mark_text(
            text=["minimum", f"{min_depth:,}"], style="edge-text", align="left", dx=4, lineBreak="\n"
        )
        layers.append(label.encode(x=alt.value("width")))
    chart = alt.LayerChart(layer=layers).properties(width=320, height=160)
    return Figure("depth", "Depth per position", caption, chart, list(rows))


def _positions(row: Row) -> str:
    first, last = row["first"], row["last"]
    return f"position {first}" if first == last else f"positions {first} to {last}, the least of them"
