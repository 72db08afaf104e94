"""What the tests of the cluster engine share."""

import random
from collections.abc import Callable, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np

from posgeom.corpus.sources import resolve_sources
from posgeom.counts.cluster.job import Job, claim
from posgeom.counts.cluster.partitions import plan
from posgeom.counts.cluster.run_directory import RunDirectory
from posgeom.counts.cluster.tasks import count_partition, key_of_sum, sum_partitions
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.tallying import CountSettings
from posgeom.errors import PosgeomError
from posgeom.options import ReadOptions
from posgeom.tokenize.tokenizer_files import load_tokenizer
from tests.counts.helpers import check_same_keys, check_same_shingles

Count = Callable[..., PositionCounts]


_PLAIN: dict[str, Any] = {"null": (), "null_seed": None, "shingles": None, "copies": None, "fold_values": None}


def assert_identical(one: PositionCounts, other: PositionCounts) -> None:
    """Equal in every array, to the bit, and in everything else."""
    assert one.checksum == other.checksum
    for null, its in zip(one.null, other.null, strict=True):
        assert_identical(null, its)
    assert (one.shingles is None) == (other.shingles is None)
    if one.shingles is not None and other.shingles is not None:
        check_same_shingles(one.shingles, other.shingles)
    for name in ("copies", "fold_values"):
        check_same_keys(getattr(one, name), getattr(other, name))
    for mine, theirs in zip(astuple(replace(one, **_PLAIN)), astuple(replace(other, **_PLAIN)), strict=True):
        if isinstance(mine, np.ndarray):
            assert mine.dtype == theirs.dtype
            assert mine.tobytes() == theirs.tobytes()
        else:
            assert mine == theirs


def count_here(specs: Sequence[Path], size: int, run_dir: Path, **settings: Any) -> PositionCounts:
    """Do what workers do, in this process and in a random order."""
    tokenizer = settings.pop("tokenizer", "whitespace")
    n_positions, n_folds = settings.pop("n_positions", 8), settings.pop("n_folds", 3)
    min_length = settings.pop("min_length", None)
    options = ReadOptions(**settings)
    partitions = plan(resolve_sources(specs, options), options, size)
    directory = RunDirectory(run_dir)
    loaded = load_tokenizer(tokenizer)
    job = Job(
        run_dir=directory.place,
        options=options,
        counting=CountSettings(n_positions, n_folds, grouped_by=options.grouped_by, min_length=min_length),
        tokenizer=loaded.identity,
        engine=loaded.engine,
        requested_engine=loaded.requested_engine,
    )
    with directory.opened():
        claim(directory, job, partitions, size, False)
        keys = tuple(partition.key(job.digest) for partition in partitions)
        directory.prepare(set(keys))
        order = random.Random(0).sample(range(len(partitions)), len(partitions))
        failures: dict[int, PosgeomError] = {}
        for i in order:
            try:
                count_partition(job, partitions[i])
            except PosgeomError as error:
                failures[i] = error
        if failures:
            raise failures[min(failures)]
        sum_partitions(directory.place, keys)
        counts = directory.read_counts(key_of_sum(keys))
    assert counts is not None
    return counts


def words(n_lines: int, seed: int = 0, first: int = 0) -> str:
    """Lines of words, some of them empty, no two alike."""
    rng = np.random.default_rng(seed)
    vocabulary = np.array([f"w{i}" for i in range(500)])
    lengths = rng.integers(0, 20, n_lines)
    lines = [" ".join(rng.choice(vocabulary, k)) for k in lengths]
    return "".join(f"{line} {first + i}\n" if line else "\n" for i, line in enumerate(lines))
