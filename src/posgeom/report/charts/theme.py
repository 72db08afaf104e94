"""What all charts share: colours that colour-blind eyes and a printer keep apart, type and lines."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from zlib import crc32

FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
SEQUENTIAL: Any = "viridis"
"""Colour scheme of numbers: even steps for colour-blind eyes and in grey."""

INK, MUTED, GRID, EDGE, UNDEFINED = "ink", "muted", "grid", "edge", "undefined"
_SERIES = ("#0072b2", "#d55e00", "#00795a", "#a64d85", "#8f6400", "#3f3fbf", "#5a5a5a")
"""After Okabe and Ito 2008, darkened until each has a contrast of 3 with white."""

COLOURS: Mapping[str, str] = MappingProxyType(
    {INK: "#1b1f24", MUTED: "#57606a", GRID: "#e3e6ea", EDGE: "#b3261e", UNDEFINED: "#bbbbbb"}
    | {f"series-{i}": colour for i, colour in enumerate(_SERIES)}
)
"""Colours by their part, for figures. A page names the same parts ``var(--PART)`` and so follows its reader's theme."""

N_SERIES = len(_SERIES)
REFERENCE_SERIES = N_SERIES - 1
"""The grey one, of what others are held against."""
_OWN = ("sinusoidal", "alibi", "mds", "rope", "learned", "t5")


def encoding_series(name: str) -> int:
    """The colour of an encoding in every chart: of its scheme, by name alone; random tables are grey."""
    scheme = name.partition(":")[0]
    if scheme == "random":
        return REFERENCE_SERIES
    return _OWN.index(scheme) if scheme in _OWN else crc32(scheme.encode()) % REFERENCE_SERIES


DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [1, 3], [10, 4])
"""Line patterns that go with the colours of series, for those who see no colour."""


def config(colours: Mapping[str, str] = COLOURS, *, font_size: int = 10) -> dict[str, Any]:
    """Vega-Lite configuration."""
    ink, muted, grid, edge = (colours[part] for part in (INK, MUTED, GRID, EDGE))
    series = [colours[f"series-{i}"] for i in range(N_SERIES)]
    text = {
        "labelColor": muted,
        "titleColor": ink,
        "labelFontSize": font_size,
        "titleFontSize": font_size + 1,
        "titleFontWeight": "normal",
    }
    return {
        "background": None,
        "font": FONT,
        "view": {"stroke": None},
        "axis": text | {"gridColor": grid, "domainColor": muted, "tickColor": muted, "labelLimit": 190},
        "legend": text | {"labelLimit": 190, "symbolStrokeWidth": 2, "symbolOpacity": 1},
        "header": {"labelColor": ink, "labelFontSize": font_size, "labelLimit": 150, "titleColor": ink},
        "title": {"color": ink, "fontSize": font_size + 2, "fontWeight": "normal", "anchor": "start"},
        "range": {"category": series},
        **{mark: {"color": series[0]} for mark in ("area", "bar", "point", "rule")},
        "text": {"color": ink, "fontSize": font_size},
        "line": {"color": series[0], "strokeWidth": 1.6},
        "style": {
            "edge": {"stroke": edge, "color": edge, "strokeDash": [5, 3], "strokeWidth": 1.3},
            "edge-band": {"fill": edge, "color": edge, "fillOpacity": 0.12},
            "edge-text": {"fill": edge, "color": edge, "fontSize": font_size},
            "outlined": {"stroke": muted, "strokeWidth": 0.8},
            "guide": {"stroke": muted, "color": muted, "strokeWidth": 0.8},
            "undefined": {"fill": colours[UNDEFINED], "color": colours[UNDEFINED]},
            "undefined-text": {"fill": muted, "color": muted, "fontSize": font_size, "fontStyle": "italic"},
        },
    }
