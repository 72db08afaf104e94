"""``posgeom reproduce``: the paper's tables and figures, beside the paper's own numbers."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from posgeom.cli import options as o
from posgeom.cli.console import progress_bars, stdout_console
from posgeom.errors import PosgeomError
from posgeom.messages import shown
from posgeom.paper.along_training import SCRATCH, TUNED
from posgeom.paper.inputs import N_SEEDS, SST2, PaperFiles, open_inputs
from posgeom.paper.items import ITEMS, chosen_items, needs_of, reproduce
from posgeom.progress import ProgressHook
from posgeom.report.charts.figure import can_draw
from posgeom.report.claims import print_claims
from posgeom.report.files import staged_directory
from posgeom.report.reproduction import print_reproduction
from posgeom.report.reproduction_files import write_reproduction
from posgeom.report.run import read_run
from posgeom.theory.claims import ledger
from posgeom.theory.evidence import Evidence

EPILOG = """Examples:

posgeom reproduce table2 table3 fig1 fig2

posgeom reproduce --sst2 sst2.parquet --imdb imdb.parquet -t bert-base-uncased --out paper

posgeom reproduce fig6 fig7 fig8 --sst2 sst2.parquet --model ./bert-base-uncased --json

posgeom reproduce fig5 fig6 fig7 fig8 --sst2 sst2.parquet --train tiny -t bert-base-uncased --out paper

The first sentence says how many of the paper's numbers agree. What needs a corpus, a model or training that is not
given is not run: it is counted, and --full lists it. With --train, a model is trained from scratch on the labels of
SST-2 for Figure 5 and, unless --scratch names one, for Figures 6 to 8; with --model that is tuned too."""

Sst2Option = Annotated[
    str | None, typer.Option("--sst2", metavar="PATH", help="SST-2's training sentences, 67,349 documents.")
]
ImdbOption = Annotated[
    str | None, typer.Option("--imdb", metavar="PATH", help="IMDB's training reviews, 25,000 documents.")
]
BertTokenizerOption = Annotated[
    str | None,
    typer.Option(
        "-t",
        "--tokenizer",
        metavar="TOKENIZER",
        help="BERT's: a tokenizer.json, a model directory or a hub name. Default: the tokenizer.json of --model, "
        "else bert-base-uncased from the hub.",
    ),
]
PretrainedOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="Pretrained BERT, or a model tuned from it: a directory, a .safetensors file or a hub name.",
    ),
]
ScratchOption = Annotated[
    str | None, typer.Option("--scratch", metavar="MODEL", help="A model of the same kind trained from scratch.")
]
SeedsOption = Annotated[
    int, typer.Option("--seeds", metavar="K", help="Synthetic corpora and random encodings to average over.")
]


def command(
    items: Annotated[
        list[str] | None, typer.Argument(metavar="ITEM...", help=f"{', '.join(ITEMS)}, or all. Default: all.")
    ] = None,
    sst2: Sst2Option = None,
    imdb: ImdbOption = None,
    tokenizer: BertTokenizerOption = None,
    model: PretrainedOption = None,
    scratch: ScratchOption = None,
    claims: Annotated[
        bool, typer.Option("--claims", help="Check the paper's claims too, as `posgeom claims` does.")
    ] = False,
    train: Annotated[
        Literal["tiny", "base"] | None,
        typer.Option(
            "--train",
            metavar="PRESET",
            help="Train on SST-2 too: tiny (a small model, minutes) or base (BERT-base as in the paper, for a GPU). "
            "Runs are kept in --train-dir, where a killed one goes on, and one that has ended is read.",
        ),
    ] = None,
    train_dir: Annotated[Path, typer.Option("--train-dir", metavar="DIR", help="Where --train keeps its runs.")] = Path(
        "training"
    ),
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write reproduce.html, reproduce.json, reproduce.csv and the figures there; page and figures need the "
            "extra report.",
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="List also what the paper has no number for, and what was not run.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print reproduce.json on stdout and nothing else.")] = False,
    n_seeds: SeedsOption = N_SEEDS,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="First seed.")] = 0,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="K", help="Tokenising threads. Default: one per core.")
    ] = None,
    quiet: o.QuietOption = False,
    verbose: o.VerboseOption = False,
) -> None:
    """Redo the paper's tables and figures, beside its own numbers and the sound version."""
    names = chosen_items(items or [])
    needed = needs_of(list(ITEMS) if claims else names)
    # Entered first, so that an output that cannot be written is known before the work is done.
    with (
        staged_directory(out) if out else nullcontext() as stage,
        progress_bars(quiet=quiet, verbose=verbose) as progress,
    ):
        runs = {}
        if train is not None and needed & {"train", "model"}:
            runs = trained_runs(train, train_dir, sst2, model=model, tokenizer=tokenizer, seed=seed, progress=progress)
            scratch = scratch or str(train_dir / SCRATCH / "model")
        files = PaperFiles(sst2, imdb, tokenizer, model, scratch)
        inputs = open_inputs(
            files, seed=seed, n_seeds=n_seeds, workers=workers, needed=needed, runs=runs, progress=progress
        )
        document = reproduce(names, inputs).to_dict()
        if claims:
            document["claims"] = ledger(Evidence(inputs, model)).to_dict()
        written = write_reproduction(document, stage, out or stage, progress=progress) if stage else []
    if as_json:
        typer.echo(json.dumps(document, indent=1, allow_nan=False))
        return
    console = stdout_console()
    print_reproduction(document, console, full=full)
    if claims:
        console.print()
        print_claims(document["claims"], console)
    if out:
        console.print(f"written to {shown(out)}: {', '.join(written)}")
        if not can_draw():
            console.print("pip install 'posgeom[report]' draws the page and the figures")


def trained_runs(
    preset: Literal["tiny", "base"],
    directory: Path,
    sst2: str | None,
    *,
    model: str | None,
    tokenizer: str | None,
    seed: int,
    progress: ProgressHook,
) -> dict[str, dict[str, Any]]:
    """The runs of Section 6.1, from scratch and, where there is a checkpoint, from that; those that ended are read."""
    from posgeom.options import ReadOptions
    from posgeom.training import train
    from posgeom.training_options import TrainOptions

    if sst2 is None:
        raise PosgeomError("--train needs SST-2 with its labels: name its file with --sst2")
    runs: dict[str, dict[str, Any]] = {}
    for name, checkpoint in ((SCRATCH, None), (TUNED, model)):
        if name == TUNED and checkpoint is None:
            continue
        place = directory / name
        if not (place / "run.json").exists():
            options = TrainOptions(
                task="label",
                preset=preset,
                model=checkpoint,
                tokenizer=tokenizer or model or "bert-base-uncased",
                n_positions=SST2.n_positions,
                seed=seed,
            )
            train(sst2, place, options, read=ReadOptions(fold_by="column:label"), progress=progress)
        run = read_run(place).training
        if run is None or (run["options"]["preset"], run["options"]["seed"]) != (preset, seed):
            raise PosgeomError(f"{shown(place)} holds a run of another preset or seed: name another --train-dir")
        runs[name] = run
    return runs
