"""From what the user names (files, globs, directories, ``-``) to the list of sources to read."""

import glob
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from posgeom.corpus.documents import Format, ReadOptions
from posgeom.errors import CorpusError
from posgeom.messages import shown

FORMAT_BY_SUFFIX: dict[str, Format] = {
    ".txt": "text",
    ".text": "text",
    ".log": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".fa": "fasta",
    ".fasta": "fasta",
    ".fna": "fasta",
    ".faa": "fasta",
}
"""The format a file name's extension stands for."""

CODEC_BY_SUFFIX = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
"""The compression a file name's last extension stands for."""

# A .json file is more often a configuration than a corpus: it is read only when named.
_DIRECTORY_SUFFIXES = FORMAT_BY_SUFFIX.keys() - {".json"}

_WANTED = "wanted a file, a quoted glob pattern, a directory, or - for standard input"


@dataclass(frozen=True, slots=True)
class Layout:
    """What the first rows of a file decide for all of it.

    Attributes
    ----------
    column : str or None
        The text column, as results name it; None where JSON lines are strings.
    names : tuple of str
        All columns of a delimited file.
    index, group : int, and int or None
        Which of `names` hold the text and the group.
    start : int
        Byte where the documents begin, behind a header.
    """

    column: str | None
    names: tuple[str, ...] = ()
    index: int = 0
    group: int | None = None
    start: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a file that can be read on its own.

    Attributes
    ----------
    start, stop : int
        Row groups of a Parquet file; bytes of any other, where a line belongs to the span in which it starts.
    format : str
        What the file is.
    layout : Layout or None
        What its first rows decided, so that no two spans decide differently; None where there is nothing to decide.
    lines_before : int or None
        Line feeds before byte ``start - 1``, to number lines as in the whole file; None numbers them from the span.
    """

    start: int
    stop: int
    format: Format
    layout: Layout | None = None
    lines_before: int | None = None

    @property
    def is_inner(self) -> bool:
        """Whether it is a byte range that begins inside its file."""
        return self.format != "parquet" and self.start > 0


@dataclass(frozen=True, slots=True)
class Source:
    """One thing to read.

    Attributes
    ----------
    name : str
        The name for messages, as the user gave it.
    path : Path or None
        Where the file is; None for standard input.
    size : int or None
        Bytes on disk; None where it cannot be known (standard input, a pipe).
    span : Span or None
        The part to read; None for all of it.
    """

    name: str
    path: Path | None
    size: int | None
    span: Span | None = None

    @property
    def codec(self) -> str | None:
        """Compression by the last extension of the name, None for an uncompressed file."""
        return None if self.path is None else CODEC_BY_SUFFIX.get(self.path.suffix.lower())

    @property
    def suffix(self) -> str:
        """Lower-case extension that tells the format, the one before a compression's; empty without one."""
        return "" if self.path is None else _format_suffix(self.path)


def resolve_sources(specs: Sequence[str | Path], options: ReadOptions) -> list[Source]:
    """Find the files to read, in the order given; globs and directories in sorted order.

    A file reached twice (overlapping globs, a link) is read once, because a repeated document is no new
    evidence about the corpus. A glob yields files only, never directories. A directory is searched
    recursively, hidden entries left out, for files with a known extension, or for all files when
    `options.format` is given.

    Parameters
    ----------
    specs : sequence of str or Path
        Files, glob patterns, directories, or ``-`` for standard input. A file whose name looks like a pattern
        is taken literally.
    options : ReadOptions
        How the files will be read.

    Returns
    -------
    list of Source
        At least one source.

    Raises
    ------
    CorpusError
        When something named is missing, empty of files, unreadable or not a file.
    """
    if isinstance(specs, str | Path):
        specs = [specs]
    if not specs:
        raise CorpusError(f"no input named: {_WANTED}")
    found: dict[str, Source] = {}
    for spec in specs:
        for source in _expand(os.fspath(spec), options):
            key = "-" if source.path is None else os.path.realpath(source.path)
            found.setdefault(key, source)
    return list(found.values())


