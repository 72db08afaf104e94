"""Parquet: the text column, and the group column if one is asked for, in batches of rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from posgeom.corpus import documents
from posgeom.corpus.documents import COUNTS_KEY, DocumentBatch, ReadOptions
from posgeom.corpus.messages import too_long
from posgeom.corpus.readers.batches import Row, batched
from posgeom.corpus.readers.columns import choose_column, group_value, missing_column
from posgeom.corpus.sources import Source
from posgeom.corpus.streams import Stream, decode_utf8
from posgeom.errors import CorpusError
from posgeom.messages import one_line, shown

_BUFFER_BYTES = 1024 * 1024


def read_parquet(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Read a Parquet file, only the columns needed.

    A null text is an empty document. A binary column is decoded as UTF-8.

    Parameters
    ----------
    stream : Stream
        The open file, which must be a regular, uncompressed one: Parquet is read from its end.
    options : ReadOptions
        How to read it.

    Yields
    ------
    DocumentBatch
        Documents in file order.

    Raises
    ------
    CorpusError
        When the file is truncated, corrupt or not seekable, or a column is missing or of another type.
    """
    source = stream.source
    name = shown(source.name)
    if stream.codec is not None:
        raise CorpusError(f"{name}: Parquet inside {stream.codec}: wanted the Parquet file itself; decompress it first")
    if source.path is None or source.size is None:
        raise CorpusError(f"{name}: Parquet from a pipe: wanted a file, since it is read from its end; save it first")
    with _open(source.path, source) as file:
        column, group = _checked_columns(file, options, source)
        yield from batched(_rows(file, column, group, stream, options), source, options, column)


def row_group_bytes(source: Source, path: Path, options: ReadOptions) -> list[int]:
    """Stored bytes that each row group of a file has in the columns to be read.

    Parameters
    ----------
    source : Source
        The file.
    path : Path
        Where it is.
    options : ReadOptions
        How it will be read.

    Returns
    -------
    list of int

    Raises
    ------
    CorpusError
        When the file is corrupt, or a column is missing or of another type.
    """
    with _open(path, source) as file:
        columns = _checked_columns(file, options, source)
        with _arrow_errors(source):
            groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
            return [
                sum(
                    chunk.total_compressed_size
                    for chunk in map(group.column, range(group.num_columns))
                    if chunk.path_in_schema in columns
                )
                for group in groups
            ]


def _checked_columns(file: Any, options: ReadOptions, source: Source) -> tuple[str, str | None]:
    schema = file.schema_arrow
    name = shown(source.name)
    if COUNTS_KEY in (schema.metadata or {}):
        raise CorpusError(f"{name}: holds position counts, not documents: name it with --counts")
    column, group = _columns(schema, options, source)
    for used in {column, group} - {None}:
        if schema.names.count(used) > 1:
            raise CorpusError(f"{name}: several columns named {shown(used, 60)}: wanted one; rename them")
    return column, group


def _columns(schema: Any, options: ReadOptions, source: Source) -> tuple[str, str | None]:
    strings = [field.name for field in schema if _is_string(field.type)]
    binaries = [field.name for field in schema if _is_binary(field.type)]
    column = choose_column(schema.names, strings or binaries, options, source)
    kind = schema.field(schema.names.index(column)).type
    if not (_is_string(kind) or _is_binary(kind)):
        raise CorpusError(
            f"{shown(source.name)}: column {shown(column, 60)} holds {shown(kind, 60)}: wanted strings;"
            " choose another with --column NAME"
        )
    if options.group is not None:
        if options.group not in schema.names:
            raise missing_column(options.group, schema.names, source, "--group")
        kind = schema.field(schema.names.index(options.group)).type
        if pa.types.is_nested(kind):
            raise CorpusError(
                f"{shown(source.name)}: column {shown(options.group, 60)} holds {shown(kind, 60)}:"
                " wanted one value a row to group by; choose another with --group NAME"
            )
    return column, options.group


def _rows(file: Any, column: str, group: str | None, stream: Stream, options: ReadOptions) -> Iterator[Row]:
    source = stream.source
    size = source.size or 0
    columns = [column] if group in (None, column) else [column, group]
    with _arrow_errors(source):
        n_rows = file.metadata.num_rows
        wanted = range(file.metadata.num_row_groups)
        if source.span:
            wanted = wanted[source.span.start : source.span.stop]
        start = 1 + sum(file.metadata.row_group(i).num_rows for i in range(wanted.start))
        batches = file.iter_batches(
            _rows_at_once(file.metadata, column, options), row_groups=list(wanted), columns=columns, use_threads=False
        )
    while True:
        with _arrow_errors(source):
            batch = next(batches, None)
        if batch is None:
            return
        texts = _strings(batch.column(column), start, source, options)
        groups: list[str] | None = None
        if group is not None:
            values = _scalars(batch.column(group), start, source, options)
            groups = [group_value(value, group, source, row, "row") for row, value in enumerate(values, start)]
        for i, text in enumerate(texts):
            row = start + i
            if len(text or "") > documents.MAX_DOCUMENT_BYTES:
                raise too_long(source.name, row, "row")
            yield row, text or "", None if groups is None else groups[i]
        start += len(texts)
        stream.report_consumed(size * (start - 1) // max(n_rows, 1))


def _rows_at_once(metadata: Any, column: str, options: ReadOptions) -> int:
    """Keep long documents from being decoded a full batch at a time: bound rows by their mean size."""
    mean = 1
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        for j in range(group.num_columns):
            chunk = group.column(j)
            if chunk.path_in_schema == column and group.num_rows:
                mean = max(mean, chunk.total_uncompressed_size // group.num_rows)
    return max(1, min(options.batch_size, documents.MAX_BATCH_CHARACTERS // mean))


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
    with _arrow_errors(source):
        return list(array.to_pylist())


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


@contextmanager
def _open(path: Path, source: Source) -> Iterator[Any]:
    with _arrow_errors(source):
        stream = path.open("rb")
    with stream:
        with _arrow_errors(source):
            file = pq.ParquetFile(stream, buffer_size=_BUFFER_BYTES, page_checksum_verification=True)
        yield file


@contextmanager
def _arrow_errors(source: Source) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CorpusError(
            f"{shown(source.name)}: truncated, corrupt or not Parquet ({one_line(error)}):"
            " wanted a complete Parquet file; fetch it again, or say what it is with --format"
        ) from None
