"""FASTA and A2M: a header line that starts with ``>``, then the sequence over any number of lines, and comments."""

import re
from collections.abc import Iterable, Iterator

from posgeom.corpus import documents
from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.messages import located, too_long
from posgeom.corpus.readers.tabular import Row, batched, group_value, missing_column, refuse_option
from posgeom.corpus.streams import Stream, decode_utf8
from posgeom.errors import CorpusError
from posgeom.messages import shown
from posgeom.options import ReadOptions

_GROUPS = ("name", "description")
_INSERTION = re.compile("[a-z.]")
_GAPS = "sequences hold gaps (- or .), which are counted as characters like any other"
_CASES = "sequences hold upper-case and lower-case letters, which are counted as different characters"

Record = tuple[int, str, str]
"""Line of a record, its header, and its sequence."""


def read_fasta(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Read FASTA records; the sequence, without any white space, is the document, and its row the line of its header.

    Folds may be by ``name``, the first word of the header, or ``description``, the whole header.
    """
    check_options(stream, options, "FASTA")
    return read_sequences(_records(stream, options), stream, options)


def read_a2m(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Read A2M or A3M: FASTA whose lower-case letters are insertions, after which columns are no longer aligned.

    They are dropped where the format is asked for, with the dots that stand beside them; else they are refused.
    """
    check_options(stream, options, "A2M")
    return read_sequences(_without_insertions(_records(stream, options), stream, options), stream, options)


def check_options(stream: Stream, options: ReadOptions, kind: str) -> None:
    """Refuse columns that no file of sequences has."""
    if options.column is not None:
        raise refuse_option("--column", kind, stream.source)
    if options.fold_column is not None and options.fold_column not in _GROUPS:
        raise missing_column(options.fold_column, _GROUPS, stream.source, "--fold-by")


def read_sequences(records: Iterable[Record], stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Make batches of sequences, and note what their characters are beside residues."""

    def rows() -> Iterator[Row]:
        has_upper = has_lower = False
        for line, header, sequence in records:
            if "-" in sequence or "." in sequence:
                stream.note(_GAPS)
            has_upper = has_upper or sequence != sequence.lower()
            has_lower = has_lower or sequence != sequence.upper()
            if has_upper and has_lower:
                stream.note(_CASES)
            yield line, sequence, _group(header, options, stream, line)

    return batched(rows(), stream.source, options)


def _records(stream: Stream, options: ReadOptions) -> Iterator[Record]:
    source = stream.source
    header: tuple[int, str] | None = None
    sequence = bytearray()  # a list of short lines would take several times the memory
    for number, raw in stream.lines():
        line = decode_utf8(raw, options, source, number).strip()
        if line.startswith(">"):
            if "\r" in line:
                raise CorpusError(
                    f"{located(source.name, number)}: a carriage return inside a header, which hides what follows:"
                    " expected line feeds; convert it with tr '\\r' '\\n'"
                )
            if header is not None:
                yield *header, sequence.decode()
            header = number, line[1:].strip()
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
        yield *header, sequence.decode()


def _without_insertions(records: Iterable[Record], stream: Stream, options: ReadOptions) -> Iterator[Record]:
    for line, header, sequence in records:
        if options.format == "a2m":
            yield line, header, _INSERTION.sub("", sequence)
        elif sequence != sequence.upper():
            raise CorpusError(
                f"{located(stream.source.name, line)}: insertions (lower-case letters), after which columns are not"
                " aligned: expected match columns; drop insertions with --format a2m, or count every character as it"
                " stands with --format fasta"
            )
        else:
            yield line, header, sequence


def _group(header: str, options: ReadOptions, stream: Stream, line: int) -> str | None:
    if options.fold_column is None:
        return None
    value = header if options.fold_column == "description" else "".join(header.split()[:1])
    return group_value(value, options.fold_column, stream.source, line)
