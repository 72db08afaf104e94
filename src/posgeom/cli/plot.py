"""``posgeom plot``: one chart of a stored run."""

import inspect
from pathlib import Path
from typing import Annotated, Unpack

import typer

from posgeom import plots
from posgeom.cli import options as o
from posgeom.errors import OutputError, RunError
from posgeom.messages import shown
from posgeom.options import PlotOptions
from posgeom.report.charts.figure import SUFFIXES, draw, need_extra, write_table
from posgeom.report.figures import KINDS, figure_of
from posgeom.report.files import staged_directory
from posgeom.report.run import read_run

EPILOG = f"""Examples:

posgeom plot

posgeom plot matrix run

posgeom plot scorecard run -o scores.pdf --encoding sinusoidal --encoding alibi --width 240 --font-size 8

KIND is one of {", ".join(KINDS)}. Needs altair and vl-convert-python: pip install 'posgeom[report]'."""

_TABLE = ".csv"


@o.takes(PlotOptions)
def command(
    kind: Annotated[str | None, typer.Argument(metavar="KIND", help="See below. Without one, all are listed.")] = None,
    run: Annotated[
        Path | None,
        typer.Argument(metavar="RUN_DIR", help="Directory that `posgeom analyze`, `layers`, `warp` or `train` wrote."),
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="Ends in .svg, .pdf, .png, or .csv for the data behind the chart; may be repeated. Default: KIND.svg.",
        ),
    ] = None,
    **options: Unpack[PlotOptions],
) -> None:
    """Draw one chart of a stored run."""
    if kind is None:
        for name, build in plots.by_kind().items():
            typer.echo(f"{name:<16} {(inspect.getdoc(build) or '').splitlines()[0]}")
        return
    if run is None:
        raise RunError(f"no directory of a run: expected posgeom plot {shown(kind)} RUN_DIR")
    need_extra()
    targets = out or [Path(f"{kind}.svg")]
    for target in targets:
        if target.suffix not in (*SUFFIXES, _TABLE):
            raise OutputError(f"{shown(target)}: expected a name that ends in {', '.join((*SUFFIXES, _TABLE))}")
    figure = figure_of(read_run(run), kind, **options)
    for target in targets:
        with staged_directory(target.parent) as stage:
            (write_table if target.suffix == _TABLE else draw)(figure, stage / target.name)
    typer.echo(f"written to {', '.join(shown(target) for target in targets)}")
