"""Arrow IPC files and streams, as Hugging Face's datasets keep them: one record batch in memory at a time."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pyarrow as pa

from posgeom.corpus import documents
from posgeom.corpus.documents import DocumentBatch, ReadOptions
from posgeom.corpus.readers.arrow_batches import document_batches, text_column
from posgeom.corpus.readers.batches import regrouped
from posgeom.corpus.sources import Source
from posgeom.corpus.streams import Stream, open_file
from posgeom.errors import CorpusError
from posgeom.messages import one_line, shown

_FILE_MAGIC = b"ARROW1"


def read_arrow(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Read an Arrow IPC file, of the file or the streaming format.

    A null text is an empty document. A binary column is decoded as UTF-8.
    """
    source = stream.source
    name = shown(source.name)
    if stream.codec is not None:
        raise CorpusError(f"{name}: Arrow inside {stream.codec}: wanted the Arrow file itself; decompress it first")
    if source.is_pipe:
        raise CorpusError(f"{name}: Arrow from a pipe: wanted a file; save it first")
    with _open(source) as file:
        with _arrow_errors(source):
            if stream.head.startswith(_FILE_MAGIC):
                reader = pa.ipc.open_file(file)
                batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
            else:
                reader = pa.ipc.open_stream(file)
                batches = iter(reader)
        column = text_column(reader.schema, options, source)
        yield from regrouped(_batches(batches, column, file, stream, options), options)


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


def _batches(
    batches: Iterator[Any], column: str, file: Any, stream: Stream, options: ReadOptions
) -> Iterator[DocumentBatch]:
    source = stream.source
    start = 1
    while True:
        with _arrow_errors(source):
            batch = next(batches, None)
            pieces = [] if batch is None else list(slices(batch, column, options))
        if batch is None:
            return
        for piece in pieces:
            yield from document_batches(piece, column, start, source, options)
            start += piece.num_rows
        stream.report_consumed(file.tell())


@contextmanager
def _open(source: Source) -> Iterator[Any]:
    with _arrow_errors(source):
        if source.path is not None:
            file = pa.memory_map(str(source.path))
        else:
            file = pa.PythonFile(io.BufferedReader(cast("io.RawIOBase", open_file(source, seekable=True))), mode="r")
    with file:
        yield file


@contextmanager
def _arrow_errors(source: Source) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CorpusError(
            f"{shown(source.name)}: truncated, corrupt or not Arrow ({one_line(error)}):"
            " wanted a complete Arrow IPC file; fetch it again, or say what it is with --format"
        ) from None
