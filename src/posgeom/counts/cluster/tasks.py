"""What workers do: count a partition, add up partial counts. What they give back is tiny."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache

from posgeom.corpus.reading import read_sources
from posgeom.corpus.sources import Source
from posgeom.corpus.streams import count_line_feeds
from posgeom.counts.cluster.job import Job, environment
from posgeom.counts.cluster.partitions import Partition, identify
from posgeom.counts.cluster.run_directory import MANIFEST, TOKENIZER, RunDirectory
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.tallying import count_sources
from posgeom.errors import CorpusError, CountsError, OutputError, PosgeomError
from posgeom.messages import shown
from posgeom.options import ReadOptions
from posgeom.tokenize.engines.base import EngineError
from posgeom.tokenize.tokenizer_files import BUILTIN_TOKENIZERS, FastTokenizer
from posgeom.tokenize.tokenizers import Tokenizer


class WorkerMemoryError(CountsError):
    """A worker died over a partition, or ran out of memory, which says nothing about the other partitions."""


def count_partition(job: Job, partition: Partition) -> PosgeomError | None:
    """Count a partition into the run directory, unless its counts are there.

    An error is given back, not raised: it is an expected end, and no failure of the cluster to be tried again.
    """
    with _kept_errors(str(partition)) as errors:
        directory = RunDirectory(job.run_dir)
        _check_worker(job.run_dir, tuple(job.environment.items()))
        key = partition.key(job.digest)
        if directory.read_counts(key) is None:
            directory.write_counts(key, _count(job, directory, partition))
    return errors[0] if errors else None


def merge_partials(job: Job, key: str, parts: Sequence[str], merged: bool) -> PosgeomError | None:
    """Add up partial counts, or sums of them, into the run directory, unless their sum is there; errors as above."""
    with _kept_errors("adding up") as errors:
        directory = RunDirectory(job.run_dir)
        if directory.read_counts(key, merged=True) is None:
            directory.write_counts(key, _sum(directory, parts, merged), merged=True)
    return errors[0] if errors else None


@contextmanager
def _kept_errors(what: str) -> Iterator[list[PosgeomError]]:
    errors: list[PosgeomError] = []
    try:
        yield errors
    except PosgeomError as error:
        errors.append(error)
    except MemoryError:
        errors.append(WorkerMemoryError(f"{what}: out of memory on {_host()}: give workers more"))


def _sum(directory: RunDirectory, parts: Sequence[str], merged: bool) -> PositionCounts:
    """Add up in order; what waits to be added is never larger than the sum so far, or than one part."""
    total: PositionCounts | None = None
    waiting: list[PositionCounts] = []
    for part in parts:
        counts = directory.read_counts(part, merged=merged)
        if counts is None:
            raise CountsError(f"run directory {shown(directory.place)}: lost or damaged counts: run again to mend it")
        if total is None:
            total = counts
            continue
        waiting.append(counts)
        if sum(c.fold.size for c in waiting) >= total.fold.size:
            total, waiting = total.merge(*waiting), []
    if total is None:
        raise CountsError("no counts to add up")
    return total.merge(*waiting) if waiting else total


def _count(job: Job, directory: RunDirectory, partition: Partition) -> PositionCounts:
    tokenizer = _tokenizer(job, directory)
    try:
        counts = count_sources(partition.sources, job.options, tokenizer, replace(job.counting, workers=1))
    except EngineError as error:
        raise EngineError(f"{error} of {partition}") from None
    except CorpusError:
        _refuse_changed(partition)
        for source in partition.sources:
            if source.part and source.part.is_inner:
                _fail_with_true_lines(source, job.options)
        raise
    _refuse_changed(partition)
    return counts


def _refuse_changed(partition: Partition) -> None:
    for source, planned in zip(partition.sources, partition.identities, strict=True):
        try:
            current = identify(source)
        except CorpusError as error:
            raise CorpusError(
                f"{error} on worker {_host()}: all workers must reach the corpus under the same name"
            ) from None
        if current != planned:
            raise CorpusError(
                f"{shown(source.name)}: changed while the corpus was being counted:"
                " expected a corpus that stands still; run again with --recount-changed"
            )


def _fail_with_true_lines(source: Source, options: ReadOptions) -> None:
    """Read a part that cannot be read once more, its lines numbered as in the whole file."""
    if source.part:
        before = count_line_feeds(source, source.part.start - 1)
        for _ in read_sources([replace(source, part=replace(source.part, lines_before=before))], options):
            pass


def _tokenizer(job: Job, directory: RunDirectory) -> Tokenizer:
    if job.tokenizer.kind in BUILTIN_TOKENIZERS:
        return BUILTIN_TOKENIZERS[job.tokenizer.kind]()  # a new one, since an open vocabulary grows
    tokenizer = _loaded(directory.place, job.tokenizer.name, job.tokenizer.sha256, job.requested_engine)
    if tokenizer.engine != job.engine:
        raise CountsError(
            f"worker {_host()} has tokenizer engine {tokenizer.engine}, this client {job.engine}:"
            " install the same packages on both, or add --tokenizer-engine reference"
        )
    return tokenizer


@lru_cache(maxsize=4)
def _loaded(run_dir: str, name: str, sha256: str | None, engine: str) -> Tokenizer:
    definition = RunDirectory(run_dir).read_text(TOKENIZER)
    tokenizer = FastTokenizer.from_definition(definition or "", name, engine)
    if tokenizer.identity.sha256 != sha256:
        raise CountsError(f"tokenizer {shown(name)}: its definition in the run directory is damaged: delete {run_dir}")
    return tokenizer


def _host() -> str:
    return shown(socket.gethostname())


@lru_cache(maxsize=4)
def _check_worker(run_dir: str, expected: tuple[tuple[str, str], ...]) -> None:
    for name, value in environment().items():
        if dict(expected)[name] != value:
            raise CountsError(
                f"worker {_host()} has {name} {value}, this client {dict(expected)[name]}:"
                " install the same version on both"
            )
    if RunDirectory(run_dir).read_text(MANIFEST) is None:
        raise OutputError(
            f"worker {_host()} does not find the run directory {shown(run_dir)}:"
            " name a directory or URL that all workers reach, with --run-dir"
        )
