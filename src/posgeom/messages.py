"""The parts error messages are made of: names quoted so that a message is one printable line."""

from collections.abc import Sequence


def printable(text: str) -> str:
    r"""Replace what could drive a terminal or break a line by its escape sequence.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        The same text with control characters, line breaks and lone surrogates as ``\x1b`` and the like.
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown(value: object, limit: int = 400) -> str:
    """Quote a name for a message, so that it stays on one line and no control character gets through.

    Parameters
    ----------
    value : object
        A file name, column name or value; its `str` is shown.
    limit : int
        Characters kept.

    Returns
    -------
    str
        The quoted, escaped name, cut with ``...`` when it is long.
    """
    text = str(value)
    return repr(text) if len(text) <= limit else repr(text[:limit]) + "..."


def shown_list(values: Sequence[object], limit: int = 12) -> str:
    """Quote a list of names for a message.

    Parameters
    ----------
    values : sequence of object
        The names.
    limit : int
        Names shown before the rest is only counted.

    Returns
    -------
    str
        ``'a', 'b' and 3 more``.
    """
    listed = ", ".join(shown(value, 60) for value in values[:limit])
    return listed if len(values) <= limit else f"{listed} and {len(values) - limit} more"


def one_line(error: BaseException) -> str:
    """Put the message of another library's error on one printable line.

    Parameters
    ----------
    error : BaseException
        The error.

    Returns
    -------
    str
        Its message, shortened where it is very long.
    """
    text = " ".join(str(error).split())
    return printable(text[:300]).rstrip(".") or type(error).__name__
