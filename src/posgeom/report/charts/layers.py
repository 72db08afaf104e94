"""A number for every layer and head of a model, as a heat map."""

import numpy as np
from numpy.typing import NDArray

from posgeom.report.charts.figure import Figure, Row, inline, need_extra
from posgeom.report.charts.theme import SEQUENTIAL
from posgeom.report.charts.words import in_words, number, told

_CELL, _LARGEST_CELL, _SIDE = 22, 44, 360


def layers_figure(
    values: NDArray[np.float64], *, score: str = "alignment", name: str = "heatmap", title: str, caption: str = ""
) -> Figure:
    """Heat map of layers by heads.

    Shapes: `values` (n_layers, n_heads).
    """
    need_extra()
    import altair as alt

    cells = [
        {"layer": layer, "head": head, "value": float(value) if np.isfinite(value) else None}
        for (layer, head), value in np.ndenumerate(values)
    ]

    def sentence(row: Row) -> str:
        return f"layer {row['layer']}, head {row['head']}: {score} {number(row['value'], '.4g')}"

    grid = alt.Chart(inline(told(cells, sentence))).encode(
        x=alt.X("head:O", title="head", axis=alt.Axis(labelAngle=0, labelOverlap=True)),
        y=alt.Y("layer:O", title="layer", sort="ascending", axis=alt.Axis(labelOverlap=True)),
        **in_words(),
    )
    # Undefined cells are left out of the coloured layer, and so show the grey under it.
    coloured = grid.mark_rect().encode(color=alt.Color("value:Q", title=score, scale=alt.Scale(scheme=SEQUENTIAL)))
    n_layers, n_heads = values.shape
    cell = min(_LARGEST_CELL, max(_CELL, _SIDE // max(values.shape)))
    chart = alt.LayerChart(layer=[grid.mark_rect(style="undefined"), coloured]).properties(
        width=cell * n_heads, height=cell * n_layers
    )
    return Figure(name, title, caption, chart, cells, layout="fixed")
