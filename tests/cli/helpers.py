"""What the tests of the command line share."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ENTRY = [sys.executable, "-c", "from posgeom.cli.main import main; main()"]
Run = Callable[..., subprocess.CompletedProcess[str]]


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


def posgeom(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line in a directory."""
    return subprocess.run([*ENTRY, *arguments], cwd=cwd, capture_output=True, text=True, check=False)
