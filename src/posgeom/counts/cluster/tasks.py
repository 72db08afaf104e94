"""What workers do: count a partition, or add up several, into a file of the run directory."""

import socket
from dataclasses import replace
from functools import lru_cache

from posgeom.corpus.reading import read_sources
from posgeom.corpus.sources import Source
from posgeom.corpus.streams import count_line_feeds
from posgeom.counts.cluster.job import Job, environment
from posgeom.counts.cluster.partitions import Partition, digest_of, identify
from posgeom.counts.cluster.run_directory import MANIFEST, TOKENIZER, RunDirectory
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.tallying import count_sources
from posgeom.errors import CorpusError, CountsError, OutputError
from posgeom.messages import shown
from posgeom.options import ReadOptions
from posgeom.tokenize.engines.base import EngineError
from posgeom.tokenize.tokenizer_files import BUILTIN_TOKENIZERS, FastTokenizer
from posgeom.tokenize.tokenizers import Tokenizer


def count_partition(job: Job, partition: Partition) -> None:
    """Count a partition into the run directory, unless its counts are there."""
    directory = RunDirectory(job.run_dir)
    _check_worker(job.run_dir, tuple(job.environment.items()))
    key = partition.key(job.digest)
    if directory.read_counts(key) is None:
        directory.write_counts(key, _count(job, directory, partition))


def sum_partitions(run_dir: str, keys: tuple[str, ...]) -> None:
    """Add up counts in the run directory."""
    directory = RunDirectory(run_dir)
    directory.write_counts(key_of_sum(keys), directory.sum_counts(keys))


def key_of_sum(keys: tuple[str, ...]) -> str:
    """Name of the sum of counts."""
    return digest_of(keys)[:40]


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
