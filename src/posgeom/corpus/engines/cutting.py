"""Only the first tokens of a document matter: tokenise no more of it than they need."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.engines.base import Ragged
from posgeom.corpus.engines.ragged import assemble, clip_rows
from posgeom.corpus.engines.spaces import is_boundary
from posgeom.corpus.texts import Texts

BYTES_PER_TOKEN = 6
"""First guess; a document that yields too few tokens is cut again, later."""
_GROWTH = 4


def first_tokens(texts: Texts, n_tokens: int, encode: Callable[[Texts], Ragged]) -> Ragged:
    """The first tokens of each document, where texts may be taken apart at `is_boundary`.

    Parameters
    ----------
    texts : Texts
    n_tokens : int
        Tokens wanted of each document.
    encode : callable
        Gives all tokens of some documents.

    Returns
    -------
    Ragged
        At most `n_tokens` ids for each document.
    """
    pending: NDArray[np.int64] | None = None
    parts = []
    n_bytes = BYTES_PER_TOKEN * n_tokens
    while True:
        short, is_cut = cut(texts if pending is None else texts.take(pending), n_bytes)
        lengths, ids = clip_rows(encode(short), n_tokens)
        unfinished = is_cut & (lengths < n_tokens)
        if pending is None and not unfinished.any():
            return lengths, ids
        numbers = np.arange(len(texts)) if pending is None else pending
        keep = np.repeat(~unfinished, lengths)
        parts.append((numbers[~unfinished], (lengths[~unfinished], ids[keep])))
        if not unfinished.any():
            return assemble(len(texts), parts)
        pending = numbers[unfinished]
        n_bytes *= _GROWTH


def cut(texts: Texts, n_bytes: int) -> tuple[Texts, NDArray[np.bool_]]:
    """Shorten the documents longer than `n_bytes`, at the first boundary from there on.

    Parameters
    ----------
    texts : Texts
    n_bytes : int

    Returns
    -------
    texts : Texts
        The same number of documents.
    is_cut : ndarray of bool, shape (n_documents,)
        Those that lost something.
    """
    data, starts, ends = texts.utf8()
    is_cut = np.zeros(starts.size, np.bool_)
    new_ends = ends
    for i in np.flatnonzero(ends - starts > n_bytes):
        place = _boundary(data, int(starts[i]) + max(n_bytes, 1), int(ends[i]))
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
