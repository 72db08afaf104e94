"""Shingles: a small sample of the runs of tokens in documents, and whether documents of several folds hold them.

The sample is of the shingles with the smallest hashes (bottom-k sampling), so that it is the same whatever the order
of the documents, batches, threads and partitions, and samples of parts add up to the sample of the whole.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import CountsError
from posgeom.tokenize.tokenizers import TokenizerIdentity

SAMPLE_SIZE = 1024
"""Distinct shingles that are kept."""
SEVERAL = -1
"""Stands for the fold of a shingle that documents of several folds hold."""

_TOKENS, _CHARACTERS, _FEW_TOKENS = 12, 48, 1000
_BASE, _INCREMENT, _ODD = 0x915F77F5, 0x632BE5AB, 0x9E3779B1
_INVERSE = pow(_BASE, -1, 1 << 32)
_WIDE_BASE, _WIDE_ODD = 0xD1342543DE82EF95, 0xBF58476D1CE4E5B9
_ALL = 2**64 - 1
_TOKENS_AT_ONCE = 1 << 16  # what is worked on stays in the processor's cache
_TRIED_AT_FIRST = 8 * SAMPLE_SIZE


def shingle_length(identity: TokenizerIdentity) -> int:
    """How many tokens make a shingle: too many to meet again by chance, or as a phrase that everyone uses.

    12 words or parts of words, or 48 characters, bytes, or tokens of a vocabulary below 1,000.
    """
    is_small = identity.vocab_size is not None and identity.vocab_size < _FEW_TOKENS
    return _CHARACTERS if is_small or identity.kind == "chars" else _TOKENS


@dataclass(frozen=True, eq=False)
class Shingles:
    """The shingles with the smallest hashes, at most `SAMPLE_SIZE` and increasing, of `length` tokens each.

    With the number of documents that hold each, and the fold these are in, or `SEVERAL`.
    """

    length: int
    hashes: NDArray[np.uint64]
    documents: NDArray[np.int64]
    folds: NDArray[np.int64]

    def __post_init__(self) -> None:
        if not 0 <= self.hashes.size == self.documents.size == self.folds.size <= SAMPLE_SIZE or self.length < 1:
            raise CountsError("the sample of shingles has arrays of several lengths, or too long ones")
        if (self.hashes[1:] <= self.hashes[:-1]).any() or (self.documents < 1).any() or (self.folds < SEVERAL).any():
            raise CountsError("the sample of shingles is not sorted, or holds numbers that are too small")

    def __repr__(self) -> str:
        return f"<Shingles: {self.hashes.size:,} of {self.length} tokens>"

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All numbers in it."""
        return self.hashes, self.documents, self.folds

    @property
    def is_full(self) -> bool:
        """Whether there may be more shingles than these."""
        return self.hashes.size == SAMPLE_SIZE

    @property
    def bound(self) -> int:
        """Largest hash that can still be part of the sample."""
        return int(self.hashes[-1]) if self.is_full else _ALL

    def merge(self, *others: "Shingles") -> "Shingles":
        """The sample of several sets of documents together."""
        parts = (self, *others)
        hashes = np.concatenate([part.hashes for part in parts])
        order = np.argsort(hashes, kind="stable")
        hashes = hashes[order]
        documents = np.concatenate([part.documents for part in parts])[order]
        folds = np.concatenate([part.folds for part in parts])[order]
        return _summed(self.length, hashes, documents, folds)


def no_shingles(length: int) -> Shingles:
    """The sample of no documents."""
    return Shingles(length, np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.int64))


