"""``posgeom warp``: how a corpus spaces its positions, and whether they lie on a line at all."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from posgeom.analysis import counts_of, geometry_by
from posgeom.cli import options as o
from posgeom.cli.console import progress_bars, stdout_console
from posgeom.cli.stored import corpus_or_counts
from posgeom.encodings.warp_fits import NAMES, check_family
from posgeom.encodings.warps import FAMILIES
from posgeom.errors import GeometryError
from posgeom.inference.left_out import leave_out_first
from posgeom.inference.warp import fit_warp
from posgeom.messages import shown
from posgeom.options import CountOptions, GeometryOptions, ReadOptions
from posgeom.policies import LEVEL
from posgeom.report.charts.figure import can_draw, write_figure
from posgeom.report.drawn import FIGURES
from posgeom.report.figures import figures
from posgeom.report.files import staged_directory
from posgeom.report.run import WARP, Run
from posgeom.report.warp import print_warp, warp_document

EPILOG = f"""Examples:

posgeom warp reviews.parquet -t bert-base-uncased -n 256

posgeom warp --counts counts.parquet --family log --family power --json

posgeom warp run --positions 16-255 --out run

RUN is a directory that `posgeom analyze --out` wrote: its counts are looked at, and with --out the page that `posgeom
report` makes of it has the charts.

Families: {", ".join(NAMES)}. Each is fitted on half of the folds and scored on the other half. What is fitted goes into
a scheme as in sinusoidal:warp=log:1.4:1 (parameter, then the position that t is counted from), or is fitted wherever it
is scored: sinusoidal:warp=corpus:log. A warp describes the data; it is not known to make a better model."""


@o.takes(ReadOptions, CountOptions, GeometryOptions)
def command(
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    counts: o.CountsOption = None,
    family: Annotated[
        list[str] | None,
        typer.Option("--family", metavar="NAME", help="A family to fit; may be repeated. Default: all."),
    ] = None,
    left_out: Annotated[
        bool,
        typer.Option("--left-out/--no-left-out", help="Whether to fit again without the first 1, 2, 4, ... positions."),
    ] = True,
    level: Annotated[float, typer.Option("--level", metavar="P", help="Level of the intervals.")] = LEVEL,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help=f"Write {WARP} there, and charts with the data behind them.",
            show_default=False,
            rich_help_panel="Output",
        ),
    ] = None,
    as_json: o.JsonOption = False,
    quiet: o.QuietOption = False,
    verbose: o.VerboseOption = False,
    **options: Any,
) -> None:
    """Fit warps of the position: the spacing under which positions lie on a line, if they do."""
    source, seed, families = corpus_or_counts(corpus, counts), options.get("seed", 0), family or list(NAMES)
    for name in families:
        check_family(name)
    if not 0 < level < 1:
        raise GeometryError(f"--level {level:g}: expected a number between 0 and 1")
    # Entered first, so that an output that cannot be written is known before the work is done.
    with staged_directory(out) if out else nullcontext() as stage:
        with progress_bars(quiet=quiet, verbose=verbose) as progress:
            counted = counts_of(source, tokenizer, options, progress)
            shape = geometry_by(options, counted, seed=seed, progress=progress)
            fit = fit_warp(shape, families, level=level, progress=progress)
            named = [name for name in families if name in FAMILIES] or families
            without = leave_out_first(shape, named, progress=progress) if left_out and not fit.undefined else ()
        document = warp_document(fit, without, counted)
        text = json.dumps(document, indent=1, allow_nan=False)
        if stage:
            (stage / WARP).write_text(text + "\n", encoding="utf-8")
            if can_draw():
                (stage / FIGURES).mkdir()
                for figure in figures(Run("", None, None, None, warp=document)):
                    write_figure(figure, stage / FIGURES)
    if as_json:
        typer.echo(text)
        return
    console = stdout_console()
    print_warp(fit, without, console)
    if out:
        further = f"posgeom report {shown(out)} makes its page" if can_draw() else "charts need the extra report"
        console.print(f"written to {shown(out)}; {further}")
