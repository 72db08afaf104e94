"""The null corpus: tokens permuted inside each document; lengths and frequencies stay, and position means nothing.

The permutation of a document is drawn from a hash of its text, the seed and the replicate, so that it does not depend
on order, partitioning or number of workers.
"""

import numpy as np
from numpy.typing import NDArray

_RANDOM_BITS, _TOKEN_BITS = 32, 18
_DOCUMENTS_AT_ONCE = 1 << (64 - _RANDOM_BITS - _TOKEN_BITS)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def permute_in_documents(
    tokens: NDArray[np.int64],
    lengths: NDArray[np.int64],
    digests: NDArray[np.uint64],
    *,
    id_space: int,
    replicate: int,
    seed: int,
) -> NDArray[np.int64]:
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

    Returns
    -------
    ndarray of int64, shape (sum of lengths,)
    """
    stream = _mix(np.array([seed % 2**64], np.uint64) * _GOLDEN + np.uint64(replicate))
    out = np.empty_like(tokens)
    ends = np.cumsum(lengths)
    for first in range(0, lengths.size, _DOCUMENTS_AT_ONCE):
        some = slice(first, first + _DOCUMENTS_AT_ONCE)
        start, end = int(ends[first] - lengths[first]), int(ends[some][-1])
        out[start:end] = _permuted(tokens[start:end], lengths[some], digests[some] ^ stream, id_space)
    return out


def _permuted(
    tokens: NDArray[np.int64], lengths: NDArray[np.int64], seeds: NDArray[np.uint64], id_space: int
) -> NDArray[np.int64]:
    starts = np.cumsum(lengths) - lengths
    places = np.arange(tokens.size, dtype=np.uint64) - np.repeat(starts, lengths).astype(np.uint64)
    drawn = _mix(np.repeat(seeds, lengths) + places * _GOLDEN) >> np.uint64(64 - _RANDOM_BITS)
    document = np.repeat(np.arange(lengths.size, dtype=np.uint64), lengths)
    if id_space > 1 << _TOKEN_BITS:
        return tokens[np.argsort(document << np.uint64(_RANDOM_BITS) | drawn, kind="stable")]
    # The token rides in the low bits: sorting numbers is several times as fast as sorting an index.
    packed = (document << np.uint64(_RANDOM_BITS) | drawn) << np.uint64(_TOKEN_BITS) | tokens.astype(np.uint64)
    packed.sort()
    return (packed & np.uint64((1 << _TOKEN_BITS) - 1)).astype(np.int64)


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of SplitMix64 (Steele, Lea and Flood 2014), modulo 2^64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
