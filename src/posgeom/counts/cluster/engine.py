"""The client of a run: plan, have each partition counted into a file, add the files up."""

import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from posgeom.corpus.sources import Source
from posgeom.counts.cluster.job import Job, claim
from posgeom.counts.cluster.partitions import Partition, plan
from posgeom.counts.cluster.run_directory import TOKENIZER, RunDirectory
from posgeom.counts.cluster.tasks import count_partition, key_of_sum, sum_partitions
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


def count_on_cluster(
    sources: Sequence[Source],
    options: ReadOptions,
    tokenizer: Tokenizer,
    settings: CountSettings,
    *,
    cluster: ClusterOptions,
    progress: ProgressHook,
) -> PositionCounts:
    """Count the documents of sources already found on a Dask cluster, to the bit as `count_batches` does."""
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
        stack.enter_context(directory.opened())
        job = Job(directory.place, options, settings, tokenizer.identity, tokenizer.engine, tokenizer.requested_engine)
        claim(directory, job, partitions, size, cluster["recount_changed"])
        if definition is not None:
            directory.write_text(TOKENIZER, definition)
        from posgeom.counts.cluster.client import connected  # here, because distributed is slow to load

        n_workers = min(settings.workers or os.cpu_count() or 1, len(partitions))
        client = stack.enter_context(connected(cluster["scheduler"], n_workers, progress))
        kept = None if cluster["run_dir"] is None else directory.place
        try:
            counts = _run(client, directory, job, partitions, kept, progress)
        except EngineError as error:
            tokenizer = tokenizer.on_reference(f"{error}; counted again")
            job = replace(job, engine=tokenizer.engine, requested_engine=tokenizer.requested_engine)
            counts = _run(client, directory, job, partitions, kept, progress)
    notes = [*counts.engine_notes, *filter(None, [tokenizer.engine_note])]
    return replace(counts, tokenizer=tokenizer.identity, engine_notes=tuple(dict.fromkeys(notes)))


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
    # What is there comes first, so that the rate and the time left are those of what is not.
    order = sorted(range(len(keys)), key=lambda i: keys[i] not in present)
    _count_partitions(client, job, {i: partitions[i] for i in order}, kept, progress)
    counts = _add_up(client, directory, keys, progress)
    directory.prepare(set(keys))
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


def _count_partitions(
    client: "Client", job: Job, partitions: Mapping[int, Partition], kept: str | None, progress: ProgressHook
) -> None:
    from posgeom.counts.cluster.client import WorkerMemoryError, run_tasks

    total = sum(partition.n_bytes for partition in partitions.values())
    n_bytes = n_done = 0
    failures: dict[int, PosgeomError] = {}
    progress("counting", 0, total)
    for i, error in run_tasks(client, partial(count_partition, job), partitions, str):
        if error is None:
            n_done, n_bytes = n_done + 1, n_bytes + partitions[i].n_bytes
            progress("counting", n_bytes, total)
            continue
        if isinstance(error, EngineError):  # all of the run is in doubt, not this partition
            raise error
        failures[i] = error
        if not isinstance(error, CorpusError | WorkerMemoryError):
            break
    if not failures:
        return
    error = failures[min(failures)]
    remarks = []
    if len(failures) > 1:
        remarks.append(f"{len(failures) - 1:,} more of {len(partitions):,} partitions failed")
    if kept is not None and n_done:
        way_out = ": mend the file and add --recount-changed" if isinstance(error, CorpusError) else ""
        remarks.append(f"{n_done:,} of {len(partitions):,} partitions are kept in {shown(kept)}{way_out}")
    raise type(error)(f"{error} ({'; '.join(remarks)})" if remarks else str(error))


def _add_up(client: "Client", directory: RunDirectory, keys: Sequence[str], progress: ProgressHook) -> PositionCounts:
    """Add up groups of neighbours, about as many as each has members, then their sums: all on the workers."""
    from posgeom.counts.cluster.client import run_tasks

    if len(keys) > 1:
        size = math.isqrt(len(keys) - 1) + 1
        groups = [tuple(keys[i : i + size]) for i in range(0, len(keys), size)]
        last = tuple(map(key_of_sum, groups))
        n_done = 0
        for level in (groups, [last]):
            sums = dict(enumerate(level))
            for _, error in run_tasks(client, partial(sum_partitions, directory.place), sums, lambda _: "adding up"):
                if error is not None:
                    raise error
                n_done += 1
                progress("adding up", n_done, len(groups) + 1)
        keys = [key_of_sum(last)]
    return directory.sum_counts(keys)
