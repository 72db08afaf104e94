"""Distance matrix: the plug-in estimate beside the cross-validated one, on one colour scale."""

from collections.abc import Sequence
from typing import Any

from posgeom.report.charts.figure import Figure, Row, inline, need_extra
from posgeom.report.charts.theme import SEQUENTIAL

Matrix = Sequence[Sequence[float | None]]
_SIDE = 270
_DIGITS = 5


def matrix_figure(
    estimates: dict[str, Matrix],
    *,
    first: Sequence[int],
    last: Sequence[int],
    depth: Sequence[int | None],
    metric: str = "Hellinger",
    caption: str = "",
) -> Figure:
    """Heat map of distances between positions, one panel for each estimate."""
    need_extra()
    import altair as alt

    labels = [f"{a}" if a == b else f"{a}-{b}" for a, b in zip(first, last, strict=True)]
    names = list(estimates)
    # Fields with an underscore are places in the drawing. What is hovered shows the others as they are: a text made for
    # every cell beforehand would take as long as the drawing.
    starts, ends = [a - 0.5 for a in first], _overlapping(first, last)
    columns = [
        {"_x": start, "_x2": end, "j": label, "depth of j": d}
        for start, end, label, d in zip(starts, ends, labels, depth, strict=True)
    ]
    rows = [
        {"i": labels[k], "depth of i": depth[k], "_y": starts[k], "_y2": ends[k], "_x": starts}
        | {name: [_short(value) for value in estimates[name][k]] for name in names}
        for k in range(len(first))
    ]
    largest = max((v for m in estimates.values() for line in m for v in line if v is not None), default=0.0)
    span = [min(first, default=0) - 0.5, max(last, default=0) + 0.5]
    axis = alt.Axis(grid=False, tickCount=6, format="d")
    x = alt.X("_x:Q", title="position j", scale=alt.Scale(domain=span, nice=False, zero=False), axis=axis)
    down = alt.Scale(domain=span[::-1], nice=False, zero=False)
    colours = alt.Scale(scheme=SEQUENTIAL, domain=[0, largest or 1])
    cells = alt.Chart().mark_rect(aria=False, strokeWidth=0, invalid=None, tooltip=alt.TooltipContent("data"))
    side = _side(first, last)
    panels = [
        cells.encode(
            x=x,
            x2="_x2",
            y=alt.Y("_y:Q", title="position i", scale=down, axis=axis),
            y2="_y2",
            color=alt.Color(f"{name}:Q", title=[metric, "distance"], scale=colours),
        ).properties(width=side, height=side, title=name)
        for name in names
    ]
    chart: Any = alt.HConcatChart(hconcat=panels, data=inline(rows), spacing=24)
    chart = chart.transform_flatten(["_x", *names]).transform_lookup(
        "_x", alt.LookupData(inline(columns), "_x", ["_x2", "j", "depth of j"])
    )
    return Figure("matrix", "Distance matrix", caption, chart, _table(estimates, first, last, depth), layout="panels")


def _side(first: Sequence[int], last: Sequence[int]) -> int:
    """Length of a side near the wanted one, with whole pixels for a cell: crisp, and small as a file."""
    cells = (last[-1] - first[0] + 1) / (last[0] - first[0] + 1) if first else 1
    return round(cells * max(1, round(_SIDE / cells)))


def _overlapping(first: Sequence[int], last: Sequence[int]) -> list[float]:
    """Ends of cells, each reaching under the next one, which is drawn over it: no seam shows at any resolution."""
    sizes = [b - a + 1 for a, b in zip(first, last, strict=True)]
    touching = [k + 1 < len(first) and first[k + 1] == last[k] + 1 for k in range(len(first))]
    return [b + 0.5 + (size / 2 if joined else 0) for b, size, joined in zip(last, sizes, touching, strict=True)]


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _table(
    estimates: dict[str, Matrix], first: Sequence[int], last: Sequence[int], depth: Sequence[int | None]
) -> list[Row]:
    """Pairs i <= j; the matrices are symmetric."""
    k = len(first)
    return [
        {"i_first": first[i], "i_last": last[i], "j_first": first[j], "j_last": last[j]}
        | {"depth_i": depth[i], "depth_j": depth[j]}
        | {name: matrix[i][j] for name, matrix in estimates.items()}
        for i in range(k)
        for j in range(i, k)
    ]
