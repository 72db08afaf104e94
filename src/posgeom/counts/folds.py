"""Which fold a document belongs to: a hash of its text, of the value of a column, or of its row."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.texts import Texts, digests_of

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""The step of SplitMix64, whose output function is `mixed`."""


def text_digests(texts: Texts) -> NDArray[np.uint64]:
    """64-bit digest of each document's UTF-8; a lone surrogate, which no encoding allows, is a `UnicodeEncodeError`."""
    return digests_of(texts.pieces())


def group_digests(groups: Iterable[str]) -> NDArray[np.uint64]:
    """64-bit digest of each value of the column that decides folds; the same as that of an equal text."""
    return digests_of([group.encode() for group in groups])


def row_digests(first: int, n_documents: int) -> NDArray[np.uint64]:
    """Digests of consecutive documents by their number in the corpus, from `first` on, no two of them equal."""
    rows = np.arange(first, first + n_documents, dtype=np.uint64)
    rows *= GOLDEN
    return mixed(rows)


def mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of SplitMix64 (Steele, Lea and Flood 2014), modulo 2^64; overwrites `x`."""
    shifted = np.empty_like(x)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x ^= np.right_shift(x, np.uint64(shift), out=shifted)
        x *= np.uint64(factor)
    x ^= np.right_shift(x, np.uint64(31), out=shifted)
    return x


def folds_of(digests: NDArray[np.uint64], n_folds: int) -> NDArray[np.int64]:
    """Fold of each document, from the digest of what decides it: order, partitions and workers have no part in it."""
    return (digests % np.uint64(n_folds)).astype(np.int64)