def total_bytes(sources: Sequence[Source]) -> int | None:
    """Bytes on disk of all sources together.

    Parameters
    ----------
    sources : sequence of Source
        What will be read.

    Returns
    -------
    int or None
        The sum, or None when one of them is standard input or a pipe.
    """
    sizes = [source.size for source in sources if source.size is not None]
    return sum(sizes) if len(sizes) == len(sources) else None


def _format_suffix(path: Path) -> str:
    name = path.with_suffix("") if path.suffix.lower() in CODEC_BY_SUFFIX else path
    return name.suffix.lower()


def _expand(name: str, options: ReadOptions) -> list[Source]:
    if name == "-":
        return [Source("standard input", None, None)]
    if not name:
        raise CorpusError(f"got an empty file name: {_WANTED}")
    try:
        mode = Path(name).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        if not glob.has_magic(name):
            raise CorpusError(f"{shown(name)}: no such file or directory: {_WANTED}") from None
        return _expand_glob(name)
    except (OSError, ValueError) as error:
        raise CorpusError(f"{shown(name)}: {_reason(error)}: {_WANTED}") from None
    return _expand_directory(name, options) if stat.S_ISDIR(mode) else [_file_source(name)]


def _expand_glob(pattern: str) -> list[Source]:
    matches = glob.glob(pattern, recursive=True)  # noqa: PTH207  a pattern may be absolute
    files = sorted(match for match in matches if not Path(match).is_dir())
    if not files:
        found = "only directories match" if matches else "nothing matches"
        raise CorpusError(
            f"{shown(pattern)}: no file of this name, and {found} it as a pattern: wanted at least one file;"
            " ** crosses directories"
        )
    return [_file_source(name) for name in files]


def _expand_directory(directory: str, options: ReadOptions) -> list[Source]:
    files = sorted(path for path in _walk(directory) if options.format != "auto" or _has_data_suffix(path))
    if not files and options.format == "auto":
        raise CorpusError(
            f"{shown(directory)}: no data file in this directory: wanted the extensions"
            f" {' '.join(sorted(_DIRECTORY_SUFFIXES))}, also with {' '.join(CODEC_BY_SUFFIX)};"
            " name the files, or give --format to take every file"
        )
    if not files:
        raise CorpusError(f"{shown(directory)}: no file in this directory: wanted one that is not hidden")
    return [_file_source(str(path)) for path in files]


def _walk(directory: str) -> list[Path]:
    files: list[Path] = []
    seen: set[str] = set()  # linked directories are followed, so a link to a parent must not loop
    for root, directories, names in os.walk(directory, onerror=_raise_unlistable, followlinks=True):
        real = os.path.realpath(root)
        if real in seen:
            directories.clear()
            continue
        seen.add(real)
        directories[:] = sorted(name for name in directories if not name.startswith("."))
        files += [Path(root, name) for name in names if not name.startswith(".")]
    return files


def _has_data_suffix(path: Path) -> bool:
    return _format_suffix(path) in _DIRECTORY_SUFFIXES


def _raise_unlistable(error: OSError) -> None:
    raise CorpusError(f"{shown(error.filename)}: cannot list this directory: {_reason(error)}") from None


def _file_source(name: str) -> Source:
    try:
        status = Path(name).stat()
    except (OSError, ValueError) as error:
        raise CorpusError(f"{shown(name)}: {_reason(error)}: wanted a readable file") from None
    is_pipe = stat.S_ISFIFO(status.st_mode)
    if not (is_pipe or stat.S_ISREG(status.st_mode)):
        raise CorpusError(f"{shown(name)}: not a regular file: {_WANTED}")
    if not os.access(name, os.R_OK):
        raise CorpusError(f"{shown(name)}: permission denied: wanted a readable file; see its permissions")
    return Source(name, Path(name), None if is_pipe else status.st_size)


def _reason(error: OSError | ValueError) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:]
