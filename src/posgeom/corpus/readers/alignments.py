"""FASTQ reads, and alignments in the Stockholm and Clustal forms, parsed by Biopython."""

import importlib
import io
from collections.abc import Callable, Iterator
from typing import Any

from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.messages import located
from posgeom.corpus.readers.fasta import check_options, read_sequences
from posgeom.corpus.readers.tabular import needs_package
from posgeom.corpus.streams import Stream, decode_utf8
from posgeom.errors import CorpusError
from posgeom.messages import one_line
from posgeom.options import ReadOptions

Records = Iterator[tuple[int, str, str]]
"""Line up to which a record was read, its header, and its sequence."""


_MANY = 100


class TextLines(io.TextIOBase):
    """The lines of a stream as the text file that other libraries expect, which knows how far it was read."""

    def __init__(self, stream: Stream, options: ReadOptions) -> None:
        self.number = self._n_ends = 0
        self.last = ""
        self._lines = stream.lines(keep_ends=True)
        self._options, self._source = options, stream.source

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]  # noqa: ARG002  parsers read whole lines
        """Read a line, with a line feed as its end."""
        number, raw = next(self._lines, (self.number, b""))
        if not raw:
            self._n_ends += 1
            if self._n_ends > _MANY:  # Biopython looks for a block of a Clustal alignment forever
                raise ValueError("the data end too early")
            return ""
        self.number, line = number, decode_utf8(raw, self._options, self._source, number).rstrip("\r\n")
        self.last = line or self.last
        return line + "\n"

    def read(self, size: int | None = -1, /) -> str:  # noqa: ARG002
        """Read nothing: parsers only ask whether this gives text."""
        return ""


def read_fastq(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Read FASTQ; the sequence is the document, and qualities are left out."""
    return _read(stream, options, "FASTQ", _reads)


def read_stockholm(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Read Stockholm alignments, one in memory at a time; a sequence with its gaps is a document."""

    def records(lines: TextLines) -> Records:
        yield from _aligned(lines, "stockholm")
        if lines.last.strip() != "//":
            raise ValueError("the data end without //")

    return _read(stream, options, "Stockholm", records)


def read_clustal(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Read Clustal alignments, one in memory at a time; a sequence with its gaps is a document."""
    return _read(stream, options, "Clustal", lambda lines: _aligned(lines, "clustal"))


def _reads(lines: TextLines) -> Records:
    parse: Any = importlib.import_module("Bio.SeqIO.QualityIO").FastqGeneralIterator
    for header, sequence, _ in parse(lines):
        yield lines.number, header, sequence


def _aligned(lines: TextLines, kind: str) -> Records:
    parse: Any = importlib.import_module("Bio.AlignIO").parse
    for alignment in parse(lines, kind):
        for record in alignment:
            header = record.id if record.description in ("", record.id) else f"{record.id} {record.description}"
            yield lines.number, header, str(record.seq)


def _read(
    stream: Stream, options: ReadOptions, kind: str, parse: Callable[[TextLines], Records]
) -> Iterator[DocumentBatch]:
    check_options(stream, options, kind)
    needs_package("Bio", "biopython", "bio", kind, stream.source)
    lines = TextLines(stream, options)
    if not stream.head.strip():
        return iter(())

    def records() -> Records:
        try:
            yield from parse(lines)
        except (ValueError, AssertionError, LookupError, TypeError) as error:
            raise CorpusError(
                f"{located(stream.source.name, max(lines.number, 1))}: truncated, damaged or not {kind}"
                f" ({one_line(error)}): expected a whole {kind} file; mend it, or say what it is with --format"
            ) from None

    return read_sequences(records(), stream, options)
