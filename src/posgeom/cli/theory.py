"""``posgeom theory``: the theorems of the paper, each checked by a command of its own."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from posgeom.analysis import CONVENTIONS, counts_of
from posgeom.cli import options as o
from posgeom.cli.console import progress_bars, stdout_console
from posgeom.cli.stored import corpus_or_counts
from posgeom.counts.position_counts import PositionCounts
from posgeom.encodings.registry import build_encoding
from posgeom.estimation.build import Geometry, geometry
from posgeom.inference.jackknife import Estimate
from posgeom.messages import printable
from posgeom.models.model import open_model
from posgeom.options import DEFAULT_N_DIMS, CountOptions, RangeOptions, ReadOptions
from posgeom.policies import LEVEL
from posgeom.report.reproduction import number
from posgeom.report.terminal import print_paragraph, print_table
from posgeom.simulation.synthetic import synthetic
from posgeom.tables import Cell, Column, Table
from posgeom.theory.bounds import PSEUDO_COUNT, bounds
from posgeom.theory.counterexample import FLOOR
from posgeom.theory.evidence import token_embedding
from posgeom.theory.mds_claims import isometry, random_rows, stress_and_strain
from posgeom.theory.monotonicity import monotonicity_check
from posgeom.theory.parametrisation import DEFAULT_LOSS, parametrisation
from posgeom.theory.stationarity import stationarity
from posgeom.theory.stationary_families import stationary_families
from posgeom.theory.verdict import Cell as Value
from posgeom.theory.verdict import Check

app = typer.Typer(name="theory", no_args_is_help=True)


@app.callback()
def command() -> None:
    """Check the theorems of the paper on a corpus or a model of one's own. A faithful geometry is no better model."""


SeedOption = Annotated[int, typer.Option("--seed", metavar="S", help="Seed of whatever is random.")]
DimsOption = Annotated[int, typer.Option("-d", "--n-dims", metavar="DIMS", help="Width d of encodings that have one.")]


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


_measuring = o.takes(ReadOptions, CountOptions, RangeOptions)


@app.command("stationarity", epilog=_epilog("stationarity"))
@_measuring
def stationarity_command(
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    counts: o.CountsOption = None,
    n_dims: DimsOption = DEFAULT_N_DIMS,
    as_json: o.JsonOption = False,
    **options: Any,
) -> None:
    """Section 5.4: is distance a function of the lag, and are the axes sinusoids? Without a corpus: known families."""
    if not corpus and not counts:
        show(stationary_families(), as_json=as_json)
        return
    sound = sound_geometry(corpus_counts(corpus, tokenizer, counts, options), options)
    show(stationarity(sound, n_dims=n_dims), as_json=as_json)


@app.command("parametrisation", epilog=_epilog("parametrisation"))
@_measuring
def parametrisation_command(
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    counts: o.CountsOption = None,
    n_dims: DimsOption = DEFAULT_N_DIMS,
    loss: Annotated[
        float, typer.Option("--loss", metavar="L", help="Alignment that the smallest rank may lose.")
    ] = DEFAULT_LOSS,
    as_json: o.JsonOption = False,
    **options: Any,
) -> None:
    """Remark 8: rank, stress, alignment out of sample and parameters of every rank of MDS."""
    counted = corpus_counts(corpus, tokenizer, counts, options)
    check = parametrisation(
        sound_geometry(counted, options), paper_geometry(counted, options), n_dims=n_dims, loss=loss
    )
    show(check, as_json=as_json)


@app.command("bounds", epilog=_epilog("bounds"))
@_measuring
def bounds_command(
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    counts: o.CountsOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", metavar="MODEL", help="Whose token embeddings are averaged, with a corpus. Default: random ones."
        ),
    ] = None,
    pseudo_count: Annotated[
        float, typer.Option("--pseudo-count", metavar="A", help="Added to each count for the KL divergence.")
    ] = PSEUDO_COUNT,
    floor: Annotated[
        float, typer.Option("--floor", metavar="P", help="Least probability in the search for counterexamples.")
    ] = FLOOR,
    as_json: o.JsonOption = False,
    **options: Any,
) -> None:
    """Appendix A: inequalities between KL, total variation, Hellinger and mean embeddings, both sides of each."""
    chosen = tokenizer if counts else tokenizer or model
    counted = corpus_counts(corpus, chosen, counts, options) if corpus or counts or model else None
    table = None if model is None else token_embedding(open_model(model))
    within = options.get("positions")
    check = bounds(counted, table, pseudo_count=pseudo_count, floor=floor, positions=within, seed=seed_of(options))
    show(check, as_json=as_json)


