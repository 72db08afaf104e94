"""Ctrl-C while worker processes start and stop."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any]


@contextmanager
def undisturbed() -> Iterator[None]:
    """Put off Ctrl-C and SIGTERM until the block has ended, and keep Ctrl-C from the processes it starts.

    A terminal sends Ctrl-C to all processes of a command. Workers must leave it to the client, which ends them.
    """
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
