"""A cache of the ids of text chunks between spaces: the ids come from the reference, once for each distinct chunk."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.texts import Texts
from posgeom.tokenize.engines.base import Engine, Ragged
from posgeom.tokenize.engines.ragged import places_in_rows
from posgeom.tokenize.engines.reference import Reference
from posgeom.tokenize.engines.spaces import boundaries

MAX_ENTRIES = 400_000
MAX_ITEMS = 16_000_000
"""Bytes of chunks, and ids, that are held at most; then the cache starts afresh."""


class ChunkCache(Engine):
    """The reference, asked once for each distinct chunk; for tokenizers of which `comes_apart_before_spaces` holds.

    `find_boundaries` gives the offsets at which UTF-8 may be taken apart; `prepended` goes before every document that
    is not empty.
    """

    def __init__(
        self,
        reference: Reference,
        find_boundaries: Callable[[bytes], NDArray[np.int64]] = boundaries,
        prepended: bytes = b"",
    ) -> None:
        self._prepended = prepended
        self._find_boundaries = find_boundaries
        self.name = f"chunks, {reference.name}"
        self._reference = reference
        self._table = _Table(0)
        self._lock = threading.Lock()

    def encode(self, texts: Texts, n_tokens: int) -> Ragged:
        """Look up every chunk, and put the ids together."""
        import pyarrow as pa

        if self._prepended:
            texts = Texts.from_pieces([self._prepended + piece if piece else piece for piece in texts.pieces()])
        data, offsets = texts.contiguous()
        if not data:
            return np.zeros(len(texts), np.int64), np.empty(0, np.int64)
        is_bound = np.zeros(len(data) + 1, np.bool_)
        is_bound[self._find_boundaries(data)] = True
        is_bound[offsets] = True
        bounds = np.flatnonzero(is_bound)
        chunks = pa.LargeBinaryArray.from_buffers(
            pa.large_binary(), bounds.size - 1, [None, pa.py_buffer(bounds), pa.py_buffer(data)]
        ).dictionary_encode()
        starts, sizes, ids = self._lookup(chunks.dictionary.to_pylist(), n_tokens)
        which = chunks.indices.to_numpy()
        chunk_sizes = sizes[which]
        tokens = ids[np.repeat(starts[which], chunk_sizes) + places_in_rows(chunk_sizes)]
        before = np.concatenate([[0], np.cumsum(chunk_sizes)])
        return np.diff(before[np.searchsorted(bounds, offsets)]), tokens

    def _lookup(
        self, chunks: list[bytes], n_tokens: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Starts and sizes of the chunks' ids, shape (n_chunks,), and the array they point into."""
        with self._lock:
            if self._table.n_tokens != n_tokens or self._table.is_full:
                self._table = _Table(n_tokens)
            table = self._table
        rows = list(map(table.rows.get, chunks))
        if None in rows:
            missing = [chunk for chunk, row in zip(chunks, rows, strict=True) if row is None]
            # Outside the lock: another thread may ask for the same chunk, and gets the same ids.
            new = self._reference.encode(Texts.from_strings([chunk.decode() for chunk in missing]), n_tokens)
            with self._lock:
                table.add(missing, new)
            rows = list(map(table.rows.get, chunks))
        places = np.array(rows, np.int64)
        with self._lock:
            return table.starts.values[places], table.sizes.values[places], table.ids.values


class _Table:
    """Chunks, and where their ids are."""

    def __init__(self, n_tokens: int) -> None:
        self.n_tokens = n_tokens
        self.rows: dict[bytes, int] = {}
        self.starts, self.sizes, self.ids = _Growing(), _Growing(), _Growing()
        self._n_bytes = 0

    @property
    def is_full(self) -> bool:
        return len(self.rows) > MAX_ENTRIES or self._n_bytes + self.ids.size > MAX_ITEMS

    def add(self, chunks: list[bytes], rows: Ragged) -> None:
        lengths, ids = rows
        self.starts.extend(self.ids.size + np.cumsum(lengths) - lengths)
        self.sizes.extend(lengths)
        self.ids.extend(ids)
        for row, chunk in enumerate(chunks, self.sizes.size - len(chunks)):
            self.rows[chunk] = row  # a chunk that two threads added has two rows of equal ids
        self._n_bytes += sum(map(len, chunks))


class _Growing:
    """An int64 array that grows at its end; what was handed out stays valid."""

    def __init__(self) -> None:
        self.size = 0
        self._space: NDArray[Any] = np.empty(1024, np.int64)

    @property
    def values(self) -> NDArray[np.int64]:
        return self._space[: self.size]

    def extend(self, values: NDArray[np.int64]) -> None:
        end = self.size + values.size
        if end > self._space.size:
            grown = np.empty(2 * end, np.int64)
            grown[: self.size] = self.values
            self._space = grown
        self._space[self.size : end] = values
        self.size = end
