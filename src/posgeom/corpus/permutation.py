"""The null corpus: tokens permuted inside each document; lengths and frequencies stay, and position means nothing.

The permutation of a document is drawn from a hash of its text, the seed and the replicate, so that it does not depend
on order, partitioning or number of workers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_RANDOM_BITS, _TOKEN_BITS = 32, 18
_DOCUMENTS_AT_ONCE = 1 << (64 - _RANDOM_BITS - _TOKEN_BITS)
_TOKENS_AT_ONCE = 1 << 15  # what is worked on stays in the processor's cache
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def permute_in_documents(
    tokens: NDArray[np.int64],
    lengths: NDArray[np.int64],
    digests: NDArray[np.uint64],
    *,
    id_space: int,
    replicate: int,
    seed: int,
    dtype: type[np.integer[Any]] = np.int64,
) -> NDArray[Any]:
    """Tokens in a random order inside each document.

    Every order is equally likely, but for ties of 32-bit random numbers (once in 2^32 pairs).

    Parameters
    ----------
    tokens : ndarray of int64, shape (sum of lengths,)
        Documents end to end.
    lengths : ndarray of int64, shape (n_documents,)
    digests : ndarray of uint64, shape (n_documents,)
        Hash of each document's text; equal documents are permuted alike.
    id_space : int
        Upper bound of the ids.
    replicate, seed : int
        Which of many independent permutations.
    dtype : type
        Of the result; the ids fit in it.

    Returns
    -------
    ndarray, shape (sum of lengths,)
    """
    stream = _mix(np.array([seed % 2**64], np.uint64) * _GOLDEN + np.uint64(replicate))
    seeds = _mix(digests ^ stream)
    out = np.empty(tokens.size, dtype)  # narrow at once, while a part is in the cache
    ends = np.cumsum(lengths)
    first = start = 0
    while first < lengths.size:
        last = max(first + 1, int(np.searchsorted(ends, start + _TOKENS_AT_ONCE, side="right")))
        last = min(last, first + _DOCUMENTS_AT_ONCE)
        end = int(ends[last - 1])
        some = slice(first, last)
        out[start:end] = _permuted(tokens[start:end], lengths[some], seeds[some], id_space)
        first, start = last, end
    return out


def _permuted(
    tokens: NDArray[np.int64], lengths: NDArray[np.int64], seeds: NDArray[np.uint64], id_space: int
) -> NDArray[np.int64]:
    # The generator of each document, SplitMix64 from its seed, at the place of each token; in place, since what this
    # costs is memory traffic.
    starts = (np.cumsum(lengths) - lengths).astype(np.uint64)
    order = np.arange(tokens.size, dtype=np.uint64)
    order *= _GOLDEN
    order += np.repeat(seeds - starts * _GOLDEN, lengths)
    order = _mix(order)
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


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of SplitMix64 (Steele, Lea and Flood 2014), modulo 2^64; overwrites `x`."""
    shifted = np.empty_like(x)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x ^= np.right_shift(x, np.uint64(shift), out=shifted)
        x *= np.uint64(factor)
    x ^= np.right_shift(x, np.uint64(31), out=shifted)
    return x
