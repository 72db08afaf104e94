"""The parts error messages are made of: names quoted so that a message is one printable line."""

from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath


class Caution(str):
    """A note that changes how numbers are to be read; other notes say how they were measured."""

    __slots__ = ()


def printable(text: str) -> str:
    r"""Replace what could drive a terminal or break a line by its escape sequence, such as ``\x1b``."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def short_names(names: Sequence[str]) -> list[str]:
    """Names without the directories of the machine: absolute paths by their last parts, as many as tell them apart.

    Relative paths, URLs and other names stay as they are.
    """
    parts = [_parts(name) for name in names]
    return [
        name
        if not path
        else next(
            (
                "/".join(path[-k:])
                for k in range(1, len(path))
                if sum(other[-k:] == path[-k:] for other in parts) == parts.count(path)
            ),
            "/".join(path),
        )
        for name, path in zip(names, parts, strict=True)
    ]


def _parts(name: str) -> tuple[str, ...]:
    """The parts of an absolute path below its root; none of any other name."""
    path = (PureWindowsPath if PureWindowsPath(name).drive else PurePosixPath)(name.removeprefix("file://"))
    return path.parts[1:] if path.is_absolute() else ()


def shown(value: object, limit: int = 400) -> str:
    """Quote a name for a message, so that it stays on one short line and no control character gets through."""
    text = str(value)
    return repr(text) if len(text) <= limit else repr(text[:limit]) + "..."


def shown_list(values: Sequence[object], limit: int = 12) -> str:
    """Quote a list of names for a message, as in ``'a', 'b' and 3 more``."""
    listed = ", ".join(shown(value, 60) for value in values[:limit])
    return listed if len(values) <= limit else f"{listed} and {len(values) - limit} more"


def one_line(error: BaseException) -> str:
    """Put the message of another library's error on one printable line."""
    text = " ".join(str(error).split())
    return printable(text[:300]).rstrip(".") or type(error).__name__
