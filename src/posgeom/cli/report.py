"""``posgeom report``: the page of stored runs."""

from pathlib import Path
from typing import Annotated

import typer

from posgeom.cli import options as o
from posgeom.cli.console import progress_bars
from posgeom.messages import shown
from posgeom.report.charts.figure import need_extra
from posgeom.report.drawn import save_page
from posgeom.report.page import REPORT
from posgeom.report.run import read_run

EPILOG = """Examples:

posgeom report run

posgeom report sst2-run imdb-run --out both.html

The page is one file that needs no network: send it, or print it. It is made from the numbers in the directories alone.
Needs altair, jinja2 and vl-convert-python: pip install 'posgeom[report]'."""

RunsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="RUN_DIR...", help="Directories that `posgeom analyze`, `layers` or `train` wrote."),
]


def command(
    runs: RunsArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="The page. Default: report.html in the directory of the run, or here for several.",
        ),
    ] = None,
    quiet: o.QuietOption = False,
    verbose: o.VerboseOption = False,
) -> None:
    """Write the page of a stored run again, or of several side by side."""
    need_extra()
    read = [read_run(run) for run in runs]
    target = out or (runs[0] / REPORT if len(runs) == 1 else Path(REPORT))
    with progress_bars(quiet=quiet, verbose=verbose) as progress:
        save_page(read, target, progress=progress)
    typer.echo(f"written to {shown(target)}")
