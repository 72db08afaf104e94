"""A heat map of layers by heads: one Vega-Lite spec, drawn as SVG, PDF or PNG without a browser."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import PosgeomError

if TYPE_CHECKING:
    import altair as alt

NEEDS = ("altair", "vl_convert")
"""Packages of the extra ``report``."""

_CELL_PIXELS = 22
_PNG_SCALE = 2.0
_UNDEFINED = "#bbbbbb"


def can_draw() -> bool:
    """Whether the extra ``report`` is installed."""
    return all(find_spec(name) is not None for name in NEEDS)


def layer_head_heatmap(values: NDArray[np.float64], *, name: str, title: str) -> "alt.LayerChart":
    """Heat map of a number for every layer and head.

    Parameters
    ----------
    values : ndarray of float, shape (n_layers, n_heads)
        NaN where it is undefined; such cells are grey.
    name : str
        What the number is, for the legend.
    title : str

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    PosgeomError
        When the extra ``report`` is not installed.
    """
    if not can_draw():
        raise PosgeomError("drawing needs altair and vl-convert-python: pip install 'posgeom[report]'")
    import altair as alt

    cells: list[dict[str, Any]] = [
        {"layer": layer, "head": head, "value": float(value) if np.isfinite(value) else None}
        for (layer, head), value in np.ndenumerate(values)
    ]
    grid = alt.Chart(alt.InlineData(values=cells)).encode(
        x=alt.X("head:O", title="head", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("layer:O", title="layer", sort="ascending"),
        tooltip=["layer:O", "head:O", alt.Tooltip("value:Q", title=name, format=".4g")],
    )
    # Viridis: even steps for colour-blind eyes and in print. Undefined cells are left out of it, over the grey.
    coloured = grid.mark_rect().encode(color=alt.Color("value:Q", title=name, scale=alt.Scale(scheme="viridis")))
    n_layers, n_heads = values.shape
    size = {"width": _CELL_PIXELS * n_heads, "height": _CELL_PIXELS * n_layers}
    return alt.LayerChart(layer=[grid.mark_rect(color=_UNDEFINED), coloured], title=title).properties(**size)


def draw(chart: "alt.LayerChart", path: Path) -> None:
    """Draw a chart.

    Parameters
    ----------
    chart : altair.LayerChart
    path : Path
        Ends in .svg, .pdf or .png, which tells the form.

    Raises
    ------
    OSError
        When the file cannot be written.
    """
    import vl_convert

    spec = chart.to_dict()
    drawn: dict[str, Any] = {
        ".svg": lambda: vl_convert.vegalite_to_svg(spec).encode(),
        ".pdf": lambda: vl_convert.vegalite_to_pdf(spec),
        ".png": lambda: vl_convert.vegalite_to_png(spec, scale=_PNG_SCALE),
    }
    path.write_bytes(drawn[path.suffix]())
