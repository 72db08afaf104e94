"""``posgeom order``: how much a model makes of the order of its tokens."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from posgeom.cli import options as o
from posgeom.cli.console import stdout_console
from posgeom.cli.inspect import ModelArgument
from posgeom.messages import printable, shown
from posgeom.models.order import OrderSensitivity, order_sensitivity
from posgeom.report.terminal import print_paragraph, print_table
from posgeom.tables import Table

EPILOG = """Examples:

posgeom order ./my-bert

posgeom order bert-base-uncased --text "the cat sat on the mat" --permutations 64 --json

Needs torch and transformers: pip install 'posgeom[models]'. Code that comes with a checkpoint is never run."""


def command(
    model: ModelArgument,
    text: Annotated[
        str | None,
        typer.Option("--text", metavar="TEXT", help="Its tokens, special ones left in place. Default: random tokens."),
    ] = None,
    n_tokens: Annotated[int, typer.Option("-n", "--n-tokens", metavar="N", help="Length of the sequence.")] = 32,
    permutations: Annotated[int, typer.Option("--permutations", metavar="K", help="Random permutations.")] = 16,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of tokens and permutations.")] = 0,
    as_json: o.JsonOption = False,
) -> None:
    """Run a model on permuted tokens: the gap max |f(xP) - P f(x)|, with its encoding, without, and shuffled."""
    result = order_sensitivity(model, text=text, n_tokens=n_tokens, n_permutations=permutations, seed=seed)
    if as_json:
        typer.echo(json.dumps(asdict(result), indent=1, allow_nan=False))
        return
    _print(result)


def _print(result: OrderSensitivity) -> None:
    console = stdout_console()
    print_paragraph(
        f"{shown(result.name)}: {printable(result.model_type)}, {result.stack}, {result.scheme} positions; "
        f"{result.n_tokens} tokens, {result.n_permutations} permutations, seed {result.seed}",
        console,
    )
    console.print()
    gaps = {"as it is": result.gap, "shuffled": result.gap_shuffled, "zeroed": result.gap_zeroed}
    rows = [
        (label, gap, gap / result.largest if result.largest else None)
        for label, gap in (gaps | {"round-off": result.round_off}).items()
    ]
    print_table(Table.of("", ("encoding", "gap", "of max |f|"), rows, ".3g"), console)
    print_paragraph(
        "gap: max |f(xP) - P f(x)| over permutations of the tokens, positions and channels of the last hidden state. "
        "round-off: the same model in single against double precision.",
        console,
        bullet="- ",
    )
    if result.causal:
        print_paragraph(
            "The model is causal: its mask is order of its own, so the gap is not zero without the encoding.",
            console,
            bullet="- ",
        )
