"""Only the first tokens of a document matter: tokenise no more of it than they need."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.texts import Texts
from posgeom.tokenize.engines.base import Ragged
from posgeom.tokenize.engines.ragged import assemble, clip_rows
from posgeom.tokenize.engines.spaces import is_boundary

FIRST_GUESS = 6
"""Bytes a token, before any document was seen."""
_LEAST, _MOST = 1, 64
_ENOUGH_DOCUMENTS, _FINISHED_SHARE = 32, 0.97
_MARGIN, _LEAST_GROWTH, _GROWTH = 1.1, 1.25, 4


class Cutter:
    """Cuts documents where those seen so far had tokens enough; one that yields too few is cut again, later.

    What it has learned decides how long that takes, and never what comes out; threads may share it.
    """

    def __init__(self) -> None:
        self.bytes_per_token = float(FIRST_GUESS)

    def first_tokens(self, texts: Texts, n_tokens: int, encode: Callable[[Texts], Ragged]) -> Ragged:
        """At most the first `n_tokens` of each document, where texts may be taken apart at `is_boundary`.

        `encode` gives at least these tokens of some documents, and says how dense they are by those beyond.
        """
        numbers, pending = np.arange(len(texts)), texts
        limits = np.full(len(texts), int(self.bytes_per_token * n_tokens))
        parts: list[tuple[NDArray[np.int64], Ragged]] = []
        least_growth: float = _LEAST_GROWTH
        while True:
            short, is_cut = cut(pending, limits)
            rows = encode(short)
            used = short.sizes()
            if not parts:
                self._learn(used[is_cut], rows[0][is_cut], n_tokens)
            lengths, ids = clip_rows(rows, n_tokens)
            unfinished = is_cut & (lengths < n_tokens)
            if not unfinished.any() and not parts:
                return lengths, ids
            keep = np.repeat(~unfinished, lengths)
            parts.append((numbers[~unfinished], (lengths[~unfinished], ids[keep])))
            if not unfinished.any():
                return assemble(len(texts), parts)
            used, lengths, numbers = used[unfinished], lengths[unfinished], numbers[unfinished]
            likely = _MARGIN * n_tokens * used / np.maximum(lengths, 1)
            limits = np.clip(likely, least_growth * used, _GROWTH * used).astype(np.int64) + 1
            pending, least_growth = texts.take(numbers), _GROWTH

    def _learn(self, used: NDArray[np.int64], lengths: NDArray[np.int64], n_tokens: int) -> None:
        if used.size < _ENOUGH_DOCUMENTS:
            return
        needed = used / np.maximum(lengths, 1)
        enough = lengths >= n_tokens  # which may be all that was asked for: no more than now is needed
        needed[enough] = np.minimum(needed[enough], self.bytes_per_token)
        self.bytes_per_token = min(max(float(np.quantile(needed, _FINISHED_SHARE)), _LEAST), _MOST)


def cut(texts: Texts, limits: NDArray[np.int64]) -> tuple[Texts, NDArray[np.bool_]]:
    """Cut documents at the first boundary from their limit in bytes on, and tell which lost something."""
    data, starts, ends = texts.utf8()
    is_cut = np.zeros(starts.size, np.bool_)
    new_ends = ends
    for i in np.flatnonzero(ends - starts > limits):
        place = _boundary(data, int(starts[i]) + max(int(limits[i]), 1), int(ends[i]))
        if place is not None:
            if new_ends is ends:
                new_ends = ends.copy()
            new_ends[i] = place
            is_cut[i] = True
    return (Texts(data, starts, new_ends), is_cut) if new_ends is not ends else (texts, is_cut)


def _boundary(data: bytes, start: int, end: int) -> int | None:
    place = data.find(b" ", start, end)
    while place >= 0:
        if is_boundary(data, place):
            return place
        place = data.find(b" ", place + 1, end)
    return None
