"""``posgeom analyze``: from a corpus to a scored geometry."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Unpack

import typer

from posgeom.analysis import analyze
from posgeom.cli import options as o
from posgeom.cli.console import progress_bars, stdout_console
from posgeom.cli.stored import corpus_or_counts
from posgeom.messages import shown
from posgeom.options import AnalyzeOptions, ReadOptions
from posgeom.report.charts.figure import can_draw
from posgeom.report.drawn import FIGURES, REPORT, draw_run
from posgeom.report.files import FILE_NAMES, dump_json, staged_directory, write_files
from posgeom.report.table import print_analysis
from posgeom.results import Analysis

EPILOG = """Examples:

posgeom analyze reviews.jsonl.gz -t bert-base-uncased -n 256 --out run

posgeom analyze data.csv --column sentence --fold-by author --json

posgeom analyze genes.fasta -n 60 --encoding table.npy --encoding mds:rank=4

posgeom analyze --counts counts.parquet --convention paper -d 768

posgeom analyze books.jsonl.gz -t tokenizer.json -n 4096 --bins geometric:48 --full-length

An encoding is one that `posgeom encodings` lists, with options as in rope:base=500000,scaling=llama3,factor=32,
alibi:form=kernel,heads=8 or mds:rank=4; or a matrix file: table.npy, model.safetensors:tensor=NAME."""


@o.takes(ReadOptions, AnalyzeOptions)
def command(
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    counts: o.CountsOption = None,
    no_intervals: Annotated[
        bool, typer.Option("--no-intervals", help="Estimates without intervals.", rich_help_panel="Errors")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write scores, counts, distances, MDS, report and figures there.",
            show_default=False,
            rich_help_panel="Output",
        ),
    ] = None,
    as_json: o.JsonOption = False,
    report: o.ReportOption = True,
    quiet: o.QuietOption = False,
    verbose: o.VerboseOption = False,
    **options: Unpack[AnalyzeOptions],
) -> None:
    """Measure the geometry of positions in a corpus and score positional encodings against it.

    Alignment and stress are diagnostics of faithfulness; they do not predict a model's performance.
    """
    source = corpus_or_counts(corpus, counts)
    if no_intervals:
        options["level"] = None
    # Entered first, so that an output that cannot be written is known before the work is done.
    with staged_directory(out) if out else nullcontext() as stage:
        with progress_bars(quiet=quiet, verbose=verbose) as progress:
            analysis = analyze(source, tokenizer, progress=progress, **options)
        if stage:
            write_files(analysis, stage, out or stage)
            if report and can_draw():
                with progress_bars(quiet=quiet, verbose=verbose) as progress:
                    draw_run(stage, out or stage, progress=progress)
    show(analysis, as_json=as_json, out=out, report=report)
    if options.get("run_dir") and not as_json:
        typer.echo(f"partial counts are kept in {shown(options['run_dir'])}")


def show(analysis: Analysis, *, as_json: bool, out: Path | None, report: bool) -> None:
    """Print an analysis, as a table or as JSON."""
    if as_json:
        typer.echo(dump_json(analysis))
        return
    console = stdout_console()
    print_analysis(analysis, console)
    if out:
        drawn = (REPORT, FIGURES) if report and can_draw() else ()
        console.print(f"written to {shown(out)}: {', '.join((*FILE_NAMES, *drawn))}")
        if report and not drawn:
            console.print(f"no {REPORT} and no {FIGURES}: pip install 'posgeom[report]', then posgeom report")
