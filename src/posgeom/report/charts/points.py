"""Points of named groups in a plane: a map in one unit, or two quantities against each other."""

from collections.abc import Sequence

from posgeom.report.charts.channels import by_colour, by_shape, legend_of, map_scales
from posgeom.report.charts.figure import Figure, Row, inline, need_extra
from posgeom.report.charts.words import in_words, told

_SIDE = 280


def points_figure(
    rows: Sequence[Row],
    *,
    name: str,
    title: str,
    x_title: str,
    y_title: str,
    is_map: bool = False,
    caption: str = "",
) -> Figure:
    """Chart of points."""
    need_extra()
    import altair as alt

    groups = list(dict.fromkeys(row["group"] for row in rows))
    scales = [alt.Scale(zero=True), alt.Scale(zero=True)]
    if is_map:
        scales = map_scales(*([row[key] for row in rows] for key in ("x", "y")))
    axis = alt.Axis(tickCount=5)
    legend = legend_of(groups)

    def sentence(row: Row) -> str:
        which = f"{row['group']} {row['label']}".strip()
        return f"{which}: {x_title} {row['x']:.4f}, {y_title} {row['y']:.4f}"

    base = alt.Chart(inline(told(rows, sentence))).encode(
        x=alt.X("x:Q", title=x_title, scale=scales[0], axis=axis),
        y=alt.Y("y:Q", title=y_title, scale=scales[1], axis=axis),
        color=by_colour("group", groups, legend),
    )
    points = base.mark_point(filled=True, size=34 if is_map else 12, opacity=0.9 if is_map else 0.55).encode(
        shape=by_shape("group", groups, legend),
        **in_words(),
    )
    chart = points.properties(width=_SIDE, height=_SIDE)
    return Figure(name, title, caption, chart, list(rows), layout="square")
