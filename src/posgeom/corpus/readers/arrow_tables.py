"""What Arrow, Parquet and datasets share: record batches as documents, without an object for each valid text."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from posgeom.corpus import documents
from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.messages import too_long
from posgeom.corpus.readers.tabular import choose_column, group_value, missing_column
from posgeom.corpus.sources import Source
from posgeom.corpus.streams import Stream, decode_utf8
from posgeom.corpus.texts import Texts
from posgeom.errors import CorpusError
from posgeom.messages import one_line, shown
from posgeom.options import ReadOptions

_AS_STRINGS = {
    "string": pa.string(),
    "binary": pa.string(),
    "large_string": pa.large_string(),
    "large_binary": pa.large_string(),
}


def text_column(schema: Any, options: ReadOptions, source: Source) -> str:
    """Choose the text column of an Arrow schema, and check it and the group column."""
    strings = [field.name for field in schema if _is_string(field.type) and field.name != options.fold_column]
    binaries = [field.name for field in schema if _is_binary(field.type)]
    named = [name for name in binaries if name == "text"]
    column = choose_column(schema.names, strings + named or binaries, options, source)
    kind = schema.field(schema.names.index(column)).type
    if not (_is_string(kind) or _is_binary(kind)):
        join = "; join each list into one string first" if pa.types.is_nested(kind) else ""
        raise CorpusError(
            f"{shown(source.name)}: column {shown(column, 60)} holds {shown(kind, 60)}: expected strings;"
            f" choose another with --column NAME{join}"
        )
    if options.fold_column is not None:
        if options.fold_column not in schema.names:
            raise missing_column(options.fold_column, schema.names, source, "--fold-by")
        kind = schema.field(schema.names.index(options.fold_column)).type
        if pa.types.is_nested(kind):
            raise CorpusError(
                f"{shown(source.name)}: column {shown(options.fold_column, 60)} holds {shown(kind, 60)}:"
                " expected one value a row to group by; choose another with --fold-by NAME"
            )
    for used in {column, options.fold_column} - {None}:
        if schema.names.count(used) > 1:
            raise CorpusError(
                f"{shown(source.name)}: several columns named {shown(used, 60)}: expected one; rename them"
            )
    return column


def documents_of(
    batches: Iterator[Any],
    column: str,
    source: Source,
    options: ReadOptions,
    failures: Callable[[Source], AbstractContextManager[None]],
    report: Callable[[int], None],
    start: int = 1,
) -> Iterator[DocumentBatch]:
    """Documents of record batches of bounded size, small ones put together: a file may hold its rows one by one.

    `failures` turns what goes wrong in a batch into `CorpusError`; `report` is told the rows read so far; `start` is
    the 1-based place of the first row.
    """

    def runs() -> Iterator[DocumentBatch]:
        row = start
        while True:
            with failures(source):
                batch = next(batches, None)
            if batch is None:
                return
            yield from _document_batches(batch, column, row, source, options)
            row += batch.num_rows
            report(row - 1)

    return _regrouped(runs(), options)


def _regrouped(batches: Iterable[DocumentBatch], options: ReadOptions) -> Iterator[DocumentBatch]:
    """Put small batches of one source together, bounded in documents and bytes."""
    waiting: list[DocumentBatch] = []
    n_documents = n_bytes = 0
    for batch in batches:
        _, starts, ends = batch.documents.utf8()
        size = int((ends - starts).sum())
        too_many = n_documents + starts.size > options.batch_size
        if waiting and (too_many or n_bytes + size > documents.MAX_BATCH_CHARACTERS):
            yield _joined(waiting)
            waiting, n_documents, n_bytes = [], 0, 0
        waiting.append(batch)
        n_documents += starts.size
        n_bytes += size
    if waiting:
        yield _joined(waiting)


def _joined(batches: list[DocumentBatch]) -> DocumentBatch:
    groups = None if batches[0].groups is None else [group for batch in batches for group in batch.groups or ()]
    return replace(batches[0], documents=Texts.joined([batch.documents for batch in batches]), groups=groups)


def _document_batches(
    batch: Any, column: str, start: int, source: Source, options: ReadOptions
) -> Iterator[DocumentBatch]:
    """Turn an Arrow record batch into batches of documents; `start` is the 1-based place of its first row."""
    texts = _texts(batch.column(column), start, source, options)
    groups: list[str] | None = None
    name = options.fold_column
    if name is not None:
        values = _scalars(batch.column(name), start, source, options)
        groups = [group_value(value, name, source, row, "row") for row, value in enumerate(values, start)]
    for first, last in _bounded(texts, start, source):
        some = None if groups is None else groups[first:last]
        yield DocumentBatch(texts.take(np.arange(first, last)), some, source.name, start + first, column)


def slices(batch: Any, column: str, options: ReadOptions) -> Iterator[Any]:
    """Cut a record batch into pieces of bounded size with the columns used only; a corrupt one is refused."""
    used = batch.select([column] if options.fold_column in (None, column) else [column, options.fold_column])
    used.validate()
    for array in used.columns:
        _check(array)
    mean = max(1, used.column(column).nbytes // max(1, used.num_rows))
    n_rows = max(1, min(options.batch_size, documents.MAX_BATCH_CHARACTERS // mean))
    for start in range(0, used.num_rows, n_rows):
        yield used.slice(start, n_rows)


def _check(array: Any) -> None:
    """Refuse offsets that point outside the data; whether strings are valid UTF-8 is for the reader's policy."""
    binary = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}.get(array.type)
    (array if binary is None else array.view(binary)).validate(full=True)


