"""Which fold a document belongs to: a hash of its text, of the value of a column, or of its row."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.texts import Texts, digests_of
from posgeom.errors import CorpusError

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


def document_digests(
    batch: DocumentBatch, grouped_by: str | None, n_before: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Digest of each document's text, and of what decides its fold."""
    try:
        digests = text_digests(batch.documents)
        if grouped_by == "row":
            return digests, row_digests(n_before, digests.size)
        return digests, digests if batch.groups is None else group_digests(batch.groups)
    except (UnicodeEncodeError, AttributeError):
        texts = batch.texts
        for row, (text, group) in enumerate(zip(texts, batch.groups or texts, strict=True), batch.first_row):
            _check_text(text, batch.source, row)
            _check_text(group, batch.source, row)
        raise


def _check_text(text: object, source: str, row: int) -> None:
    if not isinstance(text, str):
        way_out = "token ids go to count_ids"
        if isinstance(text, dict):
            way_out = "name its key with column="
        elif isinstance(text, bytes):
            way_out = "decode it first"
        raise CorpusError(f"{source!r}, row {row}: got {type(text).__name__}, expected text; {way_out}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise CorpusError(f"{source!r}, row {row}: lone surrogate, which is not valid Unicode text") from None
