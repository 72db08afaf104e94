"""Workers and clients that are killed: the counts are the same, and what was done stays done."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from distributed import LocalCluster

from posgeom.counts.counting import count
from tests.cli.helpers import ENTRY
from tests.counts.cluster.helpers import Count, assert_identical, words

PATIENCE = 150


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "large.txt"
    path.write_text("".join(words(3000, seed=i, first=3000 * i) for i in range(3)))
    return path


def partials(run_dir: Path) -> dict[str, tuple[int, int]]:
    """Inode and time of the partial counts that are in their place, by key."""
    found = (run_dir / "partials").glob("[!.]*.parquet")
    return {p.stem: (p.stat().st_ino, p.stat().st_mtime_ns) for p in found}


def wait_for_partials(run_dir: Path, n: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while len(partials(run_dir)) < n:
        assert time.monotonic() < deadline, "the run did not come that far"
        time.sleep(0.01)


def test_workers_killed_at_random_moments(mortal: LocalCluster, on_cluster: Count, large: Path, tmp_path: Path) -> None:
    rng = random.Random()  # another moment each time: no moment may matter
    killed = []

    def kill() -> None:
        for n_done in (5, 25, 45):
            wait_for_partials(tmp_path / "run", n_done)
            time.sleep(rng.random() / 20)
            while True:
                nannies: list[Any] = list(mortal.workers.values())
                pid = rng.choice([nanny.pid for nanny in nannies])
                if pid and psutil.pid_exists(pid):
                    break
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    killer = threading.Thread(target=kill)
    killer.start()
    found = on_cluster(large, partition_size=large.stat().st_size // 80, scheduler=mortal.scheduler_address)
    killer.join()
    assert len(killed) == 3
    assert_identical(found, count(large))


def start(*arguments: object) -> subprocess.Popen[str]:
    # Tests that run in the background of a shell inherit that interrupts are ignored; Python would then ignore them.
    return subprocess.Popen(
        [*ENTRY, "count", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_client_that_dies_is_resumed(large: Path, on_cluster: Count, tmp_path: Path, how: signal.Signals) -> None:
    size = large.stat().st_size // 100
    options = ["--engine", "dask", "--workers", 2, "--partition-size", size, "--run-dir", tmp_path / "run"]
    client = start(large, *options, "-o", tmp_path / "out.parquet")
    wait_for_partials(tmp_path / "run", 10)
    workers = psutil.Process(client.pid).children(recursive=True)
    if how == signal.SIGINT:
        os.killpg(client.pid, how)  # as a terminal does it: all processes of the command get it
    else:
        client.send_signal(how)
    output, errors = client.communicate(timeout=PATIENCE)
    psutil.wait_procs(workers, timeout=PATIENCE)
    assert not any(worker.is_running() for worker in workers)
    assert output == ""
    if how == signal.SIGINT:
        assert client.returncode == 130
        assert errors == "posgeom: interrupted\n"
    assert not (tmp_path / "out.parquet").exists()
    done = partials(tmp_path / "run")
    assert 10 <= len(done) < 101
    assert_identical(on_cluster(large, partition_size=size), count(large))
    after = partials(tmp_path / "run")
    assert len(after) == 101
    assert done.items() <= after.items()


@pytest.mark.parametrize("n_workers", [0, 1])
def test_a_lost_scheduler_is_one_line(large: Path, tmp_path: Path, n_workers: int) -> None:
    code = (
        "from distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        f"    with LocalCluster(n_workers={n_workers}, threads_per_worker=1, dashboard_address=':0') as cluster:\n"
        "        print(cluster.scheduler_address, flush=True)\n"
        "        input()\n"
    )
    script = tmp_path / "scheduler.py"
    script.write_text(code)
    scheduler = subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert scheduler.stdout is not None
    address = scheduler.stdout.readline().strip()
    size = large.stat().st_size // 100
    options = ["--engine", "dask", "--scheduler", address, "--partition-size", size, "--run-dir", tmp_path / "run"]
    client = start(large, *options, "--verbose", "-o", tmp_path / "out.parquet")
    assert client.stderr is not None
    assert "begins" in client.stderr.readline()
    if n_workers:
        wait_for_partials(tmp_path / "run", 10)
    scheduler.kill()
    scheduler.communicate(timeout=PATIENCE)
    output, errors = client.communicate(timeout=PATIENCE)
    assert client.returncode == 2, errors
    assert output == ""
    assert errors.count("\n") == 1, errors
    assert ("the cluster failed" if n_workers else "was lost") in errors
