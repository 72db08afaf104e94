"""``posgeom count`` and ``posgeom merge``: counts to keep, and to add up."""

from pathlib import Path
from typing import Annotated, Unpack

import typer

from posgeom.cli import options as o
from posgeom.cli.console import progress_bars
from posgeom.counts.counting import count
from posgeom.counts.counts_notes import notes_on_counts
from posgeom.counts.merging import add_up
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.storage import read_counts
from posgeom.errors import CorpusError, CountsError
from posgeom.messages import shown
from posgeom.options import CountOptions, ReadOptions
from posgeom.report.files import staged_file, write_counts_file

EPILOG = """Examples:

posgeom count reviews.parquet -t bert-base-uncased -n 256 -o counts.parquet

posgeom count 'part-*.jsonl.zst' --column body -o parts.parquet

posgeom count corpus/ -t tokenizer.json -o counts.parquet --engine dask --scheduler tcp://10.0.0.1:8786"""
MERGE_EPILOG = """Example, of counts made with the same -n:

posgeom merge monday.parquet tuesday.parquet -o both.parquet"""

OutOption = Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Parquet file to write.")]


@o.takes(ReadOptions, CountOptions)
def command(
    output: OutOption,
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    quiet: o.QuietOption = False,
    verbose: o.VerboseOption = False,
    **options: Unpack[CountOptions],
) -> None:
    """Count tokens by fold and position, for `posgeom analyze --counts`."""
    if not corpus:
        raise CorpusError("no corpus: name files, a glob, a directory or - (standard input)")
    named = options.get("run_dir")
    parts = f"{output}.parts" if options.get("engine") == "dask" and named is None else named
    if parts is not None:
        options["run_dir"] = parts
    # Entered first, so that an output that cannot be written is known before the work is done.
    with staged_file(output) as stage, progress_bars(quiet=quiet, verbose=verbose) as progress:
        counts = count(corpus, tokenizer, progress=progress, **options)
        write_counts_file(counts, stage, output)
    _say(counts, output)
    if parts is not None:
        _leave(str(parts), named=named is not None)


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
    return add_up(map(read_counts, files))


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
