"""Read a corpus: find the sources, tell their formats, hand each to its reader."""

import json
import re
from collections.abc import Callable, Iterator, Sequence

from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.readers.delimited import read_csv, read_tsv
from posgeom.corpus.readers.fasta import read_fasta
from posgeom.corpus.readers.jsonl import read_jsonl
from posgeom.corpus.readers.tabular import refuse_option
from posgeom.corpus.readers.text import read_text
from posgeom.corpus.sources import FORMAT_BY_SUFFIX, Source
from posgeom.corpus.streams import Stream, open_stream
from posgeom.errors import CorpusError
from posgeom.messages import shown
from posgeom.options import Format, ReadOptions

Reader = Callable[[Stream, ReadOptions], Iterator[DocumentBatch]]


def _read_parquet(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    from posgeom.corpus.readers.parquet import read_parquet  # here, because Arrow is slow to load

    return read_parquet(stream, options)


def _read_arrow(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    from posgeom.corpus.readers.arrow import read_arrow

    return read_arrow(stream, options)


def _read_dataset(source: Source, options: ReadOptions) -> Iterator[DocumentBatch]:
    from posgeom.corpus.readers.huggingface import read_dataset

    return read_dataset(source, options)


READERS: dict[Format, Reader] = {
    "text": read_text,
    "jsonl": read_jsonl,
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": _read_parquet,
    "arrow": _read_arrow,
    "fasta": read_fasta,
}
"""The reader of each format."""

_MAGIC: dict[bytes, Format] = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_FASTA_START = re.compile(rb">\s*\S[^\n]*\n[A-Za-z*.-]{2,}\r?(\n|$)")
_FOREIGN = [
    (re.compile(rb"%PDF-"), "a PDF", "extract its text"),
    (re.compile(rb"\{\\rtf"), "a rich text file", "save it as plain text"),
    (re.compile(rb"# STOCKHOLM"), "a Stockholm alignment", "convert it to FASTA"),
    (re.compile(rb"CLUSTAL"), "a Clustal alignment", "convert it to FASTA"),
    (re.compile(rb"@[^\n]*\n[A-Za-z*.-]+\r?\n\+"), "a FASTQ file", "convert it to FASTA"),
    (re.compile(rb"# (newdoc|sent_id|text) ?[^\n]*\n(#[^\n]*\n)*1\t"), "a CoNLL-U file", "write one sentence a line"),
    (re.compile(rb'\[\s*(\{\s*"|")'), "a JSON array", "write one object a line, as JSON lines"),
]
"""How files of other kinds start, what to call them, and what makes a corpus of them."""


def read_sources(
    sources: Sequence[Source], options: ReadOptions, *, on_progress: Callable[[int], None] | None = None
) -> Iterator[DocumentBatch]:
    """Read the documents of sources already found, in batches that are not empty.

    An impossible option is refused at once. `on_progress` is told the bytes of input, as stored, used so far.
    """
    if options.batch_size < 1:
        raise CorpusError(f"got a batch size of {options.batch_size}: expected at least 1")
    if options.format != "auto" and options.format not in READERS:
        raise CorpusError(f"unknown format {shown(options.format, 60)}: expected auto, {', '.join(READERS)}")
    return _batches(sources, options, on_progress or _ignore)


def sniff_format(stream: Stream) -> Format:
    """Tell a file's format by its extension and first bytes.

    Parquet and Arrow are known by their first bytes whatever the name. Without an extension that stands for a format
    (standard input, a pipe, ``.a2m``) JSON lines and FASTA are recognised. Everything else is plain text, unless its
    first bytes are those of another kind of file, which is refused.
    """
    for magic, format_ in _MAGIC.items():
        if stream.head.startswith(magic):
            return format_
    known = FORMAT_BY_SUFFIX.get(stream.source.suffix)
    if known is None and _starts_with_object(stream.head):
        return "jsonl"
    if known is None and _FASTA_START.match(stream.head):
        return "fasta"
    if known in (None, "text"):
        for start, kind, remedy in _FOREIGN:
            if start.match(stream.head):
                raise CorpusError(
                    f"{shown(stream.source.name)}: starts like {kind}: expected text, JSONL, CSV, TSV, FASTA or"
                    f" Parquet; {remedy}, or pass --format text to read each line as a document"
                )
    return known or "text"


def format_of(stream: Stream, options: ReadOptions) -> Format:
    """The format a stream is read as."""
    if stream.source.part:
        return stream.source.part.format
    format_ = sniff_format(stream) if options.format == "auto" else options.format
    if options.whole_files and format_ != "text":
        raise refuse_option("--whole-files", format_, stream.source)
    return format_


def _batches(
    sources: Sequence[Source], options: ReadOptions, on_progress: Callable[[int], None]
) -> Iterator[DocumentBatch]:
    done = 0
    for source in sources:
        if source.dataset is not None:
            yield from _read_dataset(source, options)
            continue
        with open_stream(source) as stream:
            format_ = format_of(stream, options)
            for batch in READERS[format_](stream, options):
                yield batch
                on_progress(done + stream.consumed)
            done += stream.consumed if source.size is None else source.size
        on_progress(done)


def _starts_with_object(head: bytes) -> bool:
    line, newline, _ = head.lstrip().partition(b"\n")
    if not line.startswith(b"{"):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        # A first line longer than the look ahead cannot be parsed yet.
        return not newline and re.match(rb'\{\s*"', line) is not None
    return True


def _ignore(n_bytes: int) -> None:
    """Take the place of a progress callback."""
