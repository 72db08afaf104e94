"""A run of documents as UTF-8 in one buffer, so that fast code never makes an object per document."""

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

_MANY = 256
_SEED = 2
"""One whose folds of IMDB are typical: 8 significant axes, where seven seeds gave 7, 8 (four times), 9 and 11."""


class Texts(Sequence[str]):
    """Documents in order: document i is ``data[starts[i]:ends[i]]``, valid UTF-8; there may be gaps between them.

    A sequence of `str` to whoever wants one; the strings are made when first asked for, and so is the buffer
    of documents that came as strings.
    """

    def __init__(self, data: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
        self._buffer: tuple[bytes, NDArray[np.int64], NDArray[np.int64]] | None = (data, starts, ends)
        self._strings: list[str] | None = None
        self._pieces: list[bytes] | None = None

    @classmethod
    def from_strings(cls, strings: Sequence[str]) -> "Texts":
        """Documents that are strings already."""
        if isinstance(strings, Texts):
            return strings
        texts = cls.__new__(cls)
        texts._buffer = None
        texts._strings = list(strings)
        texts._pieces = None
        return texts

    @classmethod
    def from_pieces(cls, pieces: list[bytes]) -> "Texts":
        """Documents that are UTF-8 already, one object each, kept and not copied."""
        texts = cls(*_end_to_end(pieces))
        texts._pieces = pieces
        return texts

    @classmethod
    def from_arrow(cls, array: Any) -> "Texts":
        """Documents of an Arrow array of checked UTF-8, not copied one by one; a null is an empty document."""
        validity, offsets_buffer, data_buffer = array.buffers()
        wide = str(array.type).startswith("large_")
        n_stored = array.offset + len(array) + 1  # the buffer may be longer, by any number of bytes
        stored = np.frombuffer(offsets_buffer or b"\0" * 8, np.int64 if wide else np.int32, n_stored)
        offsets: NDArray[np.int64] = stored[array.offset :].astype(np.int64)
        first, last = int(offsets[0]), int(offsets[-1])
        data = b"" if data_buffer is None else data_buffer[first:last].to_pybytes()
        starts, ends = offsets[:-1] - first, offsets[1:] - first
        if array.null_count:
            bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")
            is_null = bits[array.offset : array.offset + len(array)] == 0
            ends[is_null] = starts[is_null]
        return cls(data, starts, ends)

    @classmethod
    def joined(cls, parts: Sequence["Texts"]) -> "Texts":
        """The documents of several runs in one."""
        if len(parts) == 1:
            return parts[0]
        runs = [part.contiguous() for part in parts]
        sizes = np.concatenate([np.empty(0, np.int64), *(np.diff(offsets) for _, offsets in runs)])
        ends = np.cumsum(sizes)
        return cls(b"".join(data for data, _ in runs), ends - sizes, ends)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self.strings()[index]

    def __len__(self) -> int:
        return len(self._strings) if self._strings is not None else self.utf8()[1].size

    def __iter__(self) -> Iterator[str]:
        return iter(self.strings())

    def __repr__(self) -> str:
        return f"<Texts: {len(self):,} documents>"

    def strings(self) -> list[str]:
        """Return the documents as strings."""
        if self._strings is None:
            self._strings = [piece.decode() for piece in self.pieces()]
        return self._strings

    def utf8(self) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64]]:
        """Return data, starts and ends; a lone surrogate in a string raises `UnicodeEncodeError`."""
        if self._buffer is None:
            self._pieces = [text.encode() for text in self._strings or ()]
            self._buffer = _end_to_end(self._pieces)
        return self._buffer

    def sizes(self) -> NDArray[np.int64]:
        """Return the bytes of each document, shape (n_documents,)."""
        _, starts, ends = self.utf8()
        return ends - starts

    def pieces(self) -> list[bytes]:
        """Return the documents as bytes, one object each."""
        if self._pieces is None:
            data, starts, ends = self.utf8()
            if starts.size >= _MANY and np.array_equal(starts[1:], ends[:-1]):
                self._pieces = _cut(data, np.concatenate([starts, ends[-1:]]))
            else:
                self._pieces = [data[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        return self._pieces

    def contiguous(self) -> tuple[bytes, NDArray[np.int64]]:
        """Return the documents end to end, and the n_documents + 1 offsets between them."""
        data, starts, ends = self.utf8()
        if not starts.size:
            return b"", np.zeros(1, np.int64)
        if starts[0] == 0 and ends[-1] == len(data) and np.array_equal(starts[1:], ends[:-1]):
            return data, np.concatenate([[0], ends]).astype(np.int64)
        offsets = np.concatenate([[0], np.cumsum(ends - starts)]).astype(np.int64)
        return b"".join(self.pieces()), offsets

    def take(self, documents: NDArray[np.int64]) -> "Texts":
        """Choose documents by number, sharing the buffer."""
        data, starts, ends = self.utf8()
        return Texts(data, starts[documents], ends[documents])


def _cut(data: bytes, bounds: NDArray[np.int64]) -> list[bytes]:
    """Pieces that follow each other; Arrow makes the objects three times as fast as slices do."""
    import pyarrow as pa  # here, because it is slow to load

    buffers = [None, pa.py_buffer(np.ascontiguousarray(bounds, np.int64)), pa.py_buffer(data)]
    array = pa.LargeBinaryArray.from_buffers(pa.large_binary(), bounds.size - 1, buffers)
    pieces: list[bytes] = array.to_numpy(zero_copy_only=False).tolist()
    return pieces


def _end_to_end(pieces: list[bytes]) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64]]:
    sizes = np.fromiter(map(len, pieces), np.int64, len(pieces))
    ends = np.cumsum(sizes)
    return b"".join(pieces), ends - sizes, ends


def digests_of(keys: list[bytes]) -> NDArray[np.uint64]:
    """64-bit XXH3 digest of each key, shape (n_keys,); what decides folds, so that it must never change."""
    # Hashing a short text costs what the call costs, and holds the interpreter's lock: XXH3 is made for that.
    return np.fromiter(map(xxh3_64_intdigest, keys, repeat(_SEED)), np.uint64, len(keys))
