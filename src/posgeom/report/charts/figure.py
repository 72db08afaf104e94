"""A figure: its chart, the table of data behind it, and its files."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from posgeom.errors import PosgeomError
from posgeom.report.charts.look import Look
from posgeom.report.charts.theme import config

if TYPE_CHECKING:
    import altair as alt

Row = dict[str, Any]

SUFFIXES = (".svg", ".pdf", ".png")
"""Forms that a chart can be drawn in."""
_POINTS_PER_INCH, _MOST_PIXELS = 72, 200_000_000
_NEEDS = ("altair", "vl_convert", "jinja2")


@dataclass(frozen=True, eq=False, slots=True)
class Figure:
    """A chart with what belongs to it."""

    name: str
    """Stem of its files."""
    title: str
    caption: str
    """How to read it, with estimator and sample size, in plain words."""
    chart: "alt.TopLevelMixin"
    """One Vega-Lite spec, for pages, notebooks and files."""
    table: Sequence[Row]
    """The data behind it, one dictionary a row, all with the same keys; None is undefined."""
    layout: str = "wide"
    """How a page fits it to its width: ``"wide"`` (one panel of fixed height), ``"square"``, ``"panels"`` (a row of
    square panels, or a column of them), ``"grid"`` (as many small panels a row as fit), or ``"fixed"``."""
    look: Look = field(default_factory=Look)
    """How files and notebooks draw it."""

    def spec(self) -> dict[str, Any]:
        """The Vega-Lite spec without a theme, JSON-serialisable; see `posgeom.report.charts.theme.config`."""
        spec: dict[str, Any] = self.chart.to_dict()
        spec.pop("config", None)
        return spec | {"description": self.description}

    @property
    def description(self) -> str:
        """What it shows, for those who do not see it."""
        return f"{self.title}. {self.caption}"


def can_draw() -> bool:
    """Whether the extra ``report`` is installed."""
    return all(find_spec(name) is not None for name in _NEEDS)


def need_extra() -> None:
    """Refuse to draw without the extra ``report``."""
    if not can_draw():
        raise PosgeomError("drawing needs altair, jinja2 and vl-convert-python: pip install 'posgeom[report]'")


def inline(rows: Sequence[Row]) -> "alt.InlineData":
    """Rows as the data of a chart."""
    import altair as alt

    data = alt.InlineData(values=[])
    data["values"] = list(rows)  # handed to the constructor, every number of them would be looked at
    return data


def known(rows: Sequence[Row], *keys: str) -> list[str]:
    """Those of the keys that some row has a value for: what is worth a line of a tooltip."""
    return [key for key in keys if any(row.get(key) is not None for row in rows)]


def with_theme(figure: Figure) -> dict[str, Any]:
    """The spec of a figure as files show it."""
    return themed(figure).to_dict()


def themed(figure: Figure) -> "alt.TopLevelMixin":
    """The chart of a figure as files and notebooks show it."""
    chart: Any = figure.look.sized(figure.chart)
    chart.config = config(font_size=figure.look.font_size) | {"background": "white"}
    chart.description = figure.description
    return chart  # type: ignore[no-any-return]


def draw(figure: Figure, *paths: Path) -> None:
    """Draw a figure, in one or more forms."""
    need_extra()
    import vl_convert

    for path in paths:
        if path.suffix not in SUFFIXES:
            raise PosgeomError(f"{path.name!r}: expected a name that ends in {', '.join(SUFFIXES)}")
    svg = vl_convert.vegalite_to_svg(with_theme(figure))
    if any(path.suffix == ".png" for path in paths):
        _check_pixels(svg, figure.look.dpi)
    forms: dict[str, Any] = {
        ".svg": lambda: svg.encode(),
        ".pdf": lambda: vl_convert.svg_to_pdf(svg),
        ".png": lambda: vl_convert.svg_to_png(svg, ppi=figure.look.dpi),
    }
    for path in paths:
        path.write_bytes(forms[path.suffix]())


def _check_pixels(svg: str, dpi: float) -> None:
    """Refuse a picture that would not fit in memory, where the renderer would end the process."""
    size = [float(length) * dpi / _POINTS_PER_INCH for length in re.findall(r'\b(?:width|height)="([\d.]+)"', svg)[:2]]
    if prod(size) > _MOST_PIXELS:
        raise PosgeomError(
            f"a picture of {size[0]:,.0f} by {size[1]:,.0f} pixels: expected at most {_MOST_PIXELS:,} in all; choose a "
            "smaller width, height or dpi, or .svg or .pdf, which have no pixels"
        )


def write_table(figure: Figure, path: Path) -> None:
    """Write the data behind a figure as CSV; undefined cells are empty."""
    with path.open("w", newline="", encoding="utf-8", errors="backslashreplace") as stream:
        writer = csv.DictWriter(stream, list(figure.table[0]) if figure.table else [])
        writer.writeheader()
        writer.writerows(figure.table)


def write_figure(figure: Figure, directory: Path) -> list[str]:
    """Write a figure in every form, and the data behind it as CSV."""
    drawn = [directory / f"{figure.name}{suffix}" for suffix in SUFFIXES]
    draw(figure, *drawn)
    table = directory / f"{figure.name}.csv"
    write_table(figure, table)
    return [path.name for path in (*drawn, table)]
