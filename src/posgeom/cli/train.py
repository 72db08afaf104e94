"""``posgeom train``: the paper's experiment, a model trained while the geometry of its positions is watched."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from posgeom.cli import options as o
from posgeom.cli.console import progress_bars, stdout_console
from posgeom.errors import PosgeomError
from posgeom.messages import shown
from posgeom.options import ReadOptions
from posgeom.report.charts.figure import can_draw
from posgeom.report.drawn import FIGURES, REPORT, draw_run
from posgeom.report.files import staged_directory
from posgeom.report.training import print_training

EPILOG = """Examples:

posgeom train sst2.parquet --column sentence -t bert-base-uncased --out scratch

posgeom train sst2.parquet --column sentence --task label --label label --model ./bert-base-uncased --preset base

posgeom train reviews.parquet -t bert-base-uncased -e fit --frozen --out mds

posgeom report scratch mds

Killed at any step, the same command goes on from its last checkpoint. The task order needs no labels: which of two
common tokens comes first, each document beside its twin with the two exchanged, so that bags of words tell nothing.
Needs torch, transformers and accelerate: pip install 'posgeom[models]'."""


@o.takes(ReadOptions)
def command(
    corpus: o.CorpusArgument = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where run.json, steps.parquet, the model and a report go.")
    ] = Path("training-run"),
    task: Annotated[
        Literal["order", "label", "mlm"],
        typer.Option("--task", metavar="TASK", help="order (see below), label (a column of the corpus) or mlm."),
    ] = "order",
    fold_by: Annotated[  # in the place of the option that other commands have: the column read beside the text
        str | None,
        typer.Option("--label", metavar="NAME", help="Column of the labels of --task label.", show_default=False),
    ] = None,
    preset: Annotated[
        Literal["tiny", "base"],
        typer.Option(
            "--preset", metavar="NAME", help="tiny (2 layers of width 64, minutes on 2 cores) or base (BERT-base)."
        ),
    ] = "tiny",
    model: Annotated[
        str | None,
        typer.Option(
            "--model", metavar="MODEL", help="Checkpoint to go on from. Default: from scratch.", show_default=False
        ),
    ] = None,
    tokenizer: o.TokenizerOption = None,
    encoding: Annotated[
        str,
        typer.Option(
            "-e",
            "--encoding",
            metavar="SPEC",
            help="What positions start as: default (the model's own table), none, fit (MDS of the documents trained "
            "on, of the significant rank), or any encoding with coordinates, scaled to the row norm of that table.",
        ),
    ] = "default",
    frozen: Annotated[bool, typer.Option("--frozen", help="Keep the positions as they start.")] = False,
    rank: Annotated[
        int | None,
        typer.Option(
            "--rank", metavar="R", help="Learn them as a product of two factors of this rank.", show_default=False
        ),
    ] = None,
    n_positions: Annotated[
        int | None,
        typer.Option("-n", "--n-positions", metavar="N", help="Context length; preset.", show_default=False),
    ] = None,
    epochs: Annotated[int | None, typer.Option("--epochs", metavar="K", help="Preset.", show_default=False)] = None,
    max_steps: Annotated[
        int | None,
        typer.Option("--steps", metavar="K", help="Optimiser steps, instead of epochs.", show_default=False),
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option("--batch-size", metavar="K", help="Preset.", show_default=False)
    ] = None,
    max_documents: Annotated[
        int | None,
        typer.Option("--max-documents", metavar="K", help="Documents to use, at most; preset.", show_default=False),
    ] = None,
    save_every: Annotated[
        int | None,
        typer.Option("--save-every", metavar="K", help="Steps between checkpoints; preset.", show_default=False),
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option("--learning-rate", metavar="RATE", help="Highest rate of AdamW; preset.", show_default=False),
    ] = None,
    schedule: Annotated[
        str | None,
        typer.Option(
            "--schedule",
            metavar="STEPS",
            help="Steps at which positions are looked at, beside the last. Default: 0,50,100,200,500,1000,2000.",
            show_default=False,
        ),
    ] = None,
    log_to: Annotated[
        list[str] | None,
        typer.Option(
            "--log-to", metavar="NAME", help="tensorboard, wandb, mlflow, ...; may be repeated.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Of weights, order of data and masks.")] = 0,
    report: o.ReportOption = True,
    as_json: o.JsonOption = False,
    quiet: o.QuietOption = False,
    verbose: o.VerboseOption = False,
    **reading: Any,
) -> None:
    """Train a model on a task made from a corpus, and watch the geometry of its positions along the way."""
    from posgeom.training.presets import TrainOptions
    from posgeom.training.run import train
    from posgeom.training.tracking import SCHEDULE

    read: ReadOptions = reading.get("options", ReadOptions())
    if fold_by is not None:
        read = replace(read, fold_by=f"column:{fold_by}")
    options = TrainOptions(
        task=task,
        preset=preset,
        model=model,
        tokenizer=tokenizer,
        encoding=encoding,
        trainable=not frozen,
        rank=rank,
        n_positions=n_positions,
        epochs=epochs,
        max_steps=max_steps,
        batch_size=batch_size,
        max_documents=max_documents,
        save_every=save_every,
        learning_rate=learning_rate,
        schedule=SCHEDULE if schedule is None else _steps(schedule),
        seed=seed,
        log_to=tuple(log_to or ()),
    )
    with progress_bars(quiet=quiet, verbose=verbose) as progress:
        document = train(corpus or [], out, options, read=read, progress=progress).to_dict()
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


def _steps(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise PosgeomError(f"--schedule {shown(text)}: expected steps such as 0,50,100") from None
