"""Plain text: one document per line, or one document per file."""

from collections.abc import Iterator

from posgeom.corpus.documents import DocumentBatch, ReadOptions
from posgeom.corpus.readers.batches import Row, batched
from posgeom.corpus.readers.columns import refuse_option
from posgeom.corpus.sources import Layout
from posgeom.corpus.streams import Stream, decode_utf8


def read_text(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Read plain text.

    A blank line is an empty document. With `options.whole_files` the file is one document, line ends kept.

    Parameters
    ----------
    stream : Stream
        The open file.
    options : ReadOptions
        How to read it.

    Yields
    ------
    DocumentBatch
        Documents in file order.

    Raises
    ------
    CorpusError
        When a column is asked for, or the bytes are no UTF-8 text.
    """
    text_layout(stream, options)
    rows = _whole(stream, options) if options.whole_files else _lines(stream, options)
    yield from batched(rows, stream.source, options)


def text_layout(stream: Stream, options: ReadOptions) -> Layout:
    """Decide what there is to decide about plain text: whether it can be read with these options.

    Parameters
    ----------
    stream : Stream
        The open file.
    options : ReadOptions
        How to read it.

    Returns
    -------
    Layout
        Without a column.

    Raises
    ------
    CorpusError
        When a column is asked for.
    """
    for option, value in (("--column", options.column), ("--group", options.group)):
        if value is not None:
            raise refuse_option(option, "plain text", stream.source)
    return Layout(None)


def _whole(stream: Stream, options: ReadOptions) -> Iterator[Row]:
    yield 1, decode_utf8(stream.whole(), options, stream.source, 1, "document"), None


def _lines(stream: Stream, options: ReadOptions) -> Iterator[Row]:
    for number, line in stream.lines():
        yield number, decode_utf8(line, options, stream.source, number), None
