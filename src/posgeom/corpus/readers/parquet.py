"""Parquet: the text column, and the group column if one is asked for, in batches of rows."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

import pyarrow.parquet as pq

from posgeom.corpus import documents
from posgeom.corpus.documents import COUNTS_KEY, DocumentBatch
from posgeom.corpus.readers.arrow_tables import arrow_failures, documents_of, refuse_no_file, text_column
from posgeom.corpus.sources import Source
from posgeom.corpus.streams import Stream, open_file
from posgeom.errors import CorpusError
from posgeom.messages import shown
from posgeom.options import ReadOptions

_BUFFER_BYTES = 1024 * 1024
_failures = partial(arrow_failures, what="Parquet")


def read_parquet(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Read a Parquet file, only the columns needed.

    A null text is an empty document. A binary column is decoded as UTF-8.
    """
    refuse_no_file(stream, "Parquet")
    source = stream.source
    with _open(source) as file:
        column, group = _checked_columns(file, options, source)
        columns = [column] if group in (None, column) else [column, group]
        with _failures(source):
            n_rows = max(file.metadata.num_rows, 1)
            row_groups = range(file.metadata.num_row_groups)
            if source.part:
                row_groups = row_groups[source.part.start : source.part.stop]
            start = 1 + sum(file.metadata.row_group(i).num_rows for i in range(row_groups.start))
            n_at_once = _rows_at_once(file.metadata, column, options)
            batches = file.iter_batches(n_at_once, row_groups=list(row_groups), columns=columns, use_threads=False)

        def report(n: int) -> None:
            stream.report_consumed((source.size or 0) * n // n_rows)

        yield from documents_of(batches, column, source, options, _failures, report, start)


def row_group_bytes(source: Source, options: ReadOptions) -> list[int]:
    """Stored bytes that each row group of a file has in the columns to be read."""
    with _open(source) as file:
        columns = _checked_columns(file, options, source)
        with _failures(source):
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
    if COUNTS_KEY in (schema.metadata or {}):
        raise CorpusError(f"{shown(source.name)}: holds position counts, not documents: name it with --counts")
    return text_column(schema, options, source), options.fold_column


def _rows_at_once(metadata: Any, column: str, options: ReadOptions) -> int:
    """Keep long documents from being decoded a full batch at a time: bound rows by their mean size."""
    mean = 1
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        for j in range(group.num_columns):
            chunk = group.column(j)
            if chunk.path_in_schema == column and group.num_rows:
                mean = max(mean, chunk.total_uncompressed_size // group.num_rows)
    # A little less than fits: most batches then need not be cut, which would leave a few documents over each time.
    return max(1, min(options.batch_size, documents.MAX_BATCH_CHARACTERS * 9 // 10 // mean))


@contextmanager
def _open(source: Source) -> Iterator[Any]:
    with _failures(source):
        # A raw stream may give fewer bytes than asked for, which Arrow takes for the end.
        stream = io.BufferedReader(cast("io.RawIOBase", open_file(source, seekable=True)))
    with stream:
        with _failures(source):
            file = pq.ParquetFile(stream, buffer_size=_BUFFER_BYTES, page_checksum_verification=True)
        yield file
