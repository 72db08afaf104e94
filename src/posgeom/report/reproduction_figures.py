"""The figures of the paper redrawn, from the panels of ``reproduce.json``."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from posgeom.report.charts.figure import Figure
from posgeom.report.charts.grouped import grouped_figure
from posgeom.report.charts.lines import Lines, Quantity, lines_figure
from posgeom.report.charts.matrix import matrix_figure
from posgeom.report.charts.points import points_figure

Panel = Mapping[str, Any]


def item_figures(item: Mapping[str, Any]) -> list[Figure]:
    """The panels of an item as figures, each a file of its own."""
    several = len(item["panels"]) > 1
    return [
        _DRAWN[panel["kind"]](panel, f"{item['name']}{f'-{number}' if several else ''}")
        for number, panel in enumerate(item["panels"], 1)
    ]


def _matrix(panel: Panel, name: str) -> Figure:
    labels = panel["labels"]
    figure = matrix_figure(panel["estimates"], first=labels, last=labels, depth=panel["depth"])
    return _named(figure, panel, name)


def _lines(panel: Panel, name: str) -> Figure:
    rows = [
        {"series": series["name"], "x": x, "y": y}
        for series in panel["series"]
        for x, y in zip(series["x"], series["y"], strict=True)
    ]
    return lines_figure(
        rows,
        name=name,
        title=panel["title"],
        x=Quantity("x", panel["x_title"], panel["x_title"], log=panel["x_log"]),
        y=Quantity("y", panel["y_title"], panel["y_title"], log=panel["y_log"], spec=".4g"),
        lines=Lines("series", points=True),
        caption=panel["caption"],
    )


def _bars(panel: Panel, name: str) -> Figure:
    return grouped_figure(
        panel["bars"],
        name=name,
        title=panel["title"],
        value_title=panel["y_title"],
        log=panel["y_log"],
        caption=panel["caption"],
    )


def _points(panel: Panel, name: str) -> Figure:
    titles = {key: panel[key] for key in ("title", "x_title", "y_title", "is_map")}
    return points_figure(panel["points"], name=name, caption=panel["caption"], **titles)


def _named(figure: Figure, panel: Panel, name: str) -> Figure:
    return Figure(name, panel["title"], panel["caption"], figure.chart, figure.table, figure.layout)


_DRAWN: Mapping[str, Callable[[Panel, str], Figure]] = MappingProxyType(
    {"matrix": _matrix, "lines": _lines, "bars": _bars, "points": _points}
)
