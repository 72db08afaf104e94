"""How long work tells how far it is."""

from collections.abc import Callable

ProgressHook = Callable[[str, int, int | None], None]
"""Called as ``hook(stage, done, total)``; `total` is None where it cannot be known."""


def silent(stage: str, done: int, total: int | None) -> None:
    """Report nothing: the default hook."""
