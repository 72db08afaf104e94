"""The run directory: what is kept of a run, on any file system that fsspec reaches."""

import hashlib
import importlib
import importlib.util
import io
import json
import os
import socket
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from posgeom.counts.merging import add_up
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.storage import read_counts_from, write_counts_to
from posgeom.errors import CountsError, OutputError
from posgeom.messages import one_line, printable, shown

MANIFEST = "manifest.json"
LOCK = "lock"
TOKENIZER = "tokenizer.json"
_COUNTS = "partials"
_TEMPORARY = ".tmp-"
_DIGEST_KEY = b"posgeom.partial"
_FCNTL: Any = importlib.import_module("fcntl") if importlib.util.find_spec("fcntl") else None  # Windows has none


class RunDirectory:
    """Counts by key, and the files that describe a run."""

    # Every file is written under a name of its own and then moved into its place, and what it holds follows from its
    # name: of two writers of one file it does not matter which is last.

    def __init__(self, place: str | Path) -> None:
        from fsspec.core import url_to_fs
        from fsspec.implementations.dirfs import DirFileSystem
        from fsspec.implementations.local import LocalFileSystem

        if "://" in str(place):
            try:
                files, root = url_to_fs(str(place), use_listings_cache=False)
            except (ImportError, ValueError) as error:
                raise OutputError(f"run directory {shown(place)}: {one_line(error)}") from None
            self.place = str(place)
        else:  # a path is taken literally, whatever fsspec would see in it
            files, self.place = LocalFileSystem(), str(Path(place).absolute())
            root = self.place
        self._files = DirFileSystem(root, files)
        self._lock = Path(root, LOCK) if _FCNTL is not None and isinstance(files, LocalFileSystem) else None

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Make the directory, and work in it alone; remove what was made where it fails before anything is counted."""
        with self._errors():
            is_new = not self._files.exists("")
            if not is_new and not self._files.isdir(""):
                raise OutputError(f"run directory {shown(self.place)}: it is a file, expected a directory")
            self._files.makedirs("", exist_ok=True)
            names = [name for name in self._names("") if name != LOCK and not name.startswith(_TEMPORARY)]
        if names and MANIFEST not in names:
            raise OutputError(
                f"run directory {shown(self.place)}: holds {shown(min(names))} and no run:"
                " name another --run-dir, or an empty one"
            )
        with self._locked():
            try:
                yield
            except BaseException:
                with suppress(OSError):
                    if is_new and not any(name.endswith(".parquet") for name in self._names(_COUNTS)):
                        self.remove()
                raise

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep a second client out where files can be locked: two would do the work twice, with the same result."""
        if self._lock is None:
            yield
            return
        with ExitStack() as stack:
            with self._errors():
                stream = stack.enter_context(self._lock.open("a+"))
                try:
                    _FCNTL.flock(stream, _FCNTL.LOCK_EX | _FCNTL.LOCK_NB)  # ends with the process, whatever ends that
                except BlockingIOError:
                    stream.seek(0)
                    holder = printable(stream.read(200))
                    raise OutputError(
                        f"run directory {shown(self.place)}: in use by {holder}: wait for it, or name another --run-dir"
                    ) from None
                except OSError:  # this file system has no locks
                    pass
                stream.truncate(0)
                stream.write(f"process {os.getpid()} on {socket.gethostname()}")
                stream.flush()
            stack.callback(self._lock.unlink, missing_ok=True)
            yield

    def prepare(self, keep: set[str]) -> set[str]:
        """Clear away all but the counts to keep, and return the keys of those there, yet to be verified."""
        with self._errors():
            self._files.makedirs(_COUNTS, exist_ok=True)
            names = set(self._names(_COUNTS))
            kept = names & {f"{key}.parquet" for key in keep}
            left = [name for name in self._names("") if name.startswith(_TEMPORARY)]
            for name in [*left, *(f"{_COUNTS}/{name}" for name in names - kept)]:
                self._remove(name)
            return {name.removesuffix(".parquet") for name in kept}

    def read_text(self, name: str) -> str | None:
        """Read a small file; None where it is missing."""
        content = self._read(name)
        return None if content is None else content.decode("utf-8", "replace")

    def write_text(self, name: str, text: str) -> None:
        """Write a small file in one step."""
        with self._placed(name) as stream:
            stream.write(text.encode())

    def read_counts(self, key: str) -> PositionCounts | None:
        """Read counts; None where they are missing, or damaged and therefore removed."""
        content = self._read(_counts_name(key))
        if content is None:
            return None
        try:
            counts, metadata = read_counts_from(io.BytesIO(content), key)
            if json.loads(metadata[_DIGEST_KEY]) == [key, _digest(counts)]:
                return counts
        except (CountsError, LookupError, ValueError):
            pass
        self._remove(_counts_name(key))
        return None

    def write_counts(self, key: str, counts: PositionCounts) -> None:
        """Write counts in one step."""
        with self._placed(_counts_name(key)) as stream:
            write_counts_to(stream, counts, {_DIGEST_KEY: json.dumps([key, _digest(counts)]).encode()})

    def sum_counts(self, keys: Sequence[str]) -> PositionCounts:
        """The sum of counts that must be there."""
        return add_up(map(self._counts, keys))

    def _counts(self, key: str) -> PositionCounts:
        counts = self.read_counts(key)
        if counts is None:
            raise CountsError(
                f"run directory {shown(self.place)}: counts that workers wrote are missing or damaged: run again to"
                " mend it, with a --run-dir that this client and all workers reach"
            )
        return counts

    def remove(self) -> None:
        """Remove everything that belongs to the run, and the directory when nothing else is in it."""
        with suppress(OSError, OutputError):
            if self._files.exists(_COUNTS):
                self._files.rm(_COUNTS, recursive=True)
            for name in self._names(""):
                if name in (MANIFEST, LOCK, TOKENIZER) or name.startswith(_TEMPORARY):
                    self._remove(name)
            self._files.rmdir("")

    def _names(self, directory: str) -> list[str]:
        try:
            return [str(path).rstrip("/").rpartition("/")[2] for path in self._files.ls(directory, detail=False)]
        except FileNotFoundError:  # an object store has no empty directories
            return []

    def _read(self, name: str) -> bytes | None:
        with self._errors():
            try:
                content: bytes = self._files.cat_file(name)
            except FileNotFoundError:
                return None
            return content

    def _remove(self, name: str) -> None:
        with self._errors(), suppress(FileNotFoundError):
            self._files.rm_file(name)

    @contextmanager
    def _placed(self, name: str) -> Iterator[BinaryIO]:
        directory, slash, last = name.rpartition("/")
        temporary = f"{directory}{slash}{_TEMPORARY}{uuid.uuid4().hex}-{last}"
        with self._errors():
            try:
                with self._files.open(temporary, "wb") as stream:
                    yield stream
                self._files.mv(temporary, name)
            except BaseException:
                with suppress(Exception):
                    self._files.rm_file(temporary)
                raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputError(f"run directory {shown(self.place)}: {error.strerror or one_line(error)}") from None


def _counts_name(key: str) -> str:
    return f"{_COUNTS}/{key}.parquet"


def _digest(counts: PositionCounts) -> str:
    """Stands for all that is added up: the checksum, and what it leaves out."""
    beside = (counts.columns, counts.grouped_by, counts.cut_documents, counts.reading_notes)
    digest = hashlib.sha256(json.dumps([counts.checksum, *beside]).encode())
    samples = (counts.shingles, counts.copies, counts.fold_values)
    for array in (array for sample in samples if sample is not None for array in sample.arrays):
        digest.update(array.astype(array.dtype.newbyteorder("<")).data)
    return digest.hexdigest()
