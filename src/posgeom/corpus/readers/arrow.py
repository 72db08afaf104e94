"""Arrow IPC files and streams, as Hugging Face's datasets keep them: one record batch in memory at a time."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

import pyarrow as pa

from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.readers.arrow_tables import arrow_failures, documents_of, refuse_no_file, slices, text_column
from posgeom.corpus.sources import Source
from posgeom.corpus.streams import Stream, open_file
from posgeom.options import ReadOptions

_FILE_MAGIC = b"ARROW1"
_failures = partial(arrow_failures, what="Arrow")


def read_arrow(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Read an Arrow IPC file, of the file or the streaming format.

    A null text is an empty document. A binary column is decoded as UTF-8.
    """
    refuse_no_file(stream, "Arrow")
    with _open(stream.source) as file:
        with _failures(stream.source):
            if stream.head.startswith(_FILE_MAGIC):
                reader = pa.ipc.open_file(file)
                batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
            else:
                reader = pa.ipc.open_stream(file)
                batches = iter(reader)
            schema = reader.schema  # a name may be no UTF-8
        column = text_column(schema, options, stream.source)
        pieces = (piece for batch in batches for piece in slices(batch, column, options))

        def report(_: int) -> None:
            stream.report_consumed(file.tell())

        yield from documents_of(pieces, column, stream.source, options, _failures, report)


@contextmanager
def _open(source: Source) -> Iterator[Any]:
    with _failures(source):
        if source.path is not None:
            file = pa.memory_map(str(source.path))
        else:
            file = pa.PythonFile(io.BufferedReader(cast("io.RawIOBase", open_file(source, seekable=True))), mode="r")
    with file:
        yield file
