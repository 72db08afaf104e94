"""The client of a run: plan, hand out, wait, add up."""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from posgeom.corpus.sources import Source
from posgeom.counts.cluster.job import Job, claim, environment
from posgeom.counts.cluster.partitions import Partition, plan
from posgeom.counts.cluster.run_directory import TOKENIZER, RunDirectory
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.tallying import CountSettings
from posgeom.errors import CorpusError, CountsError, PosgeomError, TokenizerError
from posgeom.messages import shown
from posgeom.options import ClusterOptions, ReadOptions
from posgeom.progress import ProgressHook
from posgeom.tokenize.engines.base import EngineError
from posgeom.tokenize.tokenizer_files import BUILTIN_TOKENIZERS, FastTokenizer
from posgeom.tokenize.tokenizers import Tokenizer

if TYPE_CHECKING:
    from distributed import Client

FAN_IN = 16
"""Partial counts that one task adds up."""


def count_on_cluster(
    sources: Sequence[Source],
    options: ReadOptions,
    tokenizer: Tokenizer,
    settings: CountSettings,
    *,
    cluster: ClusterOptions,
    progress: ProgressHook,
) -> PositionCounts:
    """Count the documents of sources already found, on a Dask cluster.

    The result is the one of `count_sources` to the bit, whatever the number of workers and partitions, and whatever
    dies on the way: a partition's counts are written under a name that follows from its content, so that what is
    done twice is the same and is added once. Where a part cannot be read, the others are still counted and kept.
    """
    settings.check(tokenizer)
    _check_options(cluster, settings)
    definition = _definition(tokenizer)
    size = _bytes(cluster["partition_size"])
    partitions = plan(sources, options, size)
    with ExitStack() as stack:
        place = cluster["run_dir"]
        if place is None:
            place = stack.enter_context(tempfile.TemporaryDirectory(prefix="posgeom-", ignore_cleanup_errors=True))
        directory = RunDirectory(place)
        stack.enter_context(_locked(directory))
        job = _job(directory, options, settings, tokenizer)
        claim(directory, job, partitions, size, cluster["recount_changed"])
        if definition is not None:
            directory.write_text(TOKENIZER, definition)
        from posgeom.counts.cluster.client import connected  # here, because distributed is slow to load

        n_workers = min(settings.workers or os.cpu_count() or 1, len(partitions))
        client = stack.enter_context(connected(cluster["scheduler"], n_workers))
        kept = None if cluster["run_dir"] is None else directory.place
        try:
            counts = _run(client, directory, job, partitions, kept, progress)
        except EngineError as error:
            tokenizer = tokenizer.on_reference(f"{error}; counted again")
            job = _job(directory, options, settings, tokenizer)
            counts = _run(client, directory, job, partitions, kept, progress)
    notes = [*counts.engine_notes, *filter(None, [tokenizer.engine_note])]
    return replace(counts, tokenizer=tokenizer.identity, engine_notes=tuple(dict.fromkeys(notes)))


def _job(directory: RunDirectory, options: ReadOptions, settings: CountSettings, tokenizer: Tokenizer) -> Job:
    return Job(
        run_dir=directory.place,
        options=options,
        counting=settings,
        tokenizer=tokenizer.identity,
        engine=tokenizer.engine,
        requested_engine=tokenizer.requested_engine,
        environment=environment(),
    )


def _run(
    client: "Client",
    directory: RunDirectory,
    job: Job,
    partitions: Sequence[Partition],
    kept: str | None,
    progress: ProgressHook,
) -> PositionCounts:
    """Count what is not there yet, and add everything up."""
    keys = [partition.key(job.digest) for partition in partitions]
    present = directory.prepare(set(keys))
    _count_partitions(client, job, partitions, [key in present for key in keys], kept, progress)
    counts = _add_up(client, directory, job, keys, progress)
    directory.clear_merged()
    return counts


def remove_run(run_dir: str | Path) -> None:
    """Remove what a run put into a directory, and the directory if nothing else is in it."""
    RunDirectory(run_dir).remove()


def _check_options(cluster: ClusterOptions, settings: CountSettings) -> None:
    if settings.grouped_by == "row":
        raise CountsError(
            "folds by row with engine 'dask', whose partitions do not know the numbers of their rows: use --engine"
            " local, or --fold-by with a column that numbers the rows"
        )
    missing = [name for name in ("dask", "distributed", "fsspec") if find_spec(name) is None]
    if missing:
        raise CountsError(
            f"engine 'dask' needs {' and '.join(missing)}: install it with pip install 'posgeom[dask]', or leave"
            " --engine out"
        )
    if cluster["scheduler"] is not None and settings.workers is not None:
        raise CountsError(f"got {settings.workers} workers and a scheduler, which has its own: leave --workers out")
    if cluster["scheduler"] is not None and cluster["run_dir"] is None:
        raise CountsError("got a scheduler and no run directory: name one that all workers reach, with --run-dir")


