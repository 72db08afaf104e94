"""What compiled code does beside raising: it prints lines of its own, and may take an interrupt for a failure."""

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO


class _Held:
    """Standard error of compiled code, descriptor 2, while any thread is in such code."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.n_users = 0
        self.failed = False
        self.saved = -1
        self.file: BinaryIO

    def take(self) -> None:
        with self.lock:
            if self.n_users == 0:
                self.failed, self.saved = False, os.dup(2)
                self.file = tempfile.TemporaryFile()  # noqa: SIM115
                os.dup2(self.file.fileno(), 2)
            self.n_users += 1

    def give_back(self, *, failed: bool) -> None:
        with self.lock:
            self.failed = self.failed or failed
            self.n_users -= 1
            if self.n_users:
                return
            os.dup2(self.saved, 2)
            os.close(self.saved)
            with self.file:
                self.file.seek(0)
                if not self.failed:
                    os.write(2, self.file.read())


_HELD = _Held()


@contextmanager
def without_panic_lines() -> Iterator[None]:
    """Drop what compiled code prints on standard error before it fails; what it prints otherwise comes at the end.

    Nothing is held back where Python writes to the same descriptor, as it does outside the command line: its own
    lines would be held back too.
    """
    if _is_shared():
        yield
        return
    _HELD.take()
    failed = True
    try:
        yield
        failed = False
    finally:
        _HELD.give_back(failed=failed)


def reraise_interrupt(error: BaseException) -> None:
    """Raise the interrupt that an error is, or that compiled code has made a panic or an import error of."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, SystemExit):
            raise seen
        if isinstance(seen, KeyboardInterrupt) or "KeyboardInterrupt" in str(seen):
            raise KeyboardInterrupt from None
        seen = seen.__cause__ or seen.__context__


def _is_shared() -> bool:
    try:
        return sys.stderr is None or sys.stderr.fileno() == 2
    except (AttributeError, OSError, ValueError):  # no file of the system, as in a notebook or a test
        return False
