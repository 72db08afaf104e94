"""The rules all formats with columns share: which column holds the text, and what a group value may be."""

from collections.abc import Sequence

from posgeom.corpus.documents import ReadOptions
from posgeom.corpus.messages import located
from posgeom.corpus.sources import Source
from posgeom.errors import CorpusError
from posgeom.messages import shown, shown_list


def choose_column(
    names: Sequence[str], text_columns: Sequence[str], options: ReadOptions, source: Source, hint: str = ""
) -> str:
    """Choose the text column: the one asked for, else the only text column, else the one named ``text``.

    Parameters
    ----------
    names : sequence of str
        All columns there are.
    text_columns : sequence of str
        Those that hold text; the group column is not counted among them.
    options : ReadOptions
        Holds the column and group asked for.
    source : Source
        Named in the message.
    hint : str
        A further way out, for the message.

    Returns
    -------
    str
        One of `names`.

    Raises
    ------
    CorpusError
        When the column asked for is missing, or none, or more than one, could be meant.
    """
    if options.column is not None:
        if options.column not in names:
            raise missing_column(options.column, names, source, "--column", hint)
        return options.column
    candidates = [name for name in text_columns if name != options.fold_column]
    if len(candidates) == 1:
        return candidates[0]
    if "text" in candidates:
        return "text"
    found = f"text columns {shown_list(candidates)}" if candidates else f"no text column among {shown_list(names)}"
    raise CorpusError(f"{shown(source.name)}: {found}: wanted one; choose it with --column NAME{hint}")


def missing_column(wanted: str, names: Sequence[str], source: Source, option: str, hint: str = "") -> CorpusError:
    """Make the error for a column that is not in a file.

    Parameters
    ----------
    wanted : str
        The column asked for.
    names : sequence of str
        The columns there are.
    source : Source
        Named in the message.
    option : str
        The option that asked for it.
    hint : str
        A further way out.

    Returns
    -------
    CorpusError
        To be raised.
    """
    return CorpusError(
        f"{shown(source.name)}: no column {shown(wanted, 60)}: the columns are {shown_list(names)};"
        f" choose one with {option} NAME{hint}"
    )


def refuse_option(option: str, format_name: str, source: Source) -> CorpusError:
    """Make the error for an option that means nothing for a file's format.

    Parameters
    ----------
    option : str
        The option given.
    format_name : str
        What the file was read as.
    source : Source
        Named in the message.

    Returns
    -------
    CorpusError
        To be raised.
    """
    return CorpusError(
        f"{shown(source.name)}: got {option}, which does not fit a file read as {format_name}:"
        f" leave {option} out, or say what the file is with --format"
    )


def group_value(value: object, column: str, source: Source, row: int, unit: str = "line") -> str:
    """Turn the value of the group column into a group's name.

    Parameters
    ----------
    value : object
        The value; a scalar is turned into its `str`.
    column : str
        The group column.
    source : Source
        Named in the message.
    row : int
        1-based place in the source.
    unit : str
        What `row` counts.

    Returns
    -------
    str
        Never empty.

    Raises
    ------
    CorpusError
        When the value is missing, empty or not a scalar.
    """
    if isinstance(value, list | dict | tuple):
        raise CorpusError(
            f"{located(source.name, row, unit)}: column {shown(column, 60)} holds a {type(value).__name__}:"
            " wanted one value to group by; choose another with --fold-by NAME"
        )
    if value is None or value == "":
        raise CorpusError(
            f"{located(source.name, row, unit)}: column {shown(column, 60)} is empty:"
            " wanted a value to group by; fill it in or remove the row"
        )
    return str(value)
