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
    """Choose the text column: the one asked for, else the only text column, else the one named ``text``."""
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
    """Make the error for a column that is not in a file."""
    return CorpusError(
        f"{shown(source.name)}: no column {shown(wanted, 60)}: the columns are {shown_list(names)};"
        f" choose one with {option} NAME{hint}"
    )


def refuse_option(option: str, format_name: str, source: Source) -> CorpusError:
    """Make the error for an option that means nothing for a file's format."""
    return CorpusError(
        f"{shown(source.name)}: got {option}, which does not fit a file read as {format_name}:"
        f" leave {option} out, or say what the file is with --format"
    )


def group_value(value: object, column: str, source: Source, row: int, unit: str = "line") -> str:
    """Turn a scalar of the column that decides folds into a string; a missing or empty one is an error."""
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
