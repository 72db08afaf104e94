"""Keyword arguments that `posgeom.options` declares: checked, and written into a function's signature and docstring."""

import inspect
from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from functools import wraps
from textwrap import fill
from typing import Any, ForwardRef, Literal, TypeVar, get_args, get_origin

from posgeom.options import Option, options_of

F = TypeVar("F", bound=Callable[..., Any])
_INDENT = 4


def takes(group: type, *, without: Collection[str] = ()) -> Callable[[F], F]:
    """Let a function's ``**options`` be those of a group: refuse others, and document each under *Parameters*."""
    declared = {name: stated for name, stated in options_of(group).items() if name not in without}

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        known = {p.name for p in own} | declared.keys()

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            for name in kwargs.keys() - known:
                near = get_close_matches(name, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}{hint}")
            return function(*args, **kwargs)

        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default, _) in declared.items()
        ]
        ordered = sorted([*own, *options], key=lambda p: (p.kind, p.name == "progress"))
        call.__signature__ = signature.replace(parameters=ordered)  # type: ignore[attr-defined]
        described = "\n".join(_described(name, *stated) for name, stated in declared.items())
        before, returns, after = (function.__doc__ or "").partition("\n    Returns\n")
        call.__doc__ = f"{before.rstrip()}\n{described}\n{returns}{after}"
        return call  # type: ignore[return-value]

    return decorate


def _described(name: str, kind: Any, default: Any, option: Option) -> str:
    """The entry of an option in a docstring of NumPy's style."""
    ending = ", optional" if default is None else f", default {default!r}"
    text = " ".join(filter(None, (option.help, option.python)))
    margin = " " * _INDENT
    return f"{margin}{name} : {_spelt(kind)}{ending}\n" + fill(
        text, 116, initial_indent=2 * margin, subsequent_indent=2 * margin, break_on_hyphens=False
    )


def _spelt(kind: Any) -> str:
    """A type as NumPy's docstrings spell it."""
    if isinstance(kind, ForwardRef):
        return kind.__forward_arg__.removesuffix(" | None").replace(" | ", " or ")
    if get_origin(kind) is Literal:
        return "{" + ", ".join(f'"{choice}"' for choice in get_args(kind)) + "}"
    parts = [part for part in get_args(kind) if part is not type(None)]
    if get_origin(kind) is Sequence:
        return f"sequence of {_spelt(parts[0])}"
    if parts:
        return " or ".join(map(_spelt, parts))
    return str(getattr(kind, "__name__", kind))
