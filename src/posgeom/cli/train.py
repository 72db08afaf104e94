"""``posgeom train``: the paper's experiment, a model trained while the geometry of its positions is watched."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from posgeom.cli import options as o
from posgeom.cli.console import progress_bars, stdout_console
from posgeom.messages import shown
from posgeom.options import ReadOptions
from posgeom.report.charts.figure import can_draw
from posgeom.report.drawn import FIGURES, REPORT, draw_run
from posgeom.report.files import staged_directory
from posgeom.report.training import print_training
from posgeom.training_options import TrainOptions

EPILOG = """Examples:

posgeom train sst2.parquet --column sentence -t bert-base-uncased --out scratch

posgeom train sst2.parquet --column sentence --task label --label label --model ./bert-base-uncased --preset base

posgeom train reviews.parquet -t bert-base-uncased -e fit --frozen --out mds

posgeom report scratch mds

Killed at any step, the same command goes on from its last checkpoint. The task order needs no labels: which of two
common tokens comes first, each document beside its twin with the two exchanged, so that bags of words tell nothing.
Needs torch, transformers and accelerate: pip install 'posgeom[models]'."""


@o.takes(ReadOptions, TrainOptions)
def command(
    corpus: o.CorpusArgument = None,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="DIR",
            rich_help_panel="Output",
            help="Where run.json, steps.parquet, the model and a report go.",
        ),
    ] = Path("training-run"),
    fold_by: Annotated[  # in the place of the option that other commands have: the column read beside the text
        str | None,
        typer.Option("--label", metavar="NAME", rich_help_panel="Corpus", help="Column of the labels of --task label."),
    ] = None,
    report: o.ReportOption = True,
    as_json: o.JsonOption = False,
    quiet: o.QuietOption = False,
    verbose: o.VerboseOption = False,
    **options: Any,
) -> None:
    """Train a model on a task made from a corpus, and watch the geometry of its positions along the way."""
    from posgeom.training import train

    read: ReadOptions = options.pop("options", ReadOptions())
    if fold_by is not None:
        read = replace(read, fold_by=f"column:{fold_by}")
    with progress_bars(quiet=quiet, verbose=verbose) as progress:
        document = train(corpus or [], out, TrainOptions(**options), read=read, progress=progress).to_dict()
        if report and can_draw():
            with staged_directory(out) as stage:
                draw_run(stage, out, source=out, progress=progress)
    if as_json:
        typer.echo(json.dumps(document, indent=1, allow_nan=False))
        return
    console = stdout_console()
    print_training(document, console)
    drawn = f", {REPORT}, {FIGURES}" if report and can_draw() else ""
    console.print(f"written to {shown(out)}: run.json, steps.parquet, model{drawn}")
