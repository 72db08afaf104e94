"""The Dask part: connect to a cluster, and run calls on it until each has ended in one way or another."""

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from itertools import islice
from multiprocessing import resource_tracker
from types import FrameType
from typing import Any, TypeVar

from distributed import Client, Future, KilledWorker, LocalCluster, as_completed
from distributed.comm.addressing import parse_address, parse_host_port
from distributed.comm.registry import get_backend
from distributed.utils import silence_logging_cmgr

from posgeom.counts.cluster.job import SAME_EVERYWHERE
from posgeom.errors import CountsError, PosgeomError
from posgeom.messages import one_line, shown
from posgeom.progress import ProgressHook

Item = TypeVar("Item")
Handler = Callable[[int, FrameType | None], Any]

_CONNECT_SECONDS = 15
_AT_ONCE = 1000
"""Tasks that the scheduler has at a time. It sends a worker few more than it has threads, and holds a death against no
others; what all files of a large corpus are is no one message."""
_LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application")


class WorkerMemoryError(CountsError):
    """A worker died over a task, or ran out of memory, which says nothing about the other tasks."""


@contextmanager
def connected(scheduler: str | None, n_workers: int, progress: ProgressHook) -> Iterator[Client]:
    """A client of a cluster, or of processes of this machine that end with it; other versions are refused."""
    with ExitStack() as stack:
        for logger in _LOGGERS:  # deaths and lost connections are expected here
            stack.enter_context(silence_logging_cmgr(logging.CRITICAL, logger))
        address: str | LocalCluster
        if scheduler is None:
            with _undisturbed():
                address = _local_cluster(n_workers)
                stack.callback(_close, address)
        else:
            address = scheduler
        try:
            if scheduler is not None:
                _check_address(scheduler)
            client = Client(address, set_as_default=False, timeout=_CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise CountsError(
                f"no Dask scheduler at {shown(scheduler)} ({one_line(error)}): expected an address as in"
                " tcp://10.0.0.1:8786; leave --scheduler out to count on this machine"
            ) from None
        stack.callback(_close, client)
        try:
            if not client.nthreads():
                progress("waiting for workers", 0, None)
                client.wait_for_workers(1)
                progress("waiting for workers", 1, 1)
            _check_versions(client)
        except OSError as error:
            raise CountsError(f"the scheduler at {shown(scheduler)} was lost: {one_line(error)}") from None
        yield client


def _check_address(address: str) -> None:
    """Refuse what is no address before there is a client, which would try to close what it never opened."""
    scheme, where = parse_address(address)
    get_backend(scheme)
    if scheme in ("tcp", "tls"):
        parse_host_port(where)


def _local_cluster(n_workers: int) -> LocalCluster:
    try:
        return LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            scheduler_kwargs={"dashboard": False},
            dashboard_address="127.0.0.1:0",  # None would take the port of another cluster's dashboard
            silence_logs=logging.CRITICAL,
            # With a process per core, more threads below would only wait for each other.
            env={"RAYON_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // n_workers))},
        )
    except (OSError, RuntimeError) as error:
        raise CountsError(
            f"worker processes do not start ({one_line(error)}): in a script, call it under"
            " if __name__ == '__main__':, since each process reads the script again"
        ) from None


def _close(opened: Client | LocalCluster) -> None:
    with _undisturbed():
        opened.close()


def run_tasks(
    client: Client, task: Callable[[Item], object], items: Mapping[int, Item], name: Callable[[Item], str]
) -> Iterator[tuple[int, PosgeomError | None]]:
    """Run a task for each item, and yield the item's number with what the task failed of, as each ends."""
    waiting, completed = iter(items), as_completed(loop=client.loop)
    numbers: dict[Future[object], int] = {}

    def submit(n: int) -> None:
        for i in islice(waiting, n):
            future = client.submit(task, items[i], pure=False)
            numbers[future] = i
            completed.add(future)

    submit(_AT_ONCE)
    for future in completed:
        submit(1)
        # Forgotten, as Dask would do again what has ended on a worker that dies later.
        i = numbers.pop(future)
        yield i, _error(future, name(items[i]))


def _error(future: "Future[object]", name: str) -> PosgeomError | None:
    try:
        future.result()
    except PosgeomError as error:
        return error
    except MemoryError:
        return WorkerMemoryError(f"{name}: out of memory on a worker: give each worker more")
    except KilledWorker as death:
        return WorkerMemoryError(
            f"{name}: {death.allowed_failures + 1} workers died while they had it, most likely for lack of memory:"
            " give each worker more, or name a smaller --partition-size and another --run-dir"
        )
    except Exception as failure:  # noqa: BLE001  whatever the cluster reports of its own failures
        return CountsError(
            f"{name}: the cluster failed ({type(failure).__name__}: {one_line(failure)}): run again to go on from here"
        )
    return None


def _check_versions(client: Client) -> None:
    for name in SAME_EVERYWHERE:
        # A function of the standard library, so that it can be called where posgeom is missing.
        for worker, installed in client.run(version, name, on_error="return").items():
            if installed != version(name):
                there = f"{name} {installed}" if isinstance(installed, str) else f"no {name}"
                raise CountsError(
                    f"worker {shown(worker)} has {there}, this client {name} {version(name)}:"
                    " install the same version on both"
                )


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put off Ctrl-C and SIGTERM until the block has ended, and keep Ctrl-C from the processes it starts."""
    # A terminal sends Ctrl-C to all processes of a command: workers leave it to the client, which ends them.
    caught: list[tuple[int, FrameType | None]] = []
    handlers: dict[int, Handler] = {}
    if threading.current_thread() is threading.main_thread():  # no other may set handlers, or runs them
        for number in (signal.SIGINT, signal.SIGTERM):
            handler = signal.getsignal(number)
            if callable(handler):
                handlers[number] = handler
                signal.signal(number, lambda signum, frame: caught.append((signum, frame)))
    if hasattr(signal, "pthread_sigmask"):
        resource_tracker.ensure_running()  # where it is started late, it lifts the mask below
        masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        for which, handler in handlers.items():
            signal.signal(which, handler)
        for which, frame in caught:  # says more than the failure of what was interrupted
            handlers[which](which, frame)
