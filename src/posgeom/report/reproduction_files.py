"""The files of ``posgeom reproduce``."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from posgeom.progress import ProgressHook, silent
from posgeom.report.charts.figure import can_draw, write_figure
from posgeom.report.drawn import FIGURES
from posgeom.report.files import os_errors_named
from posgeom.report.reproduction import csv_text
from posgeom.report.reproduction_figures import item_figures
from posgeom.report.reproduction_page import reproduction_page

JSON, ROWS, PAGE = "reproduce.json", "reproduce.csv", "reproduce.html"


def write_reproduction(
    document: Mapping[str, Any], stage: Path, target: Path, *, progress: ProgressHook = silent
) -> list[str]:
    """Write the result to a scratch directory: numbers, and with the extra ``report`` page and figures."""
    with os_errors_named(target):
        (stage / JSON).write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="ascii")
        (stage / ROWS).write_text(csv_text(document), encoding="utf-8", errors="backslashreplace", newline="")
        if not can_draw():
            return [ROWS, JSON]
        figures = {item["name"]: item_figures(item) for item in document["items"]}
        page = reproduction_page(document, figures)
        (stage / PAGE).write_text(page, encoding="utf-8", errors="backslashreplace", newline="\n")
        drawn = [figure for several in figures.values() for figure in several]
        if drawn:
            (stage / FIGURES).mkdir()
        for done, figure in enumerate(drawn):
            progress(FIGURES, done, len(drawn))
            write_figure(figure, stage / FIGURES)
        progress(FIGURES, len(drawn), len(drawn))
    return [ROWS, PAGE, JSON, *([FIGURES] if drawn else [])]
