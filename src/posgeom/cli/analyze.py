"""``posgeom analyze``: from a corpus to a scored geometry."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Literal

import typer

from posgeom.analysis import DEFAULT_N_DIMS, analyze
from posgeom.cli import options as o
from posgeom.cli.console import progress_bars, stdout_console
from posgeom.cli.stored import stored_counts
from posgeom.corpus.documents import ReadOptions
from posgeom.counts.counting import DEFAULT_N_FOLDS, DEFAULT_N_POSITIONS
from posgeom.counts.null_corpora import NullKind
from posgeom.errors import CorpusError, PosgeomError
from posgeom.messages import shown
from posgeom.policies import LEVEL
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


def command(
    context: typer.Context,
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    column: o.ColumnOption = None,
    n_positions: o.PositionsOption = DEFAULT_N_POSITIONS,
    n_dims: Annotated[
        int, typer.Option("-d", "--n-dims", metavar="DIMS", help="Width of the encodings that have one.")
    ] = DEFAULT_N_DIMS,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write scores, counts, distances, MDS, report and figures there.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print scores.json on stdout and nothing else.")] = False,
    report: o.ReportOption = True,
    convention: Annotated[
        Literal["sound", "paper"],
        typer.Option(
            "--convention",
            metavar="NAME",
            help="sound, or paper: where the defaults of --estimator, --empty and --min-depth come from.",
        ),
    ] = "sound",
    estimator: Annotated[
        Literal["crossval", "plugin"] | None,
        typer.Option(
            "--estimator",
            metavar="NAME",
            help="crossval: equal distributions lie at 0 on average. plugin: noise sets them apart.",
            show_default=False,
        ),
    ] = None,
    empty: Annotated[
        Literal["mask", "uniform"] | None,
        typer.Option(
            "--empty",
            metavar="POLICY",
            help="Positions without data: mask leaves them out, uniform makes them uniform over V.",
            show_default=False,
        ),
    ] = None,
    min_depth: Annotated[
        int | None,
        typer.Option(
            "--min-depth",
            metavar="K",
            help="Sequences that a position needs to take part. Default: 5 % of the deepest position's, at least 100 "
            "where there are so many.",
            show_default=False,
        ),
    ] = None,
    folds: o.FoldsOption = DEFAULT_N_FOLDS,
    bins: o.BinsOption = None,
    min_length: o.MinLengthOption = None,
    full_length: o.FullLengthOption = False,
    fold_by: o.FoldByOption = "text",
    metric: o.MetricOption = "hellinger",
    encoding: Annotated[
        list[str] | None,
        typer.Option(
            "--encoding",
            metavar="NAME_OR_FILE",
            help="Score this one too; may be repeated. See below.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[bool, typer.Option("--only", help="Score only the encodings named with --encoding.")] = False,
    ranks: Annotated[
        str | None,
        typer.Option(
            "--ranks",
            metavar="R,R,...",
            help="Ranks of MDS to score. Default: 1,2,3,8,16,32.",
            show_default=False,
        ),
    ] = None,
    counts: o.CountsOption = None,
    format_: o.FormatOption = "auto",
    header: o.HeaderOption = True,
    quoting: o.QuotingOption = "auto",
    whole_files: o.WholeFilesOption = False,
    utf8_errors: o.Utf8ErrorsOption = "strict",
    tokenizer_engine: o.TokenizerEngineOption = "auto",
    workers: o.WorkersOption = None,
    engine: o.EngineOption = "local",
    scheduler: o.SchedulerOption = None,
    run_dir: o.RunDirOption = None,
    partition_size: o.PartitionSizeOption = None,
    recount_changed: o.RecountChangedOption = False,
    level: Annotated[
        float, typer.Option("--level", metavar="P", help="Level of the intervals, between 0 and 1.")
    ] = LEVEL,
    no_intervals: Annotated[bool, typer.Option("--no-intervals", help="Estimates without intervals.")] = False,
    null: Annotated[
        int | None,
        typer.Option(
            "--null",
            metavar="R",
            help="Null corpora to count in the same pass, at least 3: does order matter beyond who is long? "
            "Default: none.",
            show_default=False,
        ),
    ] = None,
    null_kind: Annotated[
        NullKind | None,
        typer.Option(
            "--null-kind",
            metavar="KIND",
            help="How null corpora are made: rotate or permute the tokens of each document. Default: rotate.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", help="Seed of splits, null corpora and random encodings.")
    ] = 0,
    quiet: o.QuietOption = False,
    verbose: o.VerboseOption = False,
) -> None:
    """Measure the geometry of positions in a corpus and score positional encodings against it.

    Alignment and stress are diagnostics of faithfulness; they do not predict a model's performance.
    """
    if counts and corpus:
        raise CorpusError("got both a corpus and --counts: expected one of them")
    source = stored_counts(context, counts) if counts else corpus
    if not source:
        raise CorpusError("no corpus: name files, a glob, a directory or - (standard input), or give --counts FILE")
    read_options = ReadOptions(
        format=format_,
        column=column,
        fold_by=fold_by,
        header=header,
        quoting=quoting,
        whole_files=whole_files,
        utf8_errors=utf8_errors,
    )
    # Entered first, so that an output that cannot be written is known before the work is done.
    with staged_directory(out) if out else nullcontext() as stage:
        with progress_bars(quiet=quiet, verbose=verbose) as progress:
            analysis = analyze(
                source,
                tokenizer,
                n_positions=None if counts else n_positions,
                n_dims=n_dims,
                encodings=encoding or (),
                default_encodings=not only,
                ranks=None if ranks is None else _parse_ranks(ranks),
                convention=convention,
                estimator=estimator,
                empty=empty,
                min_depth=min_depth,
                metric=metric,
                n_folds=None if counts else folds,
                level=None if no_intervals else level,
                null_replicates=null,
                null_kind=null_kind,
                min_length=o.min_length(min_length, n_positions, full=full_length),
                bins=bins,
                options=None if counts else read_options,
                tokenizer_engine=None if counts else tokenizer_engine,
                workers=workers,
                engine=None if counts else engine,
                scheduler=scheduler,
                run_dir=run_dir,
                partition_size=partition_size,
                recount_changed=recount_changed,
                seed=seed,
                progress=progress,
            )
        if stage:
            write_files(analysis, stage, out or stage)
            if report and can_draw():
                with progress_bars(quiet=quiet, verbose=verbose) as progress:
                    draw_run(stage, out or stage, progress=progress)
    show(analysis, as_json=as_json, out=out, report=report)
    if run_dir and not as_json:
        typer.echo(f"partial counts are kept in {shown(run_dir)}")


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


def _parse_ranks(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise PosgeomError(f"--ranks {text!r}: expected whole numbers separated by commas, as in 1,2,4") from None
