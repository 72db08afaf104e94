"""``posgeom count`` and ``posgeom merge``: counts to keep, and to add up."""

from pathlib import Path
from typing import Annotated

import typer

from posgeom.cli import options as o
from posgeom.cli.console import progress_bars
from posgeom.corpus.documents import ReadOptions
from posgeom.counts.counting import DEFAULT_N_FOLDS, DEFAULT_N_POSITIONS, count
from posgeom.counts.counts_notes import notes_on_counts
from posgeom.counts.null_corpora import NullKind
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.storage import read_counts
from posgeom.errors import CorpusError, CountsError
from posgeom.messages import shown
from posgeom.report.files import staged_file, write_counts_file

EPILOG = """Examples:

posgeom count reviews.parquet -t bert-base-uncased -n 256 -o counts.parquet

posgeom count 'part-*.jsonl.zst' --column body -o parts.parquet

posgeom count corpus/ -t tokenizer.json -o counts.parquet --engine dask --scheduler tcp://10.0.0.1:8786"""
MERGE_EPILOG = """Example:

posgeom merge monday.parquet tuesday.parquet -o both.parquet"""

OutOption = Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Parquet file to write.")]


def command(
    output: OutOption,
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    column: o.ColumnOption = None,
    n_positions: o.PositionsOption = DEFAULT_N_POSITIONS,
    folds: o.FoldsOption = DEFAULT_N_FOLDS,
    fold_by: o.FoldByOption = "text",
    min_length: o.MinLengthOption = None,
    full_length: o.FullLengthOption = False,
    format_: o.FormatOption = "auto",
    header: o.HeaderOption = True,
    quoting: o.QuotingOption = "auto",
    whole_files: o.WholeFilesOption = False,
    utf8_errors: o.Utf8ErrorsOption = "strict",
    tokenizer_engine: o.TokenizerEngineOption = "auto",
    null: Annotated[
        int,
        typer.Option(
            "--null",
            metavar="R",
            help="Count R null corpora in the same pass: the tokens of each document moved over its positions.",
        ),
    ] = 0,
    null_kind: Annotated[
        NullKind,
        typer.Option(
            "--null-kind",
            metavar="HOW",
            help="rotate: tokens keep their order and begin elsewhere; permute: they stand in a random order.",
        ),
    ] = "rotate",
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the null corpora.")] = 0,
    workers: o.WorkersOption = None,
    engine: o.EngineOption = "local",
    scheduler: o.SchedulerOption = None,
    run_dir: o.RunDirOption = None,
    partition_size: o.PartitionSizeOption = None,
    recount_changed: o.RecountChangedOption = False,
    quiet: o.QuietOption = False,
    verbose: o.VerboseOption = False,
) -> None:
    """Count tokens by fold and position, for `posgeom analyze --counts`."""
    if not corpus:
        raise CorpusError("no corpus: name files, a glob, a directory or - (standard input)")
    read_options = ReadOptions(
        format=format_,
        column=column,
        fold_by=fold_by,
        header=header,
        quoting=quoting,
        whole_files=whole_files,
        utf8_errors=utf8_errors,
    )
    parts = f"{output}.parts" if engine == "dask" and run_dir is None else run_dir
    # Entered first, so that an output that cannot be written is known before the work is done.
    with staged_file(output) as stage, progress_bars(quiet=quiet, verbose=verbose) as progress:
        counts = count(
            corpus,
            tokenizer,
            n_positions=n_positions,
            n_folds=folds,
            min_length=o.min_length(min_length, n_positions, full=full_length),
            options=read_options,
            tokenizer_engine=tokenizer_engine,
            null_replicates=null,
            null_kind=null_kind,
            seed=seed,
            workers=workers,
            engine=engine,
            scheduler=scheduler,
            run_dir=parts,
            partition_size=partition_size,
            recount_changed=recount_changed,
            progress=progress,
        )
        write_counts_file(counts, stage, output)
    _say(counts, output)
    if parts is not None:
        _leave(parts, named=run_dir is not None)


def merge_command(
    output: OutOption,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files that `posgeom count` wrote.")],
) -> None:
    """Add up counts made with the same tokenizer, context length and folds."""
    with staged_file(output) as stage:
        counts = merged_counts(files)
        write_counts_file(counts, stage, output)
    _say(counts, output)


def merged_counts(files: list[Path]) -> PositionCounts:
    """Read counts and add them up."""
    seen: set[Path] = set()
    for file in files:
        if file.resolve() in seen:
            raise CountsError(f"{shown(file)} is named twice: its counts would be doubled")
        seen.add(file.resolve())
    first, *rest = [read_counts(file) for file in files]
    return first.merge(*rest) if rest else first


def _say(counts: PositionCounts, output: Path) -> None:
    typer.echo(
        f"{shown(output)}: {counts.n_documents:,} documents ({counts.empty_documents:,} empty"
        + (
            f", {counts.short_documents:,} of less than {counts.min_length:,} positions left out"
            if counts.min_length
            else ""
        )
        + "), "
        f"{counts.n_tokens:,} tokens, n = {counts.n_positions}, V = {counts.vocab_size:,}, {counts.n_folds} folds"
        + (f", {len(counts.null)} null" if counts.null else "")
        + (f", ids by {'; '.join(counts.engines)}" if counts.engines else "")
        + f", sha256 {counts.checksum[:12]}"
    )
    for note in notes_on_counts(counts):
        typer.echo(f"note: {note}", err=True)


def _leave(parts: str, *, named: bool) -> None:
    """Keep a run directory that the user named, and say so; another has served its purpose."""
    from posgeom.counts.cluster.engine import remove_run  # needs an extra

    if named:
        typer.echo(f"partial counts are kept in {shown(parts)}")
    else:
        remove_run(parts)
