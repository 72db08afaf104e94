"""Real corpora that every Python has: the source lines of its standard library, and its docstrings."""

import ast
import re
import sysconfig
from collections.abc import Iterator
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


def demo_texts() -> list[str]:
    """A corpus that every Python has: the docstrings of its standard library, words and marks with spaces between.

    Returns
    -------
    list of str
        Some thousands, of the running version of Python; `posgeom demo` analyses them with folds by file.

    Raises
    ------
    CorpusError
        When the source files of the standard library are not installed.
    """
    return [text for text, _ in docstrings()]


def docstrings() -> Iterator[tuple[str, str]]:
    """Docstrings of the standard library, words in lower case and marks with spaces between, and each one's file."""
    for path in standard_library_files():
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):  # a template, or of another version
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                if text:
                    yield " ".join(re.findall(r"\w+|[^\w\s]", text.lower())), path.name