def sample_shingles(
    keys: NDArray[np.uint64],
    lengths: NDArray[np.int64],
    folds: NDArray[np.int64],
    length: int,
    bound: int = _ALL,
) -> Shingles:
    """The sample of some documents: a number for each token that is the same everywhere, end to end, and their lengths.

    Shingles with a hash above `bound` are left out: a sample that is full already has no place for them.
    """
    if keys.size < length:
        return no_shingles(length)
    ends = np.cumsum(lengths)
    # Before there is a full sample much is below the bound; the smallest hashes alone usually fill one.
    tried = min(bound, _ALL * _TRIED_AT_FIRST // keys.size)
    while True:
        shingles = _sampled(*_small_hashes(keys, length, tried), ends, folds, length)
        if shingles.is_full or tried == bound:
            return shingles
        tried = min(bound, 8 * tried)


def _small_hashes(keys: NDArray[np.uint64], length: int, bound: int) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Where shingles with a hash up to a bound start, whatever documents they lie in, and their hashes."""
    places, highs = [], []
    for start in range(0, keys.size - length + 1, _TOKENS_AT_ONCE):
        high = _high_bits(keys[start : start + _TOKENS_AT_ONCE + length - 1], length)
        some = np.flatnonzero(high <= np.uint32(bound >> 32))
        places.append(some + start)
        highs.append(high[some])
    place = np.concatenate(places)
    # Only the few that may be small enough need all their bits.
    hashes = (np.concatenate(highs).astype(np.uint64) << np.uint64(32)) | _low_bits(keys, place, length)
    small = hashes <= np.uint64(bound)
    return place[small], hashes[small]


def _sampled(
    places: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    ends: NDArray[np.int64],
    folds: NDArray[np.int64],
    length: int,
) -> Shingles:
    document = np.searchsorted(ends, places, side="right")
    inside = places + length <= ends[document]
    hashes, document = hashes[inside], document[inside]
    order = np.lexsort((document, hashes))
    hashes, document = hashes[order], document[order]
    first = np.ones(hashes.size, np.bool_)  # of its document, which may hold a shingle several times
    first[1:] = (hashes[1:] != hashes[:-1]) | (document[1:] != document[:-1])
    hashes, document = hashes[first], document[first]
    return _summed(length, hashes, np.ones(hashes.size, np.int64), folds[document])


@lru_cache(maxsize=2)
def _powers(base: int) -> NDArray[np.uint32]:
    powers = np.full(_TOKENS_AT_ONCE + _CHARACTERS, base, np.uint32)
    powers[0] = 1
    return np.multiply.accumulate(powers, dtype=np.uint32)


def _high_bits(keys: NDArray[np.uint64], length: int) -> NDArray[np.uint32]:
    """Hash of the shingle that starts at each token, from 32 bits of its tokens: a polynomial modulo 2^32, mixed."""
    # A difference of running sums of key x base^place, times base^-place; narrow, so that all of it is vectorised.
    n_places = keys.size - length + 1
    terms = keys.astype(np.uint32)
    terms *= _powers(_BASE)[: keys.size]
    sums = np.zeros(keys.size + 1, np.uint32)
    np.add.accumulate(terms, out=sums[1:])
    hashes = np.subtract(sums[length:], sums[:n_places], out=terms[:n_places])
    hashes *= _powers(_INVERSE)[:n_places]
    hashes += np.uint32(_INCREMENT)
    hashes *= np.uint32(_ODD)
    hashes ^= np.right_shift(hashes, np.uint32(16), out=sums[:n_places])
    hashes *= np.uint32(_ODD)
    return hashes


def _low_bits(keys: NDArray[np.uint64], places: NDArray[np.int64], length: int) -> NDArray[np.uint64]:
    """Another 32 bits of the hash of the shingles at some places, from all bits of their tokens."""
    total = np.zeros(places.size, np.uint64)
    for i in range(length):
        total *= np.uint64(_WIDE_BASE)
        total += keys[places + i]
    return np.asarray((total * np.uint64(_WIDE_ODD)) >> np.uint64(32))


def _summed(
    length: int, hashes: NDArray[np.uint64], documents: NDArray[np.int64], folds: NDArray[np.int64]
) -> Shingles:
    """Add up what is sorted by hash, and keep the smallest hashes."""
    if not hashes.size:
        return no_shingles(length)
    starts = np.concatenate([[0], np.flatnonzero(hashes[1:] != hashes[:-1]) + 1])
    low, high = np.minimum.reduceat(folds, starts), np.maximum.reduceat(folds, starts)
    kept = slice(SAMPLE_SIZE)
    return Shingles(
        length,
        hashes[starts][kept],
        np.add.reduceat(documents, starts)[kept],
        np.where(low == high, low, SEVERAL)[kept],
    )
