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


def draw_run(stage: Path, target: str | Path, *, progress: ProgressHook = silent) -> list[str]:
    """Write the page and the figures of a run beside its numbers, from those alone.

    Parameters
    ----------
    stage : Path
        Where its files lie and where to write.
    target : str or Path
        Where all of it will be: what the page calls the run, and what messages name.
    progress : callable
        Called as ``progress("figures", figures_done, n_figures)`` and as ``progress("report", charts_done, n_charts)``.

    Returns
    -------
    list of str
        Names of what was written.

    Raises
    ------
    OutputError
        When it cannot be written.
    PosgeomError
        When the extra ``report`` is not installed, or the run cannot be read.
    """
    run = read_run(stage, str(target))
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
    """Write the page of stored runs, one or several side by side.

    Parameters
    ----------
    runs : sequence of str, Path or Run
        Directories, or what was read of them.
    target : str or Path
        The HTML file, replaced where there is one.
    progress : callable
        See `draw_run`.

    Raises
    ------
    RunError
        When a run cannot be read.
    OutputError
        When the file cannot be written.
    PosgeomError
        When the extra ``report`` is not installed.
    """
    read = [run if isinstance(run, Run) else read_run(run) for run in runs]
    with staged_file(target) as path:
        write_page(read, path, progress=progress)
