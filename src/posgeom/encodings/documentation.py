"""Docstrings of builders: what many of them say alike stands here once, and is filled in where they are defined."""

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

Builder = TypeVar("Builder", bound=Callable[..., Any])
ENTRY = re.compile(r"^(\w[\w, ]*?)(?: :[^\n]*)?\n((?:[ \t]+[^\n]*\n?|\n)*)", re.MULTILINE)
"""Names, and what is said of them, in a section of a NumPy-style docstring."""
_SECTION = re.compile(r"^(\w+)\n-+\n", re.MULTILINE)
_COMMON = {
    "n_positions": "n_positions : int\n    Context length n.",
    "n_dims": "n_dims : int\n    Width d.",
    "name": "name : str",
    "form": 'form : {"linear", "kernel", "mds"}\n    How the bias becomes distances.',
    "head": "head : int, optional\n    One head, from 0. By default all of them side by side.",
    "warp": "warp : Warp, optional\n    What the scheme has in place of positions: f(i + offset); see docs/warp.md.",
    "causal": "causal : bool\n"
    "    Whether an exported bias masks keys after their query; distances do not depend on it.",
}
_FILES = ("table", "query", "weights")
_RAISES = "EncodingError\n    When an option is out of range."
_RAISES_OF_FILES = "EncodingError\n    When a file cannot be read or has another shape, or an option is out of range."


def sections_of(doc: str) -> tuple[str, dict[str, str]]:
    """What stands before the sections of a NumPy-style docstring, and the sections by name."""
    start, *parts = _SECTION.split(doc)
    return start.strip(), {name: body.strip() + "\n" for name, body in zip(parts[::2], parts[1::2], strict=True)}


def documented(build: Builder) -> Builder:
    """Fill in the parameters that builders have in common, what they return, and what they raise unless they say it."""
    if build.__doc__ is None:  # python -OO
        return build
    start, sections = sections_of(inspect.cleandoc(build.__doc__))
    own = {
        name: match[0].rstrip()
        for match in ENTRY.finditer(sections.pop("Parameters", ""))
        for name in match[1].split(", ")
    }
    names = list(inspect.signature(build).parameters)
    filled = {
        "Parameters": "\n".join(dict.fromkeys(own.get(name) or _COMMON[name] for name in names)),
        "Returns": "Encoding",
        "Raises": _RAISES_OF_FILES if any(name in names for name in _FILES) else _RAISES,
    }
    texts = [f"{title}\n{'-' * len(title)}\n{body.rstrip()}" for title, body in (filled | sections).items()]
    build.__doc__ = "\n\n".join([start, *texts]) + "\n"
    return build
