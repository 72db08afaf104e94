"""What all readers share: which column holds the text, what decides folds, and batches of bounded size."""

from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec

from posgeom.corpus import documents
from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.messages import located
from posgeom.corpus.sources import Source
from posgeom.corpus.texts import Texts
from posgeom.errors import CorpusError
from posgeom.messages import shown, shown_list
from posgeom.options import ReadOptions

Row = tuple[int, str, str | None]
"""A document on its way into a batch: 1-based place in the source, text, value of the column that decides folds."""


def batched(
    rows: Iterable[Row], source: Source, options: ReadOptions, column: str | None = None
) -> Iterator[DocumentBatch]:
    """Collect rows into batches, bounded by documents and, unless it is a single one, by `MAX_BATCH_CHARACTERS`."""
    texts: list[str] = []
    groups: list[str] = []
    first_row, n_characters = 1, 0

    def batch() -> DocumentBatch:
        kept = groups if options.fold_column is not None else None
        return DocumentBatch(Texts.from_strings(texts), kept, source.name, first_row, column)

    for row, text, group in rows:
        if texts and (len(texts) >= options.batch_size or n_characters + len(text) > documents.MAX_BATCH_CHARACTERS):
            yield batch()
            texts, groups, n_characters = [], [], 0
        if not texts:
            first_row = row
        texts.append(text)
        n_characters += len(text)
        if group is not None:
            groups.append(group)
    if texts:
        yield batch()


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
    what = f"text columns {shown_list(candidates)}" if candidates else f"no text column among {shown_list(names)}"
    raise CorpusError(f"{shown(source.name)}: {what}: expected one; choose it with --column NAME{hint}")


def missing_column(name: str, names: Sequence[str], source: Source, option: str, hint: str = "") -> CorpusError:
    """Make the error for a column that is not in a file."""
    return CorpusError(
        f"{shown(source.name)}: no column {shown(name, 60)}: the columns are {shown_list(names)};"
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
            " expected one value to group by; choose another with --fold-by NAME"
        )
    if value is None or value == "":
        raise CorpusError(
            f"{located(source.name, row, unit)}: column {shown(column, 60)} is empty:"
            " expected a value to group by; fill it in or remove the row"
        )
    return str(value)


def needs_package(module: str, package: str, extra: str, format_name: str, source: Source) -> None:
    """Refuse a format whose parser is not installed."""
    if find_spec(module) is None:
        raise CorpusError(
            f"{shown(source.name)}: {format_name} is read with the package {package}, which is not installed:"
            f" pip install 'posgeom[{extra}]'"
        )
