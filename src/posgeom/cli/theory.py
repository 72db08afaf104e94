"""``posgeom theory``: the theorems of the paper, each checked by a command of its own."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from posgeom.analysis import CONVENTIONS, DEFAULT_N_DIMS
from posgeom.cli import options as o
from posgeom.cli.console import progress_bars, stdout_console
from posgeom.cli.stored import stored_counts
from posgeom.counts.counting import DEFAULT_N_POSITIONS, count
from posgeom.counts.position_counts import PositionCounts
from posgeom.encodings.registry import build_encoding
from posgeom.errors import CorpusError
from posgeom.estimation.build import Geometry, geometry
from posgeom.inference.jackknife import Estimate
from posgeom.messages import printable
from posgeom.policies import LEVEL
from posgeom.report.reproduction import UNDEFINED, number
from posgeom.report.table import print_paragraph
from posgeom.simulation.synthetic import synthetic
from posgeom.theory.bounds import FLOOR, PSEUDO_COUNT, bounds
from posgeom.theory.mds_claims import isometry, random_rows, stress_and_strain
from posgeom.theory.monotonicity import monotonicity_check
from posgeom.theory.parametrisation import DEFAULT_LOSS, parametrisation
from posgeom.theory.stationarity import stationarity
from posgeom.theory.stationary_families import stationary_families
from posgeom.theory.verdict import Cell, Check

app = typer.Typer(
    no_args_is_help=True,
    help="Check the theorems of the paper on a corpus or a model of one's own. A faithful geometry is no better model.",
)

SeedOption = Annotated[int, typer.Option("--seed", metavar="S", help="Seed of whatever is random.")]
DimsOption = Annotated[int, typer.Option("-d", "--n-dims", metavar="DIMS", help="Width d of encodings that have one.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout and nothing else.")]


_WIDEST = 24
"""Letters up to which a name is not wrapped."""

EPILOGS = {
    "stationarity": "posgeom theory stationarity reviews.parquet -t bert-base-uncased -n 256",
    "parametrisation": "posgeom theory parametrisation --counts counts.parquet -d 768 --loss 0.02",
    "bounds": "posgeom theory bounds --counts counts.parquet --json",
    "monotonicity": "posgeom theory monotonicity --counts counts.parquet --encoding sinusoidal",
    "mds": "posgeom theory mds --counts counts.parquet",
    "isometry": "posgeom theory isometry",
}
"""An example of each command."""


def _epilog(name: str) -> str:
    return f"Example:\n\n{EPILOGS[name]}"


@app.command("stationarity", epilog=_epilog("stationarity"))
def stationarity_command(
    context: typer.Context,
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    n_positions: o.PositionsOption = DEFAULT_N_POSITIONS,
    counts: o.CountsOption = None,
    n_dims: DimsOption = DEFAULT_N_DIMS,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Section 5.4: is distance a function of the lag, and are the axes sinusoids? Without a corpus: known families."""
    if not corpus and not counts:
        show(stationary_families(), as_json=as_json)
        return
    shape = _sound(corpus_counts(context, corpus, tokenizer, n_positions, counts), seed)
    show(stationarity(shape, n_dims=n_dims), as_json=as_json)


