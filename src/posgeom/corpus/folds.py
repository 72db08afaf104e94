"""Which fold a document belongs to: a hash of its text, or of its group."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def assign_folds(keys: Sequence[str], n_folds: int) -> NDArray[np.int64]:
    """Fold of each document, from its text or its group value.

    A hash makes the result independent of order, partitioning and number of workers, and keeps duplicates
    together.

    Parameters
    ----------
    keys : sequence of str
        Texts or group values.
    n_folds : int

    Returns
    -------
    ndarray of int64, shape (len(keys),)
        Folds in ``[0, n_folds)``.

    Raises
    ------
    UnicodeEncodeError
        When a key holds a lone surrogate, which no encoding of text allows.
    """
    digests = b"".join(hashlib.blake2b(key.encode(), digest_size=8).digest() for key in keys)
    # Little-endian whatever the machine, so that folds are the same everywhere.
    return (np.frombuffer(digests, "<u8") % np.uint64(n_folds)).astype(np.int64)
