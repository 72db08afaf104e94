"""``posgeom layers``: a model's query-key products against the geometry of a corpus."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Unpack

import typer

from posgeom.analysis import counts_of, geometry_by
from posgeom.cli import options as o
from posgeom.cli.console import progress_bars, stdout_console
from posgeom.cli.inspect import ModelArgument, OffsetOption, TensorOption
from posgeom.cli.stored import corpus_or_counts
from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import CountsError
from posgeom.messages import shown
from posgeom.models.by_hand import ByHand
from posgeom.models.layers import frequencies_of, layer_scores
from posgeom.models.model import open_model
from posgeom.models.rotary_kernel import TokenFrequencies
from posgeom.options import AnalyzeOptions, CountOptions, GeometryOptions, ReadOptions
from posgeom.report.charts.figure import can_draw
from posgeom.report.drawn import FIGURES, REPORT, draw_run
from posgeom.report.files import staged_directory
from posgeom.report.layers import layers_document, print_layers, write_layers

EPILOG = """Examples:

posgeom layers ./my-bert --counts counts.parquet --heads

posgeom layers bert-base-uncased reviews.parquet -t bert-base-uncased -n 128 --convention paper --out layers

posgeom layers ./my-model --counts counts.parquet --query blocks.{layer}.q --key blocks.{layer}.k --n-heads 12

P is projected by M = W_Q^T W_K. A fresh copy of the same sizes is scored beside the model: raw stress follows the norm
of M. For rotary models the position kernel of every head is shown too."""


@o.takes(ReadOptions, CountOptions, GeometryOptions)
def command(
    model: ModelArgument,
    corpus: o.CorpusArgument = None,
    counts: o.CountsOption = None,
    tokenizer: o.TokenizerOption = None,
    input_: Annotated[
        str | None,
        typer.Option(
            "--input",
            metavar="SPEC",
            help="What is projected: sinusoidal, own (the model's table), or any encoding with coordinates. Default: "
            "own where there is a table, else sinusoidal; sinusoidal with --convention paper.",
        ),
    ] = None,
    stack: Annotated[
        str | None,
        typer.Option("--stack", metavar="NAME", help="Such as encoder, decoder, vision. Default: the first."),
    ] = None,
    heads: Annotated[bool, typer.Option("--heads", help="A line for every head, instead of their range.")] = False,
    initial: Annotated[
        bool, typer.Option("--initial/--no-initial", help="Score a fresh copy beside the model.")
    ] = True,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write layers.json, layers.parquet, kernels, a heat map of layers by heads, and a report there.",
        ),
    ] = None,
    report: o.ReportOption = True,
    as_json: o.JsonOption = False,
    tensor: TensorOption = None,
    offset: OffsetOption = 0,
    query: Annotated[
        str | None,
        typer.Option(
            "--query",
            metavar="PATTERN",
            help="Query projections by hand, out x in, as in layers.{layer}.attn.q; with --key.",
        ),
    ] = None,
    key: Annotated[str | None, typer.Option("--key", metavar="PATTERN", help="Key projections by hand.")] = None,
    n_heads: Annotated[int | None, typer.Option("--n-heads", metavar="H", help="Heads of --query.")] = None,
    n_key_heads: Annotated[
        int | None, typer.Option("--n-key-heads", metavar="H", help="Heads of --key, where they are fewer.")
    ] = None,
    quiet: o.QuietOption = False,
    verbose: o.VerboseOption = False,
    **options: Unpack[AnalyzeOptions],
) -> None:
    """Score a model's query-key products, layer by layer and head by head, against the geometry of a corpus."""
    source = corpus_or_counts(corpus, counts)
    by_hand = ByHand(tensor, offset, query, key, n_heads, n_key_heads)
    opened = open_model(model, by_hand)  # refused before the corpus is read
    opened.query_key(opened.stack(stack), 0)
    seed = options.get("seed", 0)
    # Entered first, so that an output that cannot be written is known before the work is done.
    with staged_directory(out) if out else nullcontext() as stage:
        with progress_bars(quiet=quiet, verbose=verbose) as progress:
            stored = counts_of(source, tokenizer, options, progress)
            if stored.n_positions < 2:
                raise CountsError(f"n = {stored.n_positions} position has no geometry: expected at least 2")
            shape = geometry_by(options, stored, seed=seed, progress=progress)
            result = layer_scores(
                opened,
                shape,
                stack=stack,
                input=input_ or ("sinusoidal" if options.get("convention") == "paper" else None),
                frequencies=_frequencies(stored),
                initial=initial,
                seed=seed,
                progress=progress,
            )
        names = write_layers(result, stage, out or stage) if stage else []
        if stage and report and can_draw():
            with progress_bars(quiet=quiet, verbose=verbose) as progress:
                names += draw_run(stage, out or stage, progress=progress)
    if as_json:
        typer.echo(json.dumps(layers_document(result), indent=1, allow_nan=False))
        return
    console = stdout_console()
    print_layers(result, console, heads=heads)
    if out:
        console.print(f"written to {shown(out)}: {', '.join(names)}")
        if report and not can_draw():
            console.print(f"no {REPORT} and no {FIGURES}: pip install 'posgeom[report]', then posgeom report")


def _frequencies(counts: PositionCounts) -> TokenFrequencies | None:
    """Token frequencies, where ids are those of a tokenizer file and so may be the model's."""
    return frequencies_of(counts.token, counts.count) if counts.tokenizer.kind == "tokenizers" else None
