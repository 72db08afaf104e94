"""``posgeom tokens``: which tokens set the positions of a corpus apart."""

import json
from typing import Annotated, Unpack

import typer

from posgeom.analysis import counts_of, geometry_by
from posgeom.cli import options as o
from posgeom.cli.console import progress_bars, stdout_console
from posgeom.cli.stored import corpus_or_counts
from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import PosgeomError
from posgeom.inference.token_effects import token_effects
from posgeom.options import AnalyzeOptions, CountOptions, GeometryOptions, ReadOptions
from posgeom.report.token_effects import print_tokens
from posgeom.token_data import token_document

EPILOG = """Examples:

posgeom tokens reviews.parquet -t bert-base-uncased -n 256

posgeom tokens run

posgeom tokens genes.fasta -n 60 --position 30 --position 31 --json

RUN is a directory that `posgeom analyze --out` wrote; its counts are looked at."""


@o.takes(ReadOptions, CountOptions, GeometryOptions)
def command(
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    counts: o.CountsOption = None,
    position: Annotated[
        list[int] | None,
        typer.Option(
            "--position",
            metavar="I",
            help="A position to look at; may be repeated. Default: the five farthest from the centre.",
        ),
    ] = None,
    axes: Annotated[
        int | None, typer.Option("--axes", metavar="K", help="Leading axes. Default: the significant ones, at most 3.")
    ] = None,
    n_tokens: Annotated[int, typer.Option("--tokens", metavar="K", help="Tokens to show of each.")] = 10,
    as_json: o.JsonOption = False,
    quiet: o.QuietOption = False,
    verbose: o.VerboseOption = False,
    **options: Unpack[AnalyzeOptions],
) -> None:
    """Show the tokens that set positions apart: along the significant axes, and at the most distinct positions."""
    if n_tokens < 1 or (axes is not None and axes < 0):
        raise PosgeomError("--tokens and --axes: expected at least 1 token, and no negative number of axes")
    source, seed = corpus_or_counts(corpus, counts), options.get("seed", 0)
    with progress_bars(quiet=quiet, verbose=verbose) as progress:
        counted = counts_of(source, None if isinstance(source, PositionCounts) else tokenizer, options, progress)
        shape = geometry_by(options, counted, seed=seed, progress=progress)
        effects = token_effects(counted, shape, positions=position, n_axes=axes, progress=progress)
    document = token_document(effects, counted, shape, tokenizer=tokenizer)
    if as_json:
        typer.echo(json.dumps(document, indent=1, allow_nan=False))
        return
    print_tokens(document, stdout_console(), n_tokens)
