"""The run directory: what is kept of a run, on any file system that fsspec reaches."""

import hashlib
import io
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.storage import read_counts_from, write_counts_to
from posgeom.errors import CountsError, OutputError
from posgeom.messages import one_line, shown

MANIFEST = "manifest.json"
LOCK = "lock.json"
TOKENIZER = "tokenizer.json"
_PARTIALS = "partials"
_MERGED = "merged"
_TEMPORARY = ".tmp-"
_DIGEST_KEY = b"posgeom.partial"


class RunDirectory:
    """Partial counts by key, and the files that describe a run.

    Every file is written under a name of its own and then moved into its place, and what it holds follows from its
    name: of two writers of one file it does not matter which is last.
    """

    def __init__(self, place: str | Path) -> None:
        from fsspec.core import url_to_fs
        from fsspec.implementations.local import LocalFileSystem

        if "://" in str(place):
            try:
                self._fs, self._root = url_to_fs(str(place), use_listings_cache=False)
            except (ImportError, ValueError) as error:
                raise OutputError(f"run directory {shown(place)}: {one_line(error)}") from None
            self.place = str(place)
        else:  # a path is taken literally, whatever fsspec would see in it
            self._fs, self._root = LocalFileSystem(), str(Path(place).absolute())
            self.place = self._root

    def create(self) -> bool:
        """Make the directory, and tell whether it was missing; refuse one that holds something else."""
        with self._errors():
            missing = not self._fs.exists(self._root)
            if not missing and not self._fs.isdir(self._root):
                raise OutputError(f"run directory {shown(self.place)}: it is a file, expected a directory")
            self._fs.makedirs(self._root, exist_ok=True)
            names = set(self._names(self._root)) - {LOCK}
            foreign = sorted(name for name in names if not name.startswith(_TEMPORARY))
            if foreign and MANIFEST not in names:
                raise OutputError(
                    f"run directory {shown(self.place)}: holds {shown(foreign[0])} and no run:"
                    " name another --run-dir, or an empty one"
                )
        return missing

    def prepare(self, keep: set[str]) -> set[str]:
        """Clear away all but the partial counts to keep, and return the keys of those there, yet to be verified."""
        with self._errors():
            for part in (_PARTIALS, _MERGED):
                self._fs.makedirs(f"{self._root}/{part}", exist_ok=True)
            present = set()
            for name in self._names(self._root):
                if name.startswith(_TEMPORARY):
                    self._remove(f"{self._root}/{name}")
            for name in self._names(f"{self._root}/{_PARTIALS}"):
                key = name.removesuffix(".parquet")
                if key in keep:
                    present.add(key)
                else:
                    self._remove(f"{self._root}/{_PARTIALS}/{name}")
            return present

    def read_text(self, name: str) -> str | None:
        """Read a small file; None where it is missing."""
        with self._errors():
            try:
                content: bytes = self._fs.cat_file(f"{self._root}/{name}")
            except FileNotFoundError:
                return None
            return content.decode("utf-8", "replace")

    def write_text(self, name: str, text: str) -> None:
        """Write a small file in one step."""
        with self._placed(f"{self._root}/{name}") as stream:
            stream.write(text.encode())

    def remove_file(self, name: str) -> None:
        """Remove a small file, if it is there."""
        self._remove(f"{self._root}/{name}")

    def read_counts(self, key: str, *, merged: bool = False) -> PositionCounts | None:
        """Read partial counts, or a sum of them; None where they are missing, or damaged and therefore removed."""
        path = self._path(key, merged)
        with self._errors():
            try:
                content = self._fs.cat_file(path)
            except FileNotFoundError:
                return None
        try:
            counts, metadata = read_counts_from(io.BytesIO(content), key)
            stored = json.loads(metadata[_DIGEST_KEY])
        except (CountsError, LookupError, ValueError):
            stored, counts = None, None
        if counts is None or stored != [key, _digest(counts)]:
            self._remove(path)
            return None
        return counts

    def write_counts(self, key: str, counts: PositionCounts, *, merged: bool = False) -> None:
        """Write partial counts, or a sum of them, in one step."""
        with self._placed(self._path(key, merged)) as stream:
            write_counts_to(stream, counts, {_DIGEST_KEY: json.dumps([key, _digest(counts)]).encode()})

    def clear_merged(self) -> None:
        """Remove the sums on the way to the result, which are made again in no time."""
        with self._errors():
            for name in self._names(f"{self._root}/{_MERGED}"):
                self._remove(f"{self._root}/{_MERGED}/{name}")

    def remove_unless_counted(self) -> None:
        """Remove everything where no counts were made, so that a run that failed at once leaves nothing."""
        with suppress(OutputError):
            if not any(name.endswith(".parquet") for name in self._names(f"{self._root}/{_PARTIALS}")):
                self.remove()

    def remove(self) -> None:
        """Remove everything that belongs to the run, and the directory when nothing else is in it."""
        with suppress(OSError, OutputError):
            for part in (_PARTIALS, _MERGED):
                if self._fs.exists(f"{self._root}/{part}"):
                    self._fs.rm(f"{self._root}/{part}", recursive=True)
            for name in self._names(self._root):
                if name in (MANIFEST, LOCK, TOKENIZER) or name.startswith(_TEMPORARY):
                    self._remove(f"{self._root}/{name}")
            self._fs.rmdir(self._root)

    def _path(self, key: str, merged: bool) -> str:
        return f"{self._root}/{_MERGED if merged else _PARTIALS}/{key}.parquet"

    def _names(self, directory: str) -> list[str]:
        try:
            return [str(path).rstrip("/").rpartition("/")[2] for path in self._fs.ls(directory, detail=False)]
        except FileNotFoundError:  # an object store has no empty directories
            return []

    def _remove(self, path: str) -> None:
        with self._errors(), suppress(FileNotFoundError):
            self._fs.rm_file(path)

    @contextmanager
    def _placed(self, path: str) -> Iterator[BinaryIO]:
        directory, _, name = path.rpartition("/")
        temporary = f"{directory}/{_TEMPORARY}{uuid.uuid4().hex}-{name}"
        with self._errors():
            try:
                with self._fs.open(temporary, "wb") as stream:
                    yield stream
                self._fs.mv(temporary, path)
            except BaseException:
                with suppress(Exception):
                    self._fs.rm_file(temporary)
                raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputError(f"run directory {shown(self.place)}: {error.strerror or one_line(error)}") from None


def _digest(counts: PositionCounts) -> str:
    """Stands for all that is added up: the checksum, and what it leaves out."""
    digest = hashlib.sha256(json.dumps([counts.checksum, counts.columns, counts.grouped_by]).encode())
    samples = (counts.shingles, counts.copies, counts.fold_values)
    for array in (array for sample in samples if sample is not None for array in sample.arrays):
        digest.update(array.astype(array.dtype.newbyteorder("<")).data)
    return digest.hexdigest()