def refuse_no_file(stream: Stream, what: str) -> None:
    """Refuse what can only be read from its beginning, since Arrow and Parquet are read at any place."""
    name = shown(stream.source.name)
    if stream.codec is not None:
        raise CorpusError(f"{name}: {what} inside {stream.codec}: expected the {what} file itself; decompress it first")
    if stream.source.is_pipe:
        raise CorpusError(f"{name}: {what} from a pipe: expected a file, since it is read at any place; save it first")


@contextmanager
def arrow_failures(source: Source, what: str) -> Iterator[None]:
    """Make one line of what Arrow raises over a file that should be `what`."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        if "decrypt" in str(error):
            raise CorpusError(
                f"{shown(source.name)}: encrypted, the whole file or the column to be read: expected plain data; choose"
                " another with --column NAME, or write the file without encryption"
            ) from None
        raise CorpusError(
            f"{shown(source.name)}: truncated, corrupt or not {what} ({one_line(error)}):"
            f" expected a complete {what} file; fetch it again, or say what it is with --format"
        ) from None


def _bounded(texts: Texts, start: int, source: Source) -> Iterator[tuple[int, int]]:
    """Runs of documents that are no more than `MAX_BATCH_CHARACTERS` together; a longer document is one alone."""
    _, starts, ends = texts.utf8()
    sizes = ends - starts
    for place in np.flatnonzero(sizes > documents.MAX_DOCUMENT_BYTES):
        raise too_long(source.name, start + int(place), "row")
    totals = np.cumsum(sizes)
    first = 0
    while first < sizes.size:
        before = int(totals[first - 1]) if first else 0
        last = int(np.searchsorted(totals, before + documents.MAX_BATCH_CHARACTERS, side="right"))
        last = max(last, first + 1)
        yield first, last
        first = last


def _texts(array: Any, start: int, source: Source, options: ReadOptions) -> Texts:
    """The column as it lies in memory, where it is valid UTF-8; else one value at a time, by the policy for errors."""
    as_strings = _AS_STRINGS.get(str(array.type))
    if as_strings is not None:
        try:
            array.view(as_strings).validate(full=True)
        except pa.ArrowInvalid:
            pass
        else:
            return Texts.from_arrow(array)
    return Texts.from_strings([text or "" for text in _strings(array, start, source, options)])


def _strings(array: Any, start: int, source: Source, options: ReadOptions) -> list[str | None]:
    plain = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    if _is_string(plain.type):
        try:
            strings: list[str | None] = plain.to_pylist()
        except UnicodeDecodeError:
            plain = plain.cast(pa.large_binary())
        else:
            return strings
    return [
        None if raw is None else decode_utf8(raw, options, source, row, "row")
        for row, raw in enumerate(plain.to_pylist(), start)
    ]


def _scalars(array: Any, start: int, source: Source, options: ReadOptions) -> list[object]:
    if _is_string(array.type) or _is_binary(array.type):
        return list(_strings(array, start, source, options))
    try:
        return list(array.to_pylist())
    except (pa.ArrowException, ValueError) as error:
        raise CorpusError(
            f"{shown(source.name)}: column {shown(options.fold_column, 60)} cannot be read ({one_line(error)}):"
            " expected one value a row to group by; choose another with --fold-by NAME"
        ) from None


def _is_string(kind: Any) -> bool:
    t = pa.types
    value = kind.value_type if t.is_dictionary(kind) else kind
    return bool(t.is_string(value) or t.is_large_string(value) or t.is_string_view(value))


def _is_binary(kind: Any) -> bool:
    t = pa.types
    value = kind.value_type if t.is_dictionary(kind) else kind
    return bool(
        t.is_binary(value) or t.is_large_binary(value) or t.is_binary_view(value) or t.is_fixed_size_binary(value)
    )
