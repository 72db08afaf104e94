"""What the tests of the command line share: running it in this process or in one of its own, and how it refuses."""

import io
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from posgeom.cli.main import main

ENTRY = [sys.executable, "-c", "from posgeom.cli.main import main; main()"]
Run = Callable[..., subprocess.CompletedProcess[str]]


def posgeom(*arguments: object, cwd: Path, input: str = "") -> subprocess.CompletedProcess[str]:  # noqa: A002
    """Run the command line in this process and in a directory, with files for its streams as `posgeom > file` has."""
    words = list(map(str, arguments))
    terminate = signal.getsignal(signal.SIGTERM)
    with (
        TemporaryFile("w+", encoding="utf-8") as out,
        TemporaryFile("w+", encoding="utf-8") as err,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.chdir(cwd)
        for name, value in (("argv", ["posgeom", *words]), ("stdout", out), ("stderr", err)):
            patch.setattr(sys, name, value)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(input.encode())))
        try:
            main()
        except SystemExit as end:
            code = end.code
        finally:
            signal.signal(signal.SIGTERM, terminate)
        assert isinstance(code, int)
        for file in (out, err):
            file.seek(0)
        return subprocess.CompletedProcess(words, code, out.read(), err.read())


def refused(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    """Exit code 2, and one line that says what it should."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("posgeom: error: ")
    for part in parts:
        assert part in done.stderr


def visible(directory: Path) -> list[str]:
    return sorted(p.name for p in directory.rglob("*"))
