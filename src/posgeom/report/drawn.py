"""The drawn part of a run: its page, and its figures with the data behind them."""

from collections.abc import Sequence
from pathlib import Path

from posgeom.progress import ProgressHook, silent
from posgeom.report.charts.figure import write_figure
from posgeom.report.figures import figures
from posgeom.report.files import os_errors_named, staged_file
from posgeom.report.page import REPORT, write_page
from posgeom.report.run import Run, read_run

__all__ = ["FIGURES", "REPORT", "draw_run", "save_page"]

FIGURES = "figures"


def draw_run(
    stage: Path, target: str | Path, *, source: Path | None = None, progress: ProgressHook = silent
) -> list[str]:
    """Write the page and the figures of a run from its numbers alone, which are in `source`, by default in `stage`."""
    run = read_run(source or stage, str(target))
    with os_errors_named(Path(target)):
        write_page([run], stage / REPORT, progress=progress)
        (stage / FIGURES).mkdir(exist_ok=True)
        drawn = figures(run)
        for done, figure in enumerate(drawn):
            progress(FIGURES, done, len(drawn))
            write_figure(figure, stage / FIGURES)
        progress(FIGURES, len(drawn), len(drawn))
    return [REPORT, FIGURES]


def save_page(runs: Sequence[str | Path | Run], target: str | Path, *, progress: ProgressHook = silent) -> None:
    """Write the page of stored runs, one or several side by side."""
    read = [run if isinstance(run, Run) else read_run(run) for run in runs]
    with staged_file(target) as path:
        write_page(read, path, progress=progress)
