"""``posgeom claims``: the ledger of what the paper claims, each claim checked."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from posgeom.cli import options as o
from posgeom.cli.console import progress_bars, stdout_console
from posgeom.cli.reproduce import (
    BertTokenizerOption,
    ImdbOption,
    PretrainedOption,
    ScratchOption,
    SeedsOption,
    Sst2Option,
)
from posgeom.errors import RunError
from posgeom.messages import shown
from posgeom.paper.inputs import N_SEEDS, PaperFiles, open_inputs
from posgeom.report.claims import print_claims, write_claims
from posgeom.report.files import staged_directory
from posgeom.report.run import read_run
from posgeom.theory.claims import chosen_claims, ledger
from posgeom.theory.evidence import Evidence

EPILOG = """Examples:

posgeom claims

posgeom claims --sst2 sst2.parquet --imdb imdb.parquet --model ./bert-base-uncased --out claims

posgeom claims 15 16 --sst2 sst2.parquet -t bert-base-uncased --json

Every verdict comes from a run. What needs a corpus, a model or a run of `posgeom train` that is not given is marked as
not run; claims about models need torch and transformers: pip install 'posgeom[models]'."""


def command(
    numbers: Annotated[
        list[int] | None, typer.Argument(metavar="NUMBER...", help="Claims by number. Default: all.")
    ] = None,
    sst2: Sst2Option = None,
    imdb: ImdbOption = None,
    tokenizer: BertTokenizerOption = None,
    model: PretrainedOption = None,
    scratch: ScratchOption = None,
    run: Annotated[
        list[Path] | None,
        typer.Option("--run", metavar="DIR", help="A finished run of posgeom train; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write claims.json and claims.md there.")
    ] = None,
    as_json: o.JsonOption = False,
    n_seeds: SeedsOption = N_SEEDS,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="First seed.")] = 0,
    workers: o.WorkersOption = None,
    quiet: o.QuietOption = False,
    verbose: o.VerboseOption = False,
) -> None:
    """Check what the paper claims, claim by claim: a verdict, the numbers behind it, the command that reproduces it."""
    chosen_claims(numbers or [])
    runs = {str(place): _training(place) for place in run or ()}
    # Entered first, so that an output that cannot be written is known before the work is done.
    with (
        staged_directory(out) if out else nullcontext() as stage,
        progress_bars(quiet=quiet, verbose=verbose) as progress,
    ):
        files = PaperFiles(sst2, imdb, tokenizer, model, scratch)
        inputs = open_inputs(files, seed=seed, n_seeds=n_seeds, workers=workers, runs=runs, progress=progress)
        document = ledger(Evidence(inputs, model), numbers or ()).to_dict()
        written = write_claims(document, stage, out or stage) if stage else []
    if as_json:
        typer.echo(json.dumps(document, indent=1, allow_nan=False))
        return
    console = stdout_console()
    print_claims(document, console)
    if out:
        console.print(f"written to {shown(out)}: {', '.join(written)}")


def _training(place: Path) -> dict[str, Any]:
    """The content of a run of training."""
    document = read_run(place).training
    if document is None:
        raise RunError(f"{shown(place)} has no run.json: expected a finished run of posgeom train")
    return document
