"""posgeom: the geometry of positions in a corpus, and positional encodings scored against it.

It estimates how the token distributions of sequence positions lie to each other, telling signal from sampling
noise, and says how faithfully an encoding reproduces that geometry. Importing it loads neither torch nor a
plotting library.
"""

from ast import ImportFrom, parse
from importlib import import_module
from pathlib import Path
from typing import Any

_STUB = parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_HOME = {a.name: str(node.module) for node in _STUB.body if isinstance(node, ImportFrom) for a in node.names}
"""The module of each public name: the stub, which type checkers read, is the one list of them."""

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Read a module when something of it is asked for first: a command needs few of them."""
    if name == "__version__":
        value: Any = import_module("importlib.metadata").version("posgeom")
    elif name not in _HOME:
        raise AttributeError(f"module 'posgeom' has no attribute {name!r}")
    elif _HOME[name] == "posgeom":
        value = import_module(f"posgeom.{name}")
    else:
        value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
