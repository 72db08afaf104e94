"""Plain text: one document per line, or one document per file."""

from collections.abc import Iterator

from posgeom.corpus import documents
from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.file_parts import Layout
from posgeom.corpus.readers.tabular import Row, batched, refuse_option
from posgeom.corpus.streams import Stream, decode_utf8
from posgeom.corpus.texts import Texts
from posgeom.options import ReadOptions


def read_text(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Read plain text.

    A blank line is an empty document. With `options.whole_files` the file is one document, line ends kept.
    """
    text_layout(stream, options)
    if options.whole_files:
        yield from batched(_whole(stream, options), stream.source, options)
    else:
        yield from _lines(stream, options)


def text_layout(stream: Stream, options: ReadOptions) -> Layout:
    """Decide what there is to decide about plain text: whether it can be read with these options."""
    for option, value in (("--column", options.column), ("--fold-by", options.fold_column)):
        if value is not None:
            raise refuse_option(option, "plain text", stream.source)
    return Layout(None)


def _whole(stream: Stream, options: ReadOptions) -> Iterator[Row]:
    yield 1, decode_utf8(stream.whole(), options, stream.source, 1, "document"), None


def _lines(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    lines: list[bytes] = []
    first, n_bytes = 1, 0
    for number, line in stream.lines():
        if lines and (len(lines) >= options.batch_size or n_bytes + len(line) > documents.MAX_BATCH_CHARACTERS):
            yield _batch(lines, first, stream, options)
            lines, n_bytes = [], 0
        if not lines:
            first = number
        lines.append(line)
        n_bytes += len(line)
    if lines:
        yield _batch(lines, first, stream, options)


def _batch(lines: list[bytes], first: int, stream: Stream, options: ReadOptions) -> DocumentBatch:
    try:
        # A line feed is part of no other character: lines are valid when all of them together are.
        b"\n".join(lines).decode()
    except UnicodeDecodeError:
        strings = [decode_utf8(line, options, stream.source, number) for number, line in enumerate(lines, first)]
        texts = Texts.from_strings(strings)
    else:
        texts = Texts.from_pieces(lines)
    return DocumentBatch(texts, None, stream.source.name, first)