@app.command("monotonicity", epilog=_epilog("monotonicity"))
@_measuring
def monotonicity_command(
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    counts: o.CountsOption = None,
    encoding: Annotated[
        list[str] | None,
        typer.Option("--encoding", metavar="NAME_OR_FILE", help="An encoding beside MDS; may be repeated."),
    ] = None,
    n_dims: DimsOption = DEFAULT_N_DIMS,
    as_json: o.JsonOption = False,
    **options: Any,
) -> None:
    """Conjecture 5: violations of monotonicity of the corpus (its hypothesis) and of encodings (its conclusion)."""
    counted = corpus_counts(corpus, tokenizer, counts, options)
    sound, seed = sound_geometry(counted, options), seed_of(options)
    given = [
        build_encoding(spec, n_positions=counted.n_positions, n_dims=n_dims, geometry=sound, seed=seed)
        for spec in encoding or ()
    ]
    show(monotonicity_check(sound, paper_geometry(counted, options), given), as_json=as_json)


@app.command("mds", epilog=_epilog("mds"))
@_measuring
def mds_command(
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    counts: o.CountsOption = None,
    as_json: o.JsonOption = False,
    **options: Any,
) -> None:
    """Proposition 6: does classical MDS minimise stress, or strain? Without a corpus: the paper's synthetic one."""
    if corpus or counts:
        counted = corpus_counts(corpus, tokenizer, counts, options)
    else:
        counted = synthetic(seed=seed_of(options)).counts
    show(stress_and_strain(paper_geometry(counted, options).plugin), as_json=as_json)


@app.command("isometry", epilog=_epilog("isometry"))
def isometry_command(seed: SeedOption = 0, as_json: o.JsonOption = False) -> None:
    """Section 5.2: are distances between random distributions Euclidean? Hellinger and Fisher-Rao."""
    show(isometry(random_rows(seed)), as_json=as_json)


def seed_of(options: Mapping[str, Any]) -> int:
    """The seed among the options of counting."""
    return int(options.get("seed", 0))


def corpus_counts(
    corpus: list[str] | None, tokenizer: str | None, counts: list[Path] | None, options: Mapping[str, Any]
) -> PositionCounts:
    """Counts of a corpus, or those that were made before."""
    source = corpus_or_counts(corpus, counts)
    with progress_bars(quiet=False) as progress:
        return counts_of(source, tokenizer, options, progress)


def sound_geometry(counts: PositionCounts, options: Mapping[str, Any]) -> Geometry:
    """The geometry by the sound convention."""
    with progress_bars(quiet=False) as progress:
        return geometry(counts, progress=progress, **_chosen(options, "sound"))


def paper_geometry(counts: PositionCounts, options: Mapping[str, Any]) -> Geometry:
    """The geometry by the paper's convention."""
    return geometry(counts, **_chosen(options, "paper"))


def _chosen(options: Mapping[str, Any], convention: str) -> dict[str, Any]:
    return {"seed": seed_of(options), "positions": options.get("positions"), **CONVENTIONS[convention]}


def show(check: Check, *, as_json: bool) -> None:
    """Print what a check comes to: a table of its numbers, its verdict, and why."""
    if as_json:
        typer.echo(json.dumps(check.to_dict(), indent=1, allow_nan=False))
        return
    console = stdout_console()
    rows = check.rows()
    columns = [
        Column(header, left=any(isinstance(row[k], str) for row in rows)) for k, header in enumerate(check.headers)
    ]
    print_table(Table("", columns, [[Cell(cell_text(one)) for one in row] for row in rows]), console)
    console.print()
    print_paragraph(f"{check.verdict}: {printable(check.because)}", console)


def cell_text(cell: Value) -> str | None:
    """A number as the terminal shows it, with its interval where it has one."""
    if isinstance(cell, Estimate):
        interval = cell.interval(LEVEL)
        text = cell_text(cell.value)
        return (
            text if interval is None or text is None else f"{text} ({number(interval.low)} to {number(interval.high)})"
        )
    if isinstance(cell, str):
        return printable(cell)
    return None if cell is None else number(float(f"{cell:.3g}") if isinstance(cell, float) else cell)
