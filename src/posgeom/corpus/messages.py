"""The parts error messages are made of: names and places, quoted so that a message is one printable line."""

from collections.abc import Sequence

from posgeom.corpus import documents
from posgeom.errors import CorpusError


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


def located(name: str, row: int, unit: str = "line") -> str:
    """Name a place for a message.

    Parameters
    ----------
    name : str
        The name of the source.
    row : int
        1-based place in it.
    unit : str
        What `row` counts.

    Returns
    -------
    str
        ``'corpus.txt', line 3``.
    """
    return f"{shown(name)}, {unit} {row}"


def too_long(name: str, row: int, unit: str = "line") -> CorpusError:
    """Make the error for a document beyond `MAX_DOCUMENT_BYTES`.

    Parameters
    ----------
    name : str
        The name of the source.
    row : int
        1-based place in it.
    unit : str
        What `row` counts.

    Returns
    -------
    CorpusError
        To be raised.
    """
    return CorpusError(
        f"{located(name, row, unit)}: a document longer than {documents.MAX_DOCUMENT_BYTES:,} bytes:"
        " wanted shorter documents; split it"
    )


def one_line(error: Exception) -> str:
    """Put the message of another library's error on one printable line.

    Parameters
    ----------
    error : Exception
        The error.

    Returns
    -------
    str
        Its message, shortened where it is very long.
    """
    text = " ".join(str(error).split())
    printable = "".join(c if c.isprintable() else "?" for c in text[:300])
    return printable.rstrip(".") or type(error).__name__


def looks_binary(place: str) -> CorpusError:
    """Make the error for bytes that are no text.

    Parameters
    ----------
    place : str
        Where they are, ready for a message.

    Returns
    -------
    CorpusError
        To be raised.
    """
    return CorpusError(
        f"{place}: looks binary (a NUL byte): wanted UTF-8 text, JSONL, CSV, TSV, FASTA or Parquet; convert it"
    )
