"""From what the user names (files, globs, directories, ``-``, URLs, datasets) to the list of sources to read."""

import difflib
import glob
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath

from posgeom.corpus.datasets import PREFIX, DatasetName, parse_dataset, saved_shards
from posgeom.corpus.file_parts import FilePart
from posgeom.corpus.remote import NOT_DATA, ListedFile, RemoteFile, find_remote, read_small
from posgeom.corpus.urls import is_url, local_path, public_name, scheme_of
from posgeom.errors import CorpusError
from posgeom.messages import shown
from posgeom.options import Format, ReadOptions

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
    ".arrow": "arrow",
    ".fa": "fasta",
    ".fasta": "fasta",
    ".fas": "fasta",
    ".mfa": "fasta",
    ".ffn": "fasta",
    ".fna": "fasta",
    ".faa": "fasta",
    ".afa": "fasta",
    ".a2m": "a2m",
    ".a3m": "a2m",
    ".fastq": "fastq",
    ".fq": "fastq",
    ".sto": "stockholm",
    ".stk": "stockholm",
    ".stockholm": "stockholm",
    ".aln": "clustal",
    ".clustal": "clustal",
    ".conllu": "conllu",
}
"""The format a file name's extension stands for, where the first bytes do not tell another."""

CODEC_BY_SUFFIX = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
"""The compression a file name's last extension stands for."""

# A .json file is more often a configuration than a corpus: it is read only when named.
_DIRECTORY_SUFFIXES = FORMAT_BY_SUFFIX.keys() - {".json"}

_EXPECTED = "expected a file, a quoted glob pattern, a directory, a URL, hf:NAME, or - for standard input"


@dataclass(frozen=True, slots=True)
class Source:
    """One thing to read: a local file, a file behind a URL, a dataset, or, with none of these, standard input.

    `name` is for messages, without credentials. `size` is in bytes as stored, None where it cannot be known. `part` is
    what to read of a file, None for all of it.
    """

    name: str
    path: Path | None
    size: int | None
    remote: RemoteFile | None = None
    dataset: DatasetName | None = None
    part: FilePart | None = None

    @property
    def is_stdin(self) -> bool:
        """Whether this is standard input."""
        return self.path is None and self.remote is None and self.dataset is None

    @property
    def is_pipe(self) -> bool:
        """Whether this can be read only once, and not from its end."""
        return self.is_stdin or (self.path is not None and self.size is None)

    @property
    def is_one_request(self) -> bool:
        """Whether text comes from a server as one stream, since not every web server sends parts of a file."""
        return self.remote is not None and scheme_of(self.remote.spec) in {"http", "https"}

    @property
    def codec(self) -> str | None:
        """Compression by the last extension of the name, None for an uncompressed file."""
        return CODEC_BY_SUFFIX.get(self._named.suffix.lower())

    @property
    def suffix(self) -> str:
        """Lower-case extension that tells the format, the one before a compression's; empty without one."""
        return _format_suffix(self._named)

    @property
    def _named(self) -> PurePath:
        if self.remote is not None:
            return PurePosixPath(self.remote.path.partition("?")[0])
        return self.path or PurePosixPath()


def resolve_sources(specs: Sequence[str | Path], options: ReadOptions) -> list[Source]:
    """Find the files to read, in the order given; globs and directories in sorted order, local or behind a URL.

    A file reached twice (overlapping globs, a link) is read once, because a repeated document is no new
    evidence about the corpus. A glob yields files only, never directories. A directory is searched
    recursively for files with a known extension, or for all files when `options.format` is given, names that start
    with a dot or an underscore left out; one that ``save_to_disk`` of Hugging Face's datasets wrote is its Arrow
    files.
    """
    if isinstance(specs, str | Path):
        specs = [specs]
    if not specs:
        raise CorpusError(f"no input named: {_EXPECTED}")
    sources: dict[str, Source] = {}
    for spec in specs:
        for key, source in _expand(os.fspath(spec), options):
            sources.setdefault(key, source)
    return list(sources.values())


def total_bytes(sources: Sequence[Source]) -> int | None:
    """Bytes as stored of all sources together, None when one of them cannot tell."""
    sizes = [source.size for source in sources if source.size is not None]
    return sum(sizes) if len(sizes) == len(sources) else None


def _format_suffix(path: PurePath) -> str:
    name = path.with_suffix("") if path.suffix.lower() in CODEC_BY_SUFFIX else path
    return name.suffix.lower()


Keyed = tuple[str, Source]
"""A source with what it has in common with every other name for the same thing."""


def _expand(name: str, options: ReadOptions) -> list[Keyed]:
    if name == "-":
        return [("-", Source("standard input", None, None))]
    if not name:
        raise CorpusError(f"got an empty file name: {_EXPECTED}")
    if is_url(name):
        path = local_path(name)
        return _expand_url(name, options) if path is None else _expand(path, options)
    try:
        mode = Path(name).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        if name.startswith(PREFIX):
            return _expand_dataset(name)
        if not glob.has_magic(name):
            raise CorpusError(f"{shown(name)}: no such file or directory: {_EXPECTED}{_hint(name)}") from None
        return _expand_glob(name)
    except (OSError, ValueError) as error:
        raise CorpusError(f"{shown(name)}: {_reason(error)}: {_EXPECTED}") from None
    return _expand_directory(name, options) if stat.S_ISDIR(mode) else [_file_source(name)]


def _expand_glob(pattern: str) -> list[Keyed]:
    matches = glob.glob(pattern, recursive=True)  # noqa: PTH207  a pattern may be absolute
    files = sorted(match for match in matches if not Path(match).is_dir())
    if not files:
        raise _no_match(pattern, "only directories match" if matches else "nothing matches")
    return [_file_source(name) for name in files]


