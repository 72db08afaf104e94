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
            n_at_once = _rows_at_once(file.metadata, options)
            batches = file.iter_batches(n_at_once, row_groups=list(row_groups), columns=columns, use_threads=False)

        def report(n: int) -> None:
            stream.report_consumed((source.size or 0) * n // n_rows)

        yield from documents_of(batches, column, source, options, _failures, report, start)


def row_group_bytes(source: Source, options: ReadOptions) -> list[int]:
    """Bytes of a file that each of its row groups takes, about."""
    with _open(source) as file:
        _checked_columns(file, options, source)
        with _failures(source):
            sizes = [file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups)]
        return [(source.size or 0) * size // max(sum(sizes), 1) for size in sizes]


def _checked_columns(file: Any, options: ReadOptions, source: Source) -> tuple[str, str | None]:
    with _failures(source):  # a name may be no UTF-8
        schema = file.schema_arrow
    if COUNTS_KEY in (schema.metadata or {}):
        raise CorpusError(f"{shown(source.name)}: holds position counts, not documents: name it with --counts")
    return text_column(schema, options, source), options.fold_column


def _rows_at_once(metadata: Any, options: ReadOptions) -> int:
    """Keep long documents from being decoded a full batch at a time: bound rows by their mean size.

    It is that of all columns: where one is encrypted, to look at its chunk ends the process.
    """
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    mean = max([group.total_byte_size // group.num_rows for group in groups if group.num_rows], default=0) or 1
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