def _bytes(size: int | str | None) -> int | None:
    from dask.utils import parse_bytes

    try:
        n_bytes = None if size is None else int(parse_bytes(size))
    except ValueError:
        n_bytes = 0
    if n_bytes is not None and n_bytes < 1:
        raise CountsError(f"partition size {shown(size, 60)}: expected at least 1 byte, as in 64MiB")
    return n_bytes


def _definition(tokenizer: Tokenizer) -> str | None:
    if isinstance(tokenizer, FastTokenizer):
        return tokenizer.definition()
    if type(tokenizer) in BUILTIN_TOKENIZERS.values():
        return None
    raise TokenizerError(
        f"tokenizer {shown(tokenizer.identity.name)} has no definition to send to workers:"
        f" expected a tokenizer.json or one of {', '.join(BUILTIN_TOKENIZERS)} for engine 'dask'"
    )


@contextmanager
def _locked(directory: RunDirectory) -> Iterator[None]:
    from posgeom.counts.cluster.lock import RunLock

    created = directory.create()
    with RunLock(directory):
        try:
            yield
        except BaseException:
            if created:
                directory.remove_unless_counted()
            raise


def _count_partitions(
    client: "Client",
    job: Job,
    partitions: Sequence[Partition],
    present: Sequence[bool],
    kept: str | None,
    progress: ProgressHook,
) -> None:
    from posgeom.counts.cluster.client import run_tasks
    from posgeom.counts.cluster.tasks import count_partition

    # What is there comes first, so that the rate and the time left are those of what is not.
    order = sorted(range(len(partitions)), key=lambda i: not present[i])
    total = sum(partition.n_bytes for partition in partitions)
    done = {"bytes": 0, "partitions": 0}

    def report(i: int) -> None:
        done["bytes"] += partitions[order[i]].n_bytes
        done["partitions"] += 1
        progress("counting", done["bytes"], total)

    progress("counting", 0, total)
    calls = [(count_partition, job, partitions[i]) for i in order]
    failures = run_tasks(client, calls, [str(partitions[i]) for i in order], report, progress)
    for error in failures.values():
        if isinstance(error, EngineError):  # all of the run is in doubt, not this partition
            raise error
    if failures:
        _fail({order[i]: error for i, error in failures.items()}, len(partitions), done["partitions"], kept)


def _fail(failures: dict[int, PosgeomError], n_partitions: int, n_done: int, kept: str | None) -> None:
    error = failures[min(failures)]
    remarks = []
    if len(failures) > 1:
        remarks.append(f"{len(failures) - 1:,} more of {n_partitions:,} partitions failed")
    if kept is not None and n_done:
        way_out = ": mend the file and add --recount-changed" if isinstance(error, CorpusError) else ""
        remarks.append(f"{n_done:,} of {n_partitions:,} partitions are kept in {shown(kept)}{way_out}")
    raise type(error)(f"{error} ({'; '.join(remarks)})" if remarks else str(error))


def _add_up(
    client: "Client", directory: RunDirectory, job: Job, keys: Sequence[str], progress: ProgressHook
) -> PositionCounts:
    """Add partial counts up in their order, `FAN_IN` at a time, on the workers."""
    from posgeom.counts.cluster.client import run_tasks
    from posgeom.counts.cluster.tasks import merge_partials

    levels = [list(keys)]
    while len(levels[-1]) > 1:
        levels.append([_key_of_sum(group) for group in _groups(levels[-1])])
    total = sum(map(len, levels[1:]))
    done = count(1)

    def report(i: int) -> None:  # noqa: ARG001
        progress("adding up", next(done), total)

    for merged, (parts, sums) in enumerate(pairwise(levels)):
        groups = zip(sums, _groups(parts), strict=True)
        calls = [(merge_partials, job, key, group, bool(merged)) for key, group in groups]
        failures = run_tasks(client, calls, ["adding up"] * len(calls), report, progress)
        if failures:
            raise failures[min(failures)]
    counts = directory.read_counts(levels[-1][0], merged=total > 0)
    if counts is None:
        raise CountsError(
            f"run directory {shown(directory.place)}: the workers' counts are not in it:"
            " name a directory or URL that this client and all workers reach, with --run-dir"
        )
    return counts


def _groups(keys: list[str]) -> list[list[str]]:
    return [keys[i : i + FAN_IN] for i in range(0, len(keys), FAN_IN)]


def _key_of_sum(keys: list[str]) -> str:
    return hashlib.sha256(json.dumps(keys).encode()).hexdigest()[:40]
