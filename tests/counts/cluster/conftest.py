"""Two worker processes that the tests share, and a corpus for them."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import LocalCluster

from posgeom.counts.cluster import client, tasks
from posgeom.counts.counting import count
from posgeom.counts.position_counts import PositionCounts
from tests.counts.cluster.helpers import Count, words


def two_workers() -> LocalCluster:
    return LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
    )


@pytest.fixture(scope="session")
def cluster() -> Iterator[LocalCluster]:
    with two_workers() as opened:
        yield opened


@pytest.fixture
def mortal() -> Iterator[LocalCluster]:
    """Workers for a test that kills some: on a busy machine Dask may fail to start others in their place."""
    with two_workers() as opened:
        yield opened


@pytest.fixture
def on_cluster(cluster: LocalCluster, tmp_path: Path) -> Count:
    """Count on the two workers, in the directory `run` if no other is named."""

    def call(*arguments: Any, **settings: Any) -> PositionCounts:
        where: dict[str, Any] = {"engine": "dask", "scheduler": cluster.scheduler_address, "run_dir": tmp_path / "run"}
        return count(*arguments, **(where | settings))

    return call


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    directory = tmp_path / "corpus"
    directory.mkdir()
    for i in range(4):
        (directory / f"{i}.txt").write_text(words(300 * (i + 1), seed=i, first=10_000 * i))
    return directory


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the worker of Dask a thread of this process, so that what a test changes here it uses too."""
    settings: dict[str, Any] = {"n_workers": 1, "threads_per_worker": 1, "processes": False}
    settings |= {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
    monkeypatch.setattr(client, "LocalCluster", lambda **_: LocalCluster(**settings))
    monkeypatch.setattr(tasks, "_loaded", tasks._loaded.__wrapped__)  # without what other tests loaded
