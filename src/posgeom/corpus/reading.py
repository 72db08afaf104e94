"""Read a corpus: find the sources, tell their formats, hand each to its reader."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.readers.alignments import read_clustal, read_fastq, read_stockholm
from posgeom.corpus.readers.conllu import read_conllu
from posgeom.corpus.readers.delimited import read_csv, read_tsv
from posgeom.corpus.readers.fasta import read_a2m, read_fasta
from posgeom.corpus.readers.jsonl import read_jsonl
from posgeom.corpus.readers.tabular import refuse_option
from posgeom.corpus.readers.text import read_text
from posgeom.corpus.sniffing import sniff_format
from posgeom.corpus.sources import Source
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
    "a2m": read_a2m,
    "fastq": read_fastq,
    "stockholm": read_stockholm,
    "clustal": read_clustal,
    "conllu": read_conllu,
}
"""The reader of each format."""


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


def format_of(stream: Stream, options: ReadOptions) -> Format:
    """The format a stream is read as."""
    part = stream.source.part
    if part and part.is_inner:
        return part.format
    format_ = options.format
    if format_ == "auto":
        format_ = sniff_format(stream, whole_files=options.whole_files)
    if options.whole_files and format_ != "text":
        raise refuse_option("--whole-files", format_, stream.source)
    is_lines = format_ not in ("parquet", "arrow") and not options.whole_files
    if is_lines and b"\n" not in stream.head and b"\r" in stream.head.rstrip(b"\r"):
        raise CorpusError(
            f"{shown(stream.source.name)}: its lines end in carriage returns alone: expected line feeds; convert it"
            " with tr '\\r' '\\n'"
        )
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
                yield replace(batch, format=format_, notes=tuple(stream.notes))
                on_progress(done + stream.consumed)
            done += stream.consumed if source.size is None else source.size
        on_progress(done)


def _ignore(n_bytes: int) -> None:
    """Take the place of a progress callback."""
