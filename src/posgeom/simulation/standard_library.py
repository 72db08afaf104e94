"""A real corpus that every Python has: the source lines of its standard library."""

import sysconfig
from pathlib import Path

from posgeom.errors import CorpusError

_NOT_LIBRARY = {
    "site-packages",
    "dist-packages",
    "__pycache__",
    "test",
    "tests",
    "idlelib",
    "lib2to3",
    "turtledemo",
}


def standard_library_files() -> list[Path]:
    """Source files of the running interpreter's standard library, tests left out, in sorted order."""
    root = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(p for p in root.rglob("*.py") if not _NOT_LIBRARY & set(p.relative_to(root).parts[:-1]))
    if not files:
        raise CorpusError(f"no source files of the standard library under {str(root)!r}: analyse a file of your own")
    return files
