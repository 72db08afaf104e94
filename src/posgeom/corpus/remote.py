"""Files behind a URL, through fsspec: found, listed and opened, every failure one line without secrets."""

import glob
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from posgeom.corpus.failures import remote_failure
from posgeom.corpus.filesystems import open_filesystem, set_tries
from posgeom.corpus.urls import public_name, scheme_of
from posgeom.errors import CorpusError
from posgeom.messages import shown

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

NOT_DATA = (".", "_")
"""How names in a directory begin that are no data: hidden ones, and what Spark and Hadoop leave beside theirs."""
_BLOCK_BYTES = 4 * 1024 * 1024
_CACHED_BLOCKS = 8
_TRIES = 2
_IDENTITY = ("size", "ETag", "etag", "mtime", "LastModified", "Last-Modified", "last_modified", "generation")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file on a filesystem of fsspec, by the URL that tells the filesystem and its path there.

    Both may hold credentials and are never shown.
    """

    spec: str = field(repr=False)
    path: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A remote file, with a name to be shown, its bytes where they are known, and a key that all URLs of it share."""

    name: str
    remote: RemoteFile
    size: int | None
    key: str


@dataclass(frozen=True, slots=True)
class Listing:
    """What a URL turned out to be, and the files, in sorted order; of a directory all but hidden ones, and its path."""

    kind: Literal["file", "directory", "pattern"]
    files: list[ListedFile]
    root: str = ""


def find_remote(spec: str) -> Listing:
    """Find what a URL names: one file, all files of a directory, or those, if any, that match a pattern."""
    filesystem, path = open_filesystem(spec)
    set_tries(filesystem, 1)  # an address that does not answer now is more often wrong than busy
    has_magic = glob.has_magic(path) and scheme_of(spec) not in {"http", "https"}
    with _failures(spec):
        filesystem.invalidate_cache()  # a listing of an earlier call would hide what has changed since
        try:
            info = filesystem.info(path)
        except FileNotFoundError:
            if not has_magic:
                raise
            return Listing("pattern", _matches(filesystem, path, spec))
        if info["type"] == "directory":
            root = info["name"].rstrip("/")
            return Listing("directory", _tree(filesystem, root, spec), root)
    if info.get("mimetype") == "text/html":
        raise CorpusError(
            f"{shown(public_name(spec))}: the server sends a web page: expected the address of the file itself;"
            " look for a link that says raw or download"
        )
    return Listing("file", [_listed_file(filesystem, info, spec, public_name(spec), path)])


def remote_version(file: RemoteFile) -> str:
    """What tells whether a remote file is still the one it was: size, entity tag, time of change, where known."""
    filesystem, _ = open_filesystem(file.spec)
    with _failures(file.spec):
        filesystem.invalidate_cache()
        return json.dumps(_identity(filesystem, file.path))


def _identity(filesystem: Any, path: str) -> dict[str, str]:
    info = filesystem.info(path)
    return {key: str(info[key]) for key in _IDENTITY if info.get(key) is not None}


def read_small(file: RemoteFile) -> bytes:
    """Read a small file whole."""
    filesystem, _ = open_filesystem(file.spec)
    with _failures(file.spec):
        return bytes(filesystem.cat_file(file.path))


