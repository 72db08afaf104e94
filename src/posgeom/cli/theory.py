"""``posgeom theory``: the theorems of the paper, each checked by a command of its own."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from posgeom.cli.console import progress_bars, stdout_console
from posgeom.cli.stored import corpus_or_counts
from posgeom.counts.counting import count
from posgeom.counts.position_counts import PositionCounts
from posgeom.inference.jackknife import Estimate
from posgeom.messages import printable
from posgeom.policies import LEVEL
from posgeom.report.reproduction import UNDEFINED, number
from posgeom.report.table import print_paragraph
from posgeom.theory.verdict import Cell, Check

app = typer.Typer(
    no_args_is_help=True,
    help="Check the theorems of the paper on a corpus or a model of one's own. A faithful geometry is no better model.",
)

SeedOption = Annotated[int, typer.Option("--seed", metavar="S", help="Seed of whatever is random.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout and nothing else.")]


@app.callback()
def _root() -> None:
    pass


def corpus_counts(
    context: typer.Context,  # noqa: ARG001
    corpus: list[str] | None,
    tokenizer: str | None,
    n_positions: int,
    counts: list[Path] | None,
) -> PositionCounts:
    """Counts of a corpus, or those that were made before."""
    source = corpus_or_counts(corpus, counts)
    if isinstance(source, PositionCounts):
        return source
    with progress_bars(quiet=False) as progress:
        return count(source, tokenizer, n_positions=n_positions, progress=progress)


def show(check: Check, *, as_json: bool) -> None:
    """Print what a check comes to: a table of its numbers, its verdict, and why."""
    if as_json:
        typer.echo(json.dumps(check.to_dict(), indent=1, allow_nan=False))
        return
    console = stdout_console()
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, show_edge=False)
    rows = check.rows()
    for k, header in enumerate(check.headers):
        is_text = any(isinstance(row[k], str) for row in rows)
        table.add_column(header, justify="left" if is_text else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell_text(cell)) for cell in row))
    console.print(table)
    console.print()
    print_paragraph(f"{check.verdict}: {printable(check.because)}", console)


def cell_text(cell: Cell) -> str:
    """A number as the terminal shows it, with its interval where it has one."""
    if isinstance(cell, Estimate):
        interval = cell.interval(LEVEL)
        text = cell_text(cell.value)
        return text if interval is None else f"{text} ({number(interval.low)} to {number(interval.high)})"
    if isinstance(cell, str):
        return printable(cell)
    return UNDEFINED if cell is None else number(cell)
