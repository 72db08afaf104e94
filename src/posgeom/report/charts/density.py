"""Distances of each encoding against the corpus's: how many pairs lie where, never a cloud of them."""

from collections.abc import Sequence
from typing import Any

from posgeom.report.charts.figure import Figure, inline, need_extra
from posgeom.report.charts.theme import SEQUENTIAL

MAX_PANELS = 12
"""Encodings drawn; the table has all."""
COLUMNS = 4
_BIN_PIXELS, _SIDE = 4, 128


def density_figure(panels: Sequence[dict[str, Any]], *, metric: str = "Hellinger", caption: str = "") -> Figure:
    """Small multiples of two-dimensional densities of pairs."""
    need_extra()
    import altair as alt

    shown = list(panels[:MAX_PANELS])
    names = [panel["encoding"] for panel in shown]
    top = max((v + p["width"] for p in shown for key in ("x", "y") for v in p[key]), default=1.0)
    right = max((v + p["width"] for p in shown for v in p["x"]), default=1.0)
    scales = [alt.Scale(domain=[0, end], nice=False) for end in (right, top)]
    axis = alt.Axis(tickCount=3, grid=False)
    compact = [{key: panel[key] for key in ("encoding", "width", "x", "y", "pairs")} for panel in shown]
    bins = (
        alt.Chart()
        .transform_flatten(["x", "y", "pairs"])
        .transform_calculate(x2="datum.x + datum.width", y2="datum.y + datum.width")
        .mark_rect(aria=False, strokeWidth=0)
        .encode(
            x=alt.X("x:Q", title=f"corpus ({metric})", scale=scales[0], axis=axis),
            x2="x2:Q",
            y=alt.Y("y:Q", title="encoding, rescaled", scale=scales[1], axis=axis),
            y2="y2:Q",
            color=alt.Color(
                "pairs:Q", title="pairs", scale=alt.Scale(type="log", scheme=SEQUENTIAL), legend=alt.Legend(format="~s")
            ),
            tooltip=[
                alt.Tooltip("encoding:N"),
                alt.Tooltip("x:Q", title="corpus distance from", format=".3f"),
                alt.Tooltip("y:Q", title="encoding's, rescaled, from", format=".3f"),
                alt.Tooltip("pairs:Q", format=","),
            ],
        )
    )
    diagonal = alt.Chart(inline([{"a": 0, "b": min(right, top)}])).mark_rule(style="edge")
    layers: Any = alt.LayerChart(
        layer=[bins, diagonal.encode(x="a:Q", y="a:Q", x2="b:Q", y2="b:Q")], data=inline(compact)
    ).properties(width=_pixels(right, shown), height=_pixels(top, shown))
    header = alt.Header(title=None, labelLimit=_SIDE)
    chart = layers.facet(alt.Facet("encoding:N", sort=names, header=header), columns=COLUMNS, spacing=14)
    table = [
        {"encoding": p["encoding"], "bin_width": p["width"], "corpus_from": x, "encoding_from": y, "pairs": n}
        for p in panels
        for x, y, n in zip(p["x"], p["y"], p["pairs"], strict=True)
    ]
    return Figure("density", "Encodings against the corpus", caption, chart, table, layout="grid")


def _pixels(length: float, panels: Sequence[dict[str, Any]]) -> int:
    """Whole pixels for each bin, so that no seam shows between them."""
    widths = [panel["width"] for panel in panels if panel["width"] > 0]
    return _BIN_PIXELS * round(length / widths[0]) if widths else _SIDE