class RemoteStream(io.RawIOBase):
    """A remote file as a binary stream whose failures are `CorpusError`, a shortened file among them.

    A seekable one reads blocks at any place, which Parquet needs, instead of from beginning to end.
    """

    def __init__(self, file: RemoteFile, size: int | None, *, seekable: bool = False) -> None:
        self._file = file
        self._size = size
        self._seekable = seekable
        self._filesystem, _ = open_filesystem(file.spec)
        set_tries(self._filesystem, _TRIES)
        with self._failures():
            self._before = _identity(self._filesystem, self._file.path)
            self._inner = self._filesystem.open(file.path, "rb", **self._settings())

    def readable(self) -> bool:
        """Tell `io.BufferedReader` that this can be read."""
        return True

    def seekable(self) -> bool:
        """Tell whether this can be read at any place."""
        return self._seekable

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a place in the file."""
        with self._failures():
            return int(self._inner.seek(offset, whence))

    def tell(self) -> int:
        """Tell the place in the file."""
        return int(self._inner.tell())

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Read into a buffer, as `io.RawIOBase` wants it."""
        view = memoryview(buffer).cast("B")
        with self._failures():
            chunk = self._inner.read(len(view))
        if not chunk and view.nbytes:
            self._check_end()
        view[: len(chunk)] = chunk
        return len(chunk)

    def check_unchanged(self) -> None:
        """Refuse a file that is another one than when it was opened, since what was read may be a mixture."""
        with self._failures():
            self._filesystem.invalidate_cache()
            now = _identity(self._filesystem, self._file.path)
        if now != self._before:
            raise self._changed("it changed while it was read")

    def close(self) -> None:
        """Close the file; what goes wrong there is of no interest any more."""
        if not self.closed:
            with suppress(Exception):
                self._inner.close()
        super().close()

    def _settings(self) -> dict[str, Any]:
        if self._seekable:
            return {
                "block_size": _BLOCK_BYTES,
                "cache_type": "blockcache",
                "cache_options": {"maxblocks": _CACHED_BLOCKS},
            }
        if scheme_of(self._file.spec) in {"http", "https"}:
            # One request for the whole file: ranges are not for every server. Bytes as stored, not as compressed
            # on the way, so that the size is that of the file.
            return {"block_size": 0, "headers": {"Accept-Encoding": "identity"}}
        return {"block_size": _BLOCK_BYTES, "cache_type": "readahead"}

    def _check_end(self) -> None:
        place = self.tell()
        if self._size is not None and place != self._size:
            raise self._changed(f"ended after {place:,} bytes of {self._size:,}")

    def _changed(self, what: str) -> CorpusError:
        return CorpusError(f"{shown(self._name)}: {what}: expected a file that stays as it is; read it again")

    @property
    def _name(self) -> str:
        return _name(self._filesystem, self._file.path, self._file.spec)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except CorpusError:
            raise
        except Exception as error:  # noqa: BLE001  each filesystem raises what its client library does
            raise remote_failure(error, self._file.spec, self._name) from None


def _matches(filesystem: Any, pattern: str, spec: str) -> list[ListedFile]:
    hidden_too = re.search(r"(^|/)\.", pattern) is not None
    infos = filesystem.glob(pattern, detail=True)
    return _listed(filesystem, [info for path, info in infos.items() if hidden_too or not _has_part(path, ".")], spec)


def _tree(filesystem: Any, root: str, spec: str) -> list[ListedFile]:
    infos = filesystem.find(root, detail=True)
    return _listed(
        filesystem, [i for path, i in infos.items() if not _has_part(path.removeprefix(root), NOT_DATA)], spec
    )


def _listed(filesystem: Any, infos: list[dict[str, Any]], spec: str) -> list[ListedFile]:
    # An object store's empty object "directory/" stands for the directory itself.
    files = [info for info in infos if info["type"] == "file" and not info["name"].endswith("/")]
    return [
        _listed_file(filesystem, info, spec, _name(filesystem, info["name"], spec))
        for info in sorted(files, key=lambda info: str(info["name"]))
    ]


def _listed_file(filesystem: Any, info: dict[str, Any], spec: str, name: str, path: str | None = None) -> ListedFile:
    path = info["name"] if path is None else path
    size = info.get("size")
    return ListedFile(name, RemoteFile(spec, path), None if size is None else int(size), _url(filesystem, path, spec))


def _has_part(path: str, start: str | tuple[str, ...]) -> bool:
    return any(part.startswith(start) for part in path.split("/"))


def _name(filesystem: Any, path: str, spec: str) -> str:
    return public_name(_url(filesystem, path, spec))


def _url(filesystem: Any, path: str, spec: str) -> str:
    return "::".join([filesystem.unstrip_protocol(path), *spec.split("::")[1:]])


@contextmanager
def _failures(spec: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001  each filesystem raises what its client library does
        raise remote_failure(error, spec, public_name(spec)) from None