def _expand_directory(directory: str, options: ReadOptions) -> list[Keyed]:
    shards = _saved_in(directory, None, directory)
    if shards is not None:
        return shards
    files = sorted(path for path in _walk(directory) if options.format != "auto" or _has_data_suffix(path))
    if not files:
        raise _no_data(directory, options)
    return [_file_source(str(path)) for path in files]


def _expand_url(url: str, options: ReadOptions) -> list[Keyed]:
    listing = find_remote(url)
    sources = [_remote_source(file) for file in listing.files]
    if listing.kind == "pattern" and not sources:
        raise _no_match(public_name(url), "no file matches")
    if listing.kind != "directory":
        return sources
    inside = {file.remote.path.removeprefix(listing.root).lstrip("/"): file for file in listing.files}

    def read(name: str) -> bytes | None:
        return read_small(inside[name].remote) if name in inside else None

    shards = saved_shards(read, None, public_name(url))
    if shards is not None:
        missing = next((shard for shard in shards if shard not in inside), None)
        if missing is not None:
            raise CorpusError(
                f"{shown(public_name(url))}: no {shown(missing)} in it: expected all its files; copy it again"
            )
        return [_remote_source(inside[shard]) for shard in shards]
    if options.format == "auto":
        sources = [(key, source) for key, source in sources if source.suffix in _DIRECTORY_SUFFIXES]
    if not sources:
        raise _no_data(public_name(url), options)
    return sources


def _expand_dataset(name: str) -> list[Keyed]:
    dataset = parse_dataset(name)
    if Path(dataset.path).is_dir():
        shards = _saved_in(dataset.path, dataset.split or dataset.config, name)
        if shards is not None and dataset.config is not None and dataset.split is not None:
            raise CorpusError(f"{shown(name)}: a saved dataset has no configs: expected {PREFIX}DIR[:split]")
        if shards is not None:
            return shards
    return [(name, Source(name, None, None, dataset=dataset))]


def _saved_in(directory: str, split: str | None, name: str) -> list[Keyed] | None:
    """The sources of a local directory that ``save_to_disk`` wrote, None for another directory."""

    def read(file: str) -> bytes | None:
        path = Path(directory, file)
        try:
            return path.read_bytes() if path.is_file() else None
        except OSError as error:
            raise CorpusError(f"{shown(path)}: {_reason(error)}: expected a readable file") from None

    shards = saved_shards(read, split, name)
    return None if shards is None else [_file_source(str(Path(directory, shard))) for shard in shards]


def _remote_source(file: ListedFile) -> Keyed:
    return file.key, Source(file.name, None, file.size, remote=file.remote)


def _no_match(pattern: str, matched: str) -> CorpusError:
    return CorpusError(
        f"{shown(pattern)}: no file of this name, and {matched} it as a pattern: expected at least one file;"
        " ** crosses directories"
    )


def _no_data(directory: str, options: ReadOptions) -> CorpusError:
    if options.format == "auto":
        return CorpusError(
            f"{shown(directory)}: no data file in this directory: expected the extensions"
            f" {' '.join(sorted(_DIRECTORY_SUFFIXES))}, also with {' '.join(CODEC_BY_SUFFIX)};"
            " name the files, or give --format to take every file"
        )
    return CorpusError(
        f"{shown(directory)}: no file in this directory: expected one whose name does not start with . or _"
    )


def _hint(name: str) -> str:
    """What may be meant: Path("s3://bucket/key") has lost a slash, and a misspelt name is near another."""
    scheme, colon, rest = name.partition(":/")
    if colon and scheme.isalnum() and len(scheme) > 1 and rest:
        return "; write a URL as a string, not a Path"
    path = Path(name)
    try:
        beside = [one.name for one in path.parent.iterdir()]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, beside, n=1)
    return f"; did you mean {shown(path.with_name(near[0]))}?" if near and near[0] != path.name else ""


def _walk(directory: str) -> list[Path]:
    files: list[Path] = []
    seen: set[str] = set()  # linked directories are followed, so a link to a parent must not loop
    for root, directories, names in os.walk(directory, onerror=_raise_unlistable, followlinks=True):
        real = os.path.realpath(root)
        if real in seen:
            directories.clear()
            continue
        seen.add(real)
        directories[:] = sorted(name for name in directories if not name.startswith(NOT_DATA))
        files += [Path(root, name) for name in names if not name.startswith(NOT_DATA)]
    return files


def _has_data_suffix(path: Path) -> bool:
    return _format_suffix(path) in _DIRECTORY_SUFFIXES


def _raise_unlistable(error: OSError) -> None:
    raise CorpusError(f"{shown(error.filename)}: cannot list this directory: {_reason(error)}") from None


def _file_source(name: str) -> Keyed:
    try:
        status = Path(name).stat()
    except (OSError, ValueError) as error:
        raise CorpusError(f"{shown(name)}: {_reason(error)}: expected a readable file") from None
    is_pipe = stat.S_ISFIFO(status.st_mode)
    if not (is_pipe or stat.S_ISREG(status.st_mode)):
        raise CorpusError(f"{shown(name)}: not a regular file: {_EXPECTED}")
    if not os.access(name, os.R_OK):
        raise CorpusError(f"{shown(name)}: permission denied: expected a readable file; see its permissions")
    return os.path.realpath(name), Source(name, Path(name), None if is_pipe else status.st_size)


def _reason(error: OSError | ValueError) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:]