@app.command("parametrisation", epilog=_epilog("parametrisation"))
def parametrisation_command(
    context: typer.Context,
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    n_positions: o.PositionsOption = DEFAULT_N_POSITIONS,
    counts: o.CountsOption = None,
    n_dims: DimsOption = DEFAULT_N_DIMS,
    loss: Annotated[
        float, typer.Option("--loss", metavar="L", help="Alignment that the smallest rank may lose.")
    ] = DEFAULT_LOSS,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Remark 8: rank, stress, alignment out of sample and parameters of every rank of MDS."""
    counted = corpus_counts(context, corpus, tokenizer, n_positions, counts)
    check = parametrisation(_sound(counted, seed), _paper(counted, seed), n_dims=n_dims, loss=loss)
    show(check, as_json=as_json)


@app.command("bounds", epilog=_epilog("bounds"))
def bounds_command(
    context: typer.Context,
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    n_positions: o.PositionsOption = DEFAULT_N_POSITIONS,
    counts: o.CountsOption = None,
    pseudo_count: Annotated[
        float, typer.Option("--pseudo-count", metavar="A", help="Added to each count for the KL divergence.")
    ] = PSEUDO_COUNT,
    floor: Annotated[
        float, typer.Option("--floor", metavar="P", help="Least probability in the search for counterexamples.")
    ] = FLOOR,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Appendix A: inequalities between KL, total variation, Hellinger and mean embeddings, both sides of each."""
    counted = corpus_counts(context, corpus, tokenizer, n_positions, counts) if corpus or counts else None
    show(bounds(counted, pseudo_count=pseudo_count, floor=floor, seed=seed), as_json=as_json)


@app.command("monotonicity", epilog=_epilog("monotonicity"))
def monotonicity_command(
    context: typer.Context,
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    n_positions: o.PositionsOption = DEFAULT_N_POSITIONS,
    counts: o.CountsOption = None,
    encoding: Annotated[
        list[str] | None,
        typer.Option(
            "--encoding", metavar="NAME_OR_FILE", help="An encoding beside MDS; may be repeated.", show_default=False
        ),
    ] = None,
    n_dims: DimsOption = DEFAULT_N_DIMS,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Conjecture 5: violations of monotonicity of the corpus (its hypothesis) and of encodings (its conclusion)."""
    counted = corpus_counts(context, corpus, tokenizer, n_positions, counts)
    shape = _sound(counted, seed)
    given = [
        build_encoding(spec, n_positions=counted.n_positions, n_dims=n_dims, geometry=shape, seed=seed)
        for spec in encoding or ()
    ]
    show(monotonicity_check(shape, _paper(counted, seed), given), as_json=as_json)


@app.command("mds", epilog=_epilog("mds"))
def mds_command(
    context: typer.Context,
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    n_positions: o.PositionsOption = DEFAULT_N_POSITIONS,
    counts: o.CountsOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Proposition 6: does classical MDS minimise stress, or strain? Without a corpus: the paper's synthetic one."""
    is_given = corpus or counts
    counted = (
        corpus_counts(context, corpus, tokenizer, n_positions, counts) if is_given else synthetic(seed=seed).counts
    )
    show(stress_and_strain(_paper(counted, seed).plugin), as_json=as_json)


@app.command("isometry", epilog=_epilog("isometry"))
def isometry_command(seed: SeedOption = 0, as_json: JsonOption = False) -> None:
    """Section 5.2: are distances between random distributions Euclidean? Hellinger and Fisher-Rao."""
    show(isometry(random_rows(seed)), as_json=as_json)


def _sound(counts: PositionCounts, seed: int) -> Geometry:
    with progress_bars(quiet=False) as progress:
        return geometry(counts, seed=seed, progress=progress, **CONVENTIONS["sound"])


def _paper(counts: PositionCounts, seed: int) -> Geometry:
    return geometry(counts, seed=seed, **CONVENTIONS["paper"])


def corpus_counts(
    context: typer.Context,
    corpus: list[str] | None,
    tokenizer: str | None,
    n_positions: int,
    counts: list[Path] | None,
) -> PositionCounts:
    """Counts of a corpus, or those that were made before."""
    if counts and corpus:
        raise CorpusError("got both a corpus and --counts: expected one of them")
    if counts:
        return stored_counts(context, counts)
    if not corpus:
        raise CorpusError("no corpus: name files, a glob, a directory or - (standard input), or give --counts FILE")
    with progress_bars(quiet=False) as progress:
        return count(corpus, tokenizer, n_positions=n_positions, progress=progress)


def show(check: Check, *, as_json: bool) -> None:
    """Print what a check comes to: a table of its numbers, its verdict, and why."""
    if as_json:
        typer.echo(json.dumps(check.to_dict(), indent=1, allow_nan=False))
        return
    console = stdout_console()
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, show_edge=False)
    rows = check.rows()
    for k, header in enumerate(check.headers):
        texts = [cell for row in rows if isinstance(cell := row[k], str)]
        is_short = max(map(len, texts), default=_WIDEST) < _WIDEST
        table.add_column(header, justify="left" if texts else "right", overflow="fold", no_wrap=is_short)
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
    if cell is None:
        return UNDEFINED
    return number(float(f"{cell:.3g}") if isinstance(cell, float) else cell)
