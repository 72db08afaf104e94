"""FASTA: a header line that starts with ``>``, then the sequence over any number of lines, with comments between."""

from collections.abc import Iterator

from posgeom.corpus import documents
from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.messages import located, too_long
from posgeom.corpus.readers.tabular import Row, batched, group_value, missing_column, refuse_option
from posgeom.corpus.sources import Source
from posgeom.corpus.streams import Stream, decode_utf8
from posgeom.errors import CorpusError
from posgeom.messages import shown
from posgeom.options import ReadOptions

_GROUPS = ("name", "description")


def read_fasta(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Read FASTA records; the sequence, without any white space, is the document, and its row the line of its header.

    Folds may be by ``name``, the first word of the header, or ``description``, the whole header.
    """
    if options.column is not None:
        raise refuse_option("--column", "FASTA", stream.source)
    if options.fold_column is not None and options.fold_column not in _GROUPS:
        raise missing_column(options.fold_column, _GROUPS, stream.source, "--fold-by")
    yield from batched(_rows(stream, options), stream.source, options)


def _rows(stream: Stream, options: ReadOptions) -> Iterator[Row]:
    source = stream.source
    header: tuple[int, str | None] | None = None
    sequence = bytearray()  # a list of short lines would take several times the memory
    for number, raw in stream.lines():
        line = decode_utf8(raw, options, source, number).strip()
        if line.startswith(">"):
            if header is not None:
                yield header[0], sequence.decode(), header[1]
            header = number, _group(line[1:].strip(), options, source, number)
            sequence.clear()
        elif line.startswith((";", "#")):
            continue  # a comment
        elif header is not None:
            sequence += "".join(line.split()).encode()
            if len(sequence) > documents.MAX_DOCUMENT_BYTES:
                raise too_long(source.name, header[0], "record at line")
        elif line:
            raise CorpusError(
                f"{located(source.name, number)}: got {shown(line, 40)}:"
                " expected a FASTA header, which starts with >; say what the file is with --format"
            )
    if header is not None:
        yield header[0], sequence.decode(), header[1]


def _group(header: str, options: ReadOptions, source: Source, line: int) -> str | None:
    if options.fold_column is None:
        return None
    value = header if options.fold_column == "description" else "".join(header.split()[:1])
    return group_value(value, options.fold_column, source, line)
