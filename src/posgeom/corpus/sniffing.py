"""What a file holds by its first bytes, which decide before its name does."""

import json
import re
from collections.abc import Iterator

from posgeom.corpus.sources import FORMAT_BY_SUFFIX, Source
from posgeom.corpus.streams import HEAD_BYTES, Stream, open_stream
from posgeom.errors import CorpusError
from posgeom.messages import shown
from posgeom.options import Format

_RESIDUES = rb"[A-Za-z*.~-]"
_NAME_AND_RESIDUES = rb"[^\s#]\S*[ \t]+" + _RESIDUES + rb"+([ \t]+\d+)?[ \t]*\r?(\n|$)"
_FASTA_LINE = re.compile(rb">.*|[;#].*|\s*|(%b{10} )*%b+\s*" % (_RESIDUES, _RESIDUES))
_FASTA_START = re.compile(rb"([;#][^\n]*\n|[ \t\r]*\n)*>[ \t]*[^\s][^\n]*\n([;#][^\n]*\n)*%b{2}" % _RESIDUES)

_FORMATS: list[tuple[re.Pattern[bytes], Format]] = [
    (re.compile(rb"PAR1"), "parquet"),
    (re.compile(rb"ARROW1|\xff\xff\xff\xff"), "arrow"),
    (re.compile(rb"# STOCKHOLM"), "stockholm"),
    (re.compile(rb"(CLUSTAL|PROBCONS|MUSCLE|MSAPROBS|Kalign)\b[^\n]*\n\s*\n" + _NAME_AND_RESIDUES), "clustal"),
    (re.compile(rb"@[^\n]*\n(%b+\r?\n)+\+" % _RESIDUES), "fastq"),
    (
        re.compile(rb"(#[^\n]*\n)*(1|1-\d+|0\.1)(\t[^\t\n]+){2}\t([A-Z]+|_)(\t[^\t\n]*){2}\t(\d+|_)(\t[^\t\n]*){3}"),
        "conllu",
    ),
]
"""How the formats start that have a start of their own."""

_FOREIGN = [
    (re.compile(rb"PARE"), "an encrypted Parquet file", "write it without encryption"),
    (re.compile(rb"%PDF-"), "a PDF", "extract its text"),
    (re.compile(rb"\{\\rtf"), "a rich text file", "save it as plain text"),
    (re.compile(rb"\s*<(!doctype html|html\b)", re.IGNORECASE), "a web page", "extract its text"),
    (re.compile(rb"\s*<\?xml\b"), "an XML file", "extract its text"),
    (re.compile(rb"PK\x03\x04"), "a ZIP archive or Office file", "save text, or name members as in zip://*.txt::FILE"),
    (re.compile(rb".{257}ustar", re.DOTALL), "a tar archive", "unpack it, or name members as in tar://*.txt::FILE"),
    (re.compile(rb"\xfd7zXZ\0"), "an xz file", "decompress it with xz -d"),
    (re.compile(rb"#NEXUS"), "a NEXUS alignment", "convert it to FASTA"),
    (re.compile(rb"LOCUS {3,}\S"), "a GenBank file", "convert it to FASTA"),
    (re.compile(rb"ID {3}\S[^\n]*\b(BP|AA)\.\r?\n"), "an EMBL or UniProt file", "convert it to FASTA"),
    (re.compile(rb"##fileformat=VCF"), "a VCF file of variants", "name a file of sequences"),
    (re.compile(rb"##gff-version"), "a GFF file of features", "name a file of sequences"),
    (re.compile(rb"@HD\tVN:"), "a SAM file of alignments", "convert it to FASTQ"),
    (re.compile(rb"HEADER {4}\S.{39}\d\d-[A-Z]{3}-\d\d"), "a PDB structure", "take its sequence as FASTA"),
    (re.compile(rb"WEBVTT\b|1\r?\n\d\d:\d\d:\d\d[,.]\d{3} -->"), "subtitles", "extract their text"),
    (re.compile(rb"From \S+ +(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} "), "a mailbox", "extract its messages"),
    (re.compile(rb'\{\s*\n\s*"cells": \['), "a Jupyter notebook", "convert it with jupyter nbconvert --to markdown"),
]
"""How files of other kinds start, what to call them, and what makes a corpus of them."""

_OBJECT_START = re.compile(rb'\s*\{\s*"(?:[^"\\\n]|\\.)*"\s*:')
_ARRAY_START = re.compile(rb'\s*\[\s*(\{\s*("|\})|")')


def sniff_format(stream: Stream, *, whole_files: bool = False) -> Format:
    """Tell a file's format by its first bytes, else by its extension, else it is plain text.

    Formats with a start of their own are known by it whatever the file is called, unless `whole_files` says that a
    file of text is a document. What starts like another kind of file is refused.
    """
    named = FORMAT_BY_SUFFIX.get(stream.source.suffix)
    for start, kind, remedy in _FOREIGN:
        if start.match(stream.head):
            raise CorpusError(
                f"{shown(stream.source.name)}: starts like {kind}: expected text, JSONL, CSV, TSV, FASTA, Parquet or"
                f" another format of --format; {remedy}, or pass --format text to read each line as a document"
            )
    told = _told(stream.head)
    if told is None or (whole_files and named in (None, "text")) or {told, named} == {"fasta", "a2m"}:
        return named or "text"
    if named not in (None, told):
        stream.note(
            f"files named {stream.source.suffix} that start like {told} are read so; --format {named} reads them as"
            " their name says"
        )
    return told


def _told(head: bytes) -> Format | None:
    for start, format_ in _FORMATS:
        if start.match(head):
            return format_
    if starts_with_array(head) or _starts_with_object(head):
        return "jsonl"
    if _FASTA_START.match(head) and all(_FASTA_LINE.fullmatch(line) for line in _whole_lines(head)):
        return "fasta"
    return None


def starts_with_array(head: bytes) -> bool:
    """Whether text starts like a JSON array of objects or strings, as far as it can be seen."""
    if not _ARRAY_START.match(head):
        return False
    text = head.decode(errors="replace").lstrip()
    try:
        _, end = json.JSONDecoder().raw_decode(text, len(text) - len(text[1:].lstrip()))
    except (ValueError, RecursionError):
        return not _is_whole(head) or _OBJECT_START.match(head.lstrip()[1:]) is not None
    return text[end:].lstrip()[:1] in {"", ",", "]"}


def _starts_with_object(head: bytes) -> bool:
    line, newline, _ = head.lstrip().partition(b"\n")
    if not line.startswith(b"{"):
        return False
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        # An object over several lines, or a first line longer than the look ahead, ends too early.
        ends_early = error.pos >= len(line.decode(errors="replace").rstrip()) or not newline
        return ends_early and _OBJECT_START.match(head) is not None
    except (ValueError, RecursionError):
        return _OBJECT_START.match(head) is not None
    return True


def _is_whole(head: bytes) -> bool:
    return len(head) < HEAD_BYTES - 3  # less a byte-order mark


def _whole_lines(head: bytes) -> Iterator[bytes]:
    """The lines of a look ahead, without the last where that may be cut."""
    lines = head.split(b"\n")
    return (line.removesuffix(b"\r") for line in (lines if _is_whole(head) else lines[:-1]))


def format_of(source: Source) -> str | None:
    """What a source is read as, by its name, or by the first bytes of a regular file, which can be opened twice."""
    if source.path is not None and source.path.is_file():
        with open_stream(source) as stream:
            return sniff_format(stream)
    return FORMAT_BY_SUFFIX.get(source.suffix)
