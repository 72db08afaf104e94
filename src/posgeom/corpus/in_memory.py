"""Documents in memory: a column of whatever holds tables, told by what it can do and not by the library it is of."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.texts import Texts
from posgeom.errors import CorpusError
from posgeom.messages import shown, shown_list

IN_MEMORY = "documents in memory go to count_texts"
_LOOKED_AT = 20
_SCALARS = (int, float, np.generic, date)


def is_table(value: object) -> bool:
    """Whether iterating gives names of columns or splits, or rows, and no documents."""
    # The first also of lazy frames, whose columns cost something to be named.
    return isinstance(value, Mapping) or any(hasattr(value, name) for name in ("collect", "columns", "column_names"))


def is_held(corpus: object, column: object) -> bool:
    """Whether a corpus is documents, or rows of which a column is chosen, where lists and iterators hold file names."""
    if is_table(corpus):
        return True
    if isinstance(corpus, list | tuple) and column is not None:
        return bool(corpus) and isinstance(corpus[0], Mapping)
    if isinstance(corpus, str | bytes | Path | list | tuple | set | frozenset | Iterator) or hasattr(corpus, "read"):
        return False
    return isinstance(corpus, Iterable)


def names_of(corpus: object) -> list[str | Path]:
    """What names a corpus; a list of anything else is refused."""
    given = [corpus] if isinstance(corpus, str | Path) else corpus
    if not isinstance(given, Iterable) or isinstance(given, bytes) or hasattr(given, "read"):
        raise CorpusError(f"corpus is a {type(corpus).__name__}: expected names of files; {IN_MEMORY}")
    listed = list(given)
    for name in listed:
        if not isinstance(name, str | Path):
            raise CorpusError(f"corpus holds a {type(name).__name__}: expected names of files; {IN_MEMORY}")
    return listed


@dataclass(frozen=True)
class Values:
    """The values of a column, which can be gone through as often as what they come from."""

    items: Iterable[Any]
    column: str | int | None = None
    """The key of the value in each item, where items are rows."""
    decide_folds: bool = False
    """Whether these are groups, of which any scalar is one and none may be missing; a missing text is empty."""

    @property
    def can_restart(self) -> bool:
        """Whether they can be gone through twice."""
        return not isinstance(self.items, Iterator)

    def __iter__(self) -> Iterator[Any]:
        for row, item in enumerate(self.items, 1):
            value = item if self.column is None else _value(item, self.column, row)
            if not isinstance(value, str):
                value = value.as_py() if hasattr(value, "as_py") else value  # a scalar of Arrow
                if _is_missing(value):
                    value = None if self.decide_folds else ""
                elif self.decide_folds and isinstance(value, _SCALARS):
                    value = str(value)
            yield value


def values_of(held: Any, column: str | int | None, what: str, *, decide_folds: bool = False) -> Values:
    """The documents, or what decides their folds, of a sequence or of one column of a table; `what` is its name."""
    kind = f"{what} is a {type(held).__name__}"
    if isinstance(held, Values):
        return held
    if not is_table(held):
        if isinstance(held, str | bytes) or hasattr(held, "read") or not isinstance(held, Iterable):
            raise CorpusError(f"{kind}: expected an iterable of strings; the name of a file goes to count(...)")
        return Values(held, column, decide_folds)
    if hasattr(held, "collect"):
        raise CorpusError(f"{kind}, which has no rows yet: expected documents; collect() it first")
    stated = held if isinstance(held, Mapping) else getattr(held, "column_names", getattr(held, "columns", None))
    names = None if stated is None else list(stated)
    if column is None:
        listed = "" if names is None else f" of {shown_list(names)}"
        way_out = f"pass one{listed}" if decide_folds else f"name one{listed} with column="
        raise CorpusError(f"{kind}: expected one column of strings; {way_out}")
    if names is not None and column not in names:
        raise CorpusError(f"{kind} without a column {shown(column, 60)}: expected one of {shown_list(names)}")
    if not isinstance(held, Mapping) and not hasattr(held, "__len__"):  # a dataset that streams its rows
        return Values(held, column, decide_folds)
    values = held[column]
    if is_table(values) or isinstance(values, str):
        raise CorpusError(
            f"{kind}, whose {shown(column, 60)} is a {type(values).__name__}: expected one column of "
            "documents; pass one split, and rename columns of one name"
        )
    return Values(values, None, decide_folds)


def refuse_file_names(texts: Values, what: str) -> None:
    """Refuse names of files where documents are expected, which would be counted as words."""
    first = list(islice(texts, _LOOKED_AT)) if texts.can_restart else []
    if first and all(isinstance(text, str) and Path(text).suffix and _is_file(text) for text in first):
        name = shown(Path(first[0]).name, 60)
        raise CorpusError(
            f"{what} holds names of files, such as {name}: expected documents; count(...) reads a list of names"
        )


def _value(item: object, column: str | int, row: int) -> object:
    if not isinstance(item, Mapping):
        raise CorpusError(
            f"row {row} is a {type(item).__name__}: expected a mapping with {shown(column, 60)}; leave out column="
        )
    if column not in item:
        raise CorpusError(f"row {row}: no column {shown(column, 60)}: the columns are {shown_list(list(item))}")
    return item[column]


def _is_file(text: str) -> bool:
    """Whether a document, which may be of any length, is the name of a file."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _is_missing(value: Any) -> bool:
    """Whether a value is None, a NaN, or the NA or NaT of pandas."""
    is_nan = isinstance(value, float) and value != value
    return value is None or is_nan or type(value).__name__ in {"NAType", "NaTType"}


def batched(texts: Values, groups: Values | None, batch_size: int, source: str) -> Iterator[DocumentBatch]:
    """Consecutive documents with their groups, of which there are as many."""
    documents = iter(texts)
    values = None if groups is None else iter(groups)
    row = 1
    while batch := list(islice(documents, batch_size)):
        keys = None if values is None else list(islice(values, len(batch)))
        if keys is not None and len(keys) != len(batch):
            raise CorpusError(f"groups ends before document {row + len(keys)}: expected one value per document")
        yield DocumentBatch(Texts.from_strings(batch), keys, source, row)
        row += len(batch)
    if values is not None and next(values, None) is not None:
        raise CorpusError(f"groups has more than the {row - 1} values that match the documents")
