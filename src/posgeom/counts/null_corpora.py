"""Null corpora: tokens moved inside each document, so that lengths and frequencies stay and position means nothing.

How a document's tokens move is decided by a hash of what decides its fold, the seed and the replicate: it depends on
neither order, partitioning nor number of workers, and copies that share a fold move together, as they must if the null
corpus is to have as few independent documents as the corpus has.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.counts.folds import GOLDEN, mixed
from posgeom.options import NullKind

_RANDOM_BITS, _TOKEN_BITS = 32, 18
_DOCUMENTS_AT_ONCE = 1 << (64 - _RANDOM_BITS - _TOKEN_BITS)
_TOKENS_AT_ONCE = 1 << 15  # what is worked on stays in the processor's cache


def null_tokens(
    tokens: NDArray[np.int64],
    lengths: NDArray[np.int64],
    digests: NDArray[np.uint64],
    *,
    kind: NullKind,
    id_space: int,
    replicate: int,
    seed: int,
    dtype: type[np.integer[Any]] = np.int64,
) -> NDArray[Any]:
    """Tokens of one null corpus, shape (sum of lengths,): each document's own in a random order, or rotated.

    Every order is equally likely, but for ties of 32-bit random numbers (once in 2^32 pairs); so is every offset from 0
    to the length less 1, to 53 bits. Documents of one length and digest, that of what decides their fold, move alike.
    """
    stream = mixed(np.array([seed % 2**64], np.uint64) * GOLDEN + np.uint64(replicate))
    seeds = mixed(digests ^ stream)
    out = np.empty(tokens.size, dtype)  # narrow at once, while a part is in the cache
    ends = np.cumsum(lengths)
    first = start = 0
    while first < lengths.size:
        last = max(first + 1, int(np.searchsorted(ends, start + _TOKENS_AT_ONCE, side="right")))
        last = min(last, first + _DOCUMENTS_AT_ONCE)
        end = int(ends[last - 1])
        some = slice(first, last)
        if kind == "rotate":
            out[start:end] = _rotated(tokens[start:end], lengths[some], seeds[some])
        else:
            out[start:end] = _permuted(tokens[start:end], lengths[some], seeds[some], id_space)
        first, start = last, end
    return out


def _rotated(tokens: NDArray[np.int64], lengths: NDArray[np.int64], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
    # Below the length: the largest fraction is 2^-53 short of 1, and a double next to the length less than that away.
    offsets = ((seeds >> np.uint64(11)) * 2.0**-53 * lengths).astype(np.int64)
    # Each document in two runs, from its offset to its end and from its start to its offset, each read from elsewhere.
    runs, shifts = np.empty((2, lengths.size, 2), np.int64)
    runs[:, 0], runs[:, 1] = lengths - offsets, offsets
    shifts[:, 0], shifts[:, 1] = offsets, offsets - lengths
    places = np.repeat(shifts.ravel(), runs.ravel())
    places += np.arange(tokens.size)
    return tokens[places]


def _permuted(
    tokens: NDArray[np.int64], lengths: NDArray[np.int64], seeds: NDArray[np.uint64], id_space: int
) -> NDArray[np.int64]:
    # The generator of each document, SplitMix64 from its seed, at the place of each token; in place, since what this
    # costs is memory traffic.
    starts = (np.cumsum(lengths) - lengths).astype(np.uint64)
    order = np.arange(tokens.size, dtype=np.uint64)
    order *= GOLDEN
    order += np.repeat(seeds - starts * GOLDEN, lengths)
    order = mixed(order)
    order >>= np.uint64(64 - _RANDOM_BITS)
    documents = np.arange(lengths.size, dtype=np.uint64)
    if id_space > 1 << _TOKEN_BITS:
        order |= np.repeat(documents << np.uint64(_RANDOM_BITS), lengths)
        return tokens[np.argsort(order, kind="stable")]
    # The token rides in the low bits: sorting numbers is several times as fast as sorting an index.
    order <<= np.uint64(_TOKEN_BITS)
    order |= np.repeat(documents << np.uint64(_RANDOM_BITS + _TOKEN_BITS), lengths)
    order |= tokens.view(np.uint64)
    order.sort()
    order &= np.uint64((1 << _TOKEN_BITS) - 1)
    return order.view(np.int64)
