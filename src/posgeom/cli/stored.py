"""Counts made before, for the commands that take them instead of a corpus."""

from pathlib import Path

from posgeom.cli.count import merged_counts
from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import CorpusError
from posgeom.report.run import SCORES

COUNTS = "counts.parquet"


def corpus_or_counts(corpus: list[str] | None, counts: list[Path] | None) -> list[str] | PositionCounts:
    """What a command is about: the corpus or the run that was named, or the counts that were, added up."""
    if corpus and counts:
        raise CorpusError("got both a corpus and --counts: expected one of them")
    run = Path(corpus[0]) / COUNTS if corpus and len(corpus) == 1 else None
    if run is not None and run.is_file() and (run.parent / SCORES).is_file():
        counts = [run]
    if counts:
        return merged_counts(counts)
    if not corpus:
        raise CorpusError("no corpus: name files, a glob, a directory or - (standard input), or give --counts FILE")
    return corpus
