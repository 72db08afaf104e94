"""The contract of the corpus readers: the batches that documents travel in, and their limits."""

from dataclasses import dataclass

from posgeom.corpus.texts import Texts

MAX_DOCUMENT_BYTES = 256 * 1024 * 1024
"""A longer document is refused, so that memory stays bounded whatever the file holds."""

MAX_BATCH_CHARACTERS = 2 * 1024 * 1024
"""A batch of several documents holds no more characters than this; a longer document travels alone."""

COUNTS_KEY = b"posgeom.counts"
"""Metadata key that tells a Parquet file of counts from one of documents."""


@dataclass(frozen=True, slots=True)
class DocumentBatch:
    """Consecutive documents of one source, empty ones included, and the values that decide folds if a column does.

    `first_row` is the 1-based place of the first: the row of a Parquet file, the line of any other. `column` is the
    name of the text column, or its 1-based number without a header; None for formats without columns. `format` is
    what the source was read as, None for documents in memory and datasets, and `notes` say what a reader of the counts
    should know of that.
    """

    documents: Texts
    groups: list[str] | None
    source: str
    first_row: int
    column: str | None = None
    format: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def texts(self) -> list[str]:
        """The documents as strings."""
        return self.documents.strings()
