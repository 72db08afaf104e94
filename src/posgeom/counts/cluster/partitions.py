"""The plan: which parts of which files are counted together."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

from posgeom.corpus.file_parts import FilePart, Layout
from posgeom.corpus.readers.delimited import delimited_layout
from posgeom.corpus.readers.jsonl import jsonl_layout
from posgeom.corpus.readers.text import text_layout
from posgeom.corpus.reading import format_of
from posgeom.corpus.remote import remote_version
from posgeom.corpus.sources import Source
from posgeom.corpus.streams import Stream, open_stream
from posgeom.errors import CorpusError
from posgeom.messages import one_line, shown
from posgeom.options import Format, ReadOptions

_HEAD_BYTES = 64 * 1024
_OPENING_BYTES = 64 * 1024  # a small file costs about as much as reading this
_SMALLEST, _LARGEST, _SHARE = 4 * 1024**2, 128 * 1024**2, 64


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """What tells that a file is the one that was planned."""

    path: str
    size: int
    """In bytes, 0 where it is not known."""
    modified: int | str
    """In nanoseconds since 1970; of a remote file what its filesystem tells versions by."""
    head: str
    """Digest of the first 64 KiB, empty for a remote file."""


@dataclass(frozen=True, slots=True)
class Partition:
    """What one task counts: files with absolute paths, or one part of a file, and the bytes of input in it."""

    sources: tuple[Source, ...]
    identities: tuple[FileIdentity, ...]
    n_bytes: int

    def key(self, settings_digest: str) -> str:
        """Name of the partition's counts: the same content counted in the same way has the same name."""
        parts = [None if source.part is None else asdict(source.part) for source in self.sources]
        return digest_of([settings_digest, [asdict(identity) for identity in self.identities], parts])[:40]

    def __str__(self) -> str:
        first, *others = self.sources
        if others:
            return f"{shown(first.name)} and {len(others)} more files"
        if first.part is None:
            return shown(first.name)
        unit = "row groups" if first.part.format == "parquet" else "bytes"
        return f"{shown(first.name)}, {unit} {first.part.start} to {first.part.stop}"


def digest_of(value: object) -> str:
    """SHA-256, in hexadecimal, of what JSON can hold."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def plan(sources: Sequence[Source], options: ReadOptions, size: int | None = None) -> list[Partition]:
    """Divide a corpus: large files into parts of about `size` bytes where their format allows it, small into groups."""
    files = [_absolute(source) for source in sources]
    target = size or min(max(sum(source.size or 0 for source in files) // _SHARE, _SMALLEST), _LARGEST)
    partitions: list[Partition] = []
    group: list[tuple[Source, FileIdentity]] = []
    # Groups end at multiples of the target in the corpus: a file that has changed moves few of these boundaries.
    offset = 0
    for source in files:
        identity = identify(source)
        if identity.size != (source.size or 0):
            raise CorpusError(f"{shown(source.name)}: changed just now: expected a corpus that stands still; run again")
        is_large = identity.size >= target
        if not is_large:
            group.append((source, identity))
        before, offset = offset, offset + identity.size + _OPENING_BYTES
        if group and (is_large or before // target != offset // target):
            partitions.append(_together(group))
            group = []
        if is_large:
            parts = list(_parts(source, options, target)) or [(source, identity.size)]
            partitions += [Partition((part,), (identity,), n_bytes) for part, n_bytes in parts]
    return [*partitions, _together(group)] if group else partitions


def identify(source: Source) -> FileIdentity:
    """Look at a file, remote or with an absolute path."""
    if source.remote is not None:
        return FileIdentity(source.name, source.size or 0, remote_version(source.remote), "")
    path = source.path or Path()
    try:
        status = path.stat()
        with path.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError as error:
        raise CorpusError(f"{shown(source.name)}: cannot read: {error.strerror or one_line(error)}") from None
    return FileIdentity(str(path), status.st_size, status.st_mtime_ns, hashlib.sha256(head).hexdigest())


def _absolute(source: Source) -> Source:
    if source.remote is not None:
        return source
    if source.path is None or source.size is None:
        raise CorpusError(
            f"{shown(source.name)}: cannot be divided or read again: expected a file for engine 'dask';"
            " save it first, or leave --engine out"
        )
    return replace(source, path=source.path.absolute())


def _together(group: Sequence[tuple[Source, FileIdentity]]) -> Partition:
    sources, identities = zip(*group, strict=True)
    return Partition(sources, identities, sum(identity.size for identity in identities))


def _parts(source: Source, options: ReadOptions, target: int) -> Iterator[tuple[Source, int]]:
    """The parts of a file with their bytes; none where it stays in one piece."""
    with open_stream(source) as stream:
        format_ = format_of(stream, options)
        if stream.codec is not None:
            return
        layout = None if source.is_one_request else _layout(stream, format_, options)
    if format_ == "parquet":
        yield from _row_groups(source, options, target)
    elif layout is not None:
        n_bytes = (source.size or 0) - layout.start
        n_parts = max(-(-n_bytes // target), 1)
        for start, stop in pairwise(layout.start + n_bytes * i // n_parts for i in range(n_parts + 1)):
            yield replace(source, part=FilePart(start, stop, format_, layout)), stop - start


def _row_groups(source: Source, options: ReadOptions, target: int) -> Iterator[tuple[Source, int]]:
    from posgeom.corpus.readers.parquet import row_group_bytes  # here, because Arrow is slow to load

    start = filled = 0
    sizes = row_group_bytes(source, options)
    for i, n_bytes in enumerate(sizes):
        if filled and filled + n_bytes > target:
            yield replace(source, part=FilePart(start, i, "parquet")), filled
            start, filled = i, 0
        filled += n_bytes
    if start:
        yield replace(source, part=FilePart(start, len(sizes), "parquet")), filled


_LAYOUTS: dict[Format, Callable[[Stream, ReadOptions], Layout | None]] = {
    "text": text_layout,
    "jsonl": jsonl_layout,
    "csv": partial(delimited_layout, separator=","),
    "tsv": partial(delimited_layout, separator="\t"),
}


def _layout(stream: Stream, format_: Format, options: ReadOptions) -> Layout | None:
    """What the start of a file decides; None where it cannot be divided."""
    has_quotes = {"csv": options.quoting != "none", "tsv": options.quoting == "csv"}.get(format_, False)
    if has_quotes or options.whole_files or format_ not in _LAYOUTS:
        return None
    return _LAYOUTS[format_](stream, options)
