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
    """Heat map of distances between positions, one panel for each estimate.

    Parameters
    ----------
    estimates : dict of str to matrix
        Distances by the name of their estimate, each of k rows and columns; None is undefined.
    first, last : sequence of int, length k
        Positions that a row stands for, both included.
    depth : sequence of int or None, length k
        Sequences at the shallowest of them.
    metric : str
    caption : str

    Returns
    -------
    Figure
    """
    need_extra()
    import altair as alt

    labels = [f"{a}" if a == b else f"{a}-{b}" for a, b in zip(first, last, strict=True)]
    columns = [
        {"j": a - 0.5, "j2": b + 0.5, "column": label, "depth of j": d}
        for a, b, label, d in zip(first, last, labels, depth, strict=True)
    ]
    names = list(estimates)
    rows = [
        {"i": a - 0.5, "i2": b + 0.5, "row": labels[k], "depth of i": depth[k], "j": [c["j"] for c in columns]}
        | {name: [_short(value) for value in estimates[name][k]] for name in names}
        for k, (a, b) in enumerate(zip(first, last, strict=True))
    ]
    largest = max((v for m in estimates.values() for line in m for v in line if v is not None), default=0.0)
    span = [min(first, default=0) - 0.5, max(last, default=0) + 0.5]
    scale = alt.Scale(domain=span, nice=False, zero=False)
    axis = {"grid": False, "tickCount": 6, "format": "d"}
    panels = []
    for number, name in enumerate(names):
        cell = alt.Chart(inline(rows)).transform_flatten(["j", name])
        cell = cell.transform_lookup("j", alt.LookupData(inline(columns), "j", ["j2", "column", "depth of j"]))
        heat = cell.mark_rect(aria=False, strokeWidth=0).encode(
            x=alt.X("j:Q", title="position j", scale=scale, axis=alt.Axis(**axis)),
            x2="j2",
            y=alt.Y(
                "i:Q",
                title="position i" if number == 0 else None,
                scale=alt.Scale(domain=span[::-1], nice=False),
                axis=alt.Axis(**axis),
            ),
            y2="i2",
            color=alt.condition(
                f"isValid(datum['{name}'])",
                alt.Color(
                    f"{name}:Q",
                    title=[f"{metric}", "distance"],
                    scale=alt.Scale(scheme=SEQUENTIAL, domain=[0, largest or 1]),
                ),
                alt.value("#bbbbbb"),
            ),
            tooltip=[
                alt.Tooltip("row:N", title="i"),
                alt.Tooltip("column:N", title="j"),
                alt.Tooltip(f"{name}:Q", title=f"{name} distance", format=".4f"),
                alt.Tooltip("depth of i:Q", format=","),
                alt.Tooltip("depth of j:Q", format=","),
            ],
        )
        panels.append(heat.properties(width=_SIDE, height=_SIDE, title=name))
    chart: Any = alt.HConcatChart(hconcat=panels, spacing=24) if len(panels) > 1 else panels[0]
    return Figure("matrix", "Distance matrix", caption, chart, _table(estimates, first, last, depth), layout="panels")


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
