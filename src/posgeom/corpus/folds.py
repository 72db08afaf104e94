"""Which fold a document belongs to: a hash of its text, or of its group."""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.texts import Texts

_new_blake2b_8 = blake2b(digest_size=8).copy  # a copy is made faster than another one is set up


def text_digests(texts: Texts) -> NDArray[np.uint64]:
    """64-bit BLAKE2b digest of each document's UTF-8.

    Parameters
    ----------
    texts : Texts

    Returns
    -------
    ndarray of uint64, shape (n_documents,)

    Raises
    ------
    UnicodeEncodeError
        When a document holds a lone surrogate, which no encoding of text allows.
    """
    return digests_of(texts.pieces())


def group_digests(groups: Iterable[str]) -> NDArray[np.uint64]:
    """64-bit BLAKE2b digest of each group's name; the same as that of an equal text.

    Parameters
    ----------
    groups : iterable of str

    Returns
    -------
    ndarray of uint64, shape (n_documents,)

    Raises
    ------
    UnicodeEncodeError
        As in `text_digests`.
    """
    return digests_of([group.encode() for group in groups])


def folds_of(digests: NDArray[np.uint64], n_folds: int) -> NDArray[np.int64]:
    """Fold of each document.

    A hash makes the result independent of order, partitioning and number of workers, and keeps duplicates
    together.

    Parameters
    ----------
    digests : ndarray of uint64, shape (n_documents,)
        Of texts or groups.
    n_folds : int

    Returns
    -------
    ndarray of int64, shape (n_documents,)
        Folds in ``[0, n_folds)``.
    """
    return (digests % np.uint64(n_folds)).astype(np.int64)


def digests_of(keys: list[bytes]) -> NDArray[np.uint64]:
    """64-bit BLAKE2b digest of each key.

    Parameters
    ----------
    keys : list of bytes

    Returns
    -------
    ndarray of uint64, shape (n_keys,)
    """
    joined = b"".join(map(_digest, keys))
    # Little-endian whatever the machine, so that folds are the same everywhere.
    return np.frombuffer(joined, "<u8").astype(np.uint64)


def _digest(key: bytes) -> bytes:
    state = _new_blake2b_8()
    state.update(key)
    return state.digest()
