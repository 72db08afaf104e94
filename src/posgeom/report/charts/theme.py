"""What all charts share: colours that colour-blind eyes and a printer keep apart, type and lines."""

from collections.abc import Collection, Mapping, Sequence
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
CORPUS_SERIES = N_SERIES
"""What the corpus itself has: ink, and an unbroken line."""
REFERENCE_SERIES = N_SERIES - 1
"""The grey one, of what others are held against."""
_OWN = ("sinusoidal", "alibi", "mds", "rope", "learned", "t5")
_SERIES_OF = {name: i for i, name in enumerate(_OWN)} | {"random": REFERENCE_SERIES, "corpus": CORPUS_SERIES}
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [14, 3], [1, 3], [4, 2, 1, 2, 1, 2, 1, 2], [12, 3, 2, 3, 2, 3])
"""Line patterns, for those who see no colour."""


def scheme_of(name: str) -> str:
    """What an encoding's name says before its options; the paper writes schemes in capitals."""
    return name.partition(":")[0].lower()


def encoding_series(name: str) -> int:
    """The colour of an encoding in every chart: of its scheme, by name alone; random tables are grey."""
    scheme = scheme_of(name)
    return _SERIES_OF.get(scheme, crc32(scheme.encode()) % REFERENCE_SERIES)


def series_of(names: Sequence[str]) -> list[int]:
    """The colours of the series of a chart, as indices.

    Where any is a known scheme, each has that of `encoding_series`; a scheme of the user's own gives way to those of
    the catalogue, as far as colours reach. Other series have colours in their order.
    """
    schemes = [scheme_of(name) for name in names]
    if not any(scheme in _SERIES_OF for scheme in schemes):
        return [i % N_SERIES for i in range(len(names))]
    taken = {scheme: _SERIES_OF[scheme] for scheme in schemes if scheme in _SERIES_OF}
    for scheme in sorted(set(schemes) - taken.keys()):
        taken[scheme] = _first_free(encoding_series(scheme), REFERENCE_SERIES, taken.values())
    return [taken[scheme] for scheme in schemes]


def dashes_of(names: Sequence[str]) -> list[int]:
    """The line patterns that go with `series_of`; encodings of one scheme, of one colour, differ in theirs."""
    series = series_of(names)
    if not any(scheme_of(name) in _SERIES_OF for name in names):
        return series
    dashes = {name: (colour + 1) % len(DASHES) for name, colour in zip(names, series, strict=True) if ":" not in name}
    for name in sorted(set(names) - dashes.keys()):
        dashes[name] = 1 + _first_free(crc32(name.encode()) % N_SERIES, N_SERIES, [d - 1 for d in dashes.values()])
    return [dashes[name] for name in names]


def _first_free(start: int, n: int, taken: Collection[int]) -> int:
    """The first of n numbers, from `start` on and around, that is not taken; `start` where all are."""
    return next((i % n for i in range(start, start + n) if i % n not in taken), start)


def config(colours: Mapping[str, str] = COLOURS, *, font_size: float = 10) -> dict[str, Any]:
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
        "range": {"category": [*series, ink]},
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
