"""Scratch directories beside what will be written, each locked by its run, so that the next removes those left over."""

import importlib
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

_PREFIX, _FRESH = ".posgeom-", ".posgeom+"
_FCNTL: Any = importlib.import_module("fcntl") if importlib.util.find_spec("fcntl") else None  # Windows has none


def scratch_directory(directory: Path) -> tuple[Path, ExitStack]:
    """A scratch directory, locked until it is closed, after those that killed runs left are removed."""
    for left in directory.glob(f"{_PREFIX}*"):
        if left.is_dir() and not left.is_symlink():
            with _lock(left) as is_free:
                if is_free:
                    shutil.rmtree(left, ignore_errors=True)
    # Under another name until it is locked: a run that starts meanwhile would take it for a left one.
    fresh = Path(tempfile.mkdtemp(prefix=_FRESH, dir=directory))
    owned = ExitStack()
    owned.enter_context(_lock(fresh))
    return fresh.rename(directory / fresh.name.replace(_FRESH, _PREFIX)), owned


@contextmanager
def _lock(directory: Path) -> Iterator[bool]:
    """Lock a directory, which ends with the process whatever ends that; False where another has it, or none can."""
    if _FCNTL is None:
        yield False
        return
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:
        yield False
        return
    try:
        _FCNTL.flock(descriptor, _FCNTL.LOCK_EX | _FCNTL.LOCK_NB)
        is_free = True
    except OSError:
        is_free = False
    try:
        yield is_free
    finally:
        os.close(descriptor)
