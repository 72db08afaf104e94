"""Group documents into batches of bounded size."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from posgeom.corpus import documents
from posgeom.corpus.documents import DocumentBatch, ReadOptions
from posgeom.corpus.sources import Source
from posgeom.corpus.texts import Texts

Row = tuple[int, str, str | None]
"""A document on its way into a batch: 1-based place in the source, text, group."""


def regrouped(batches: Iterable[DocumentBatch], options: ReadOptions) -> Iterator[DocumentBatch]:
    """Put small batches of one source together, bounded in documents and bytes: a file may hold its rows one by one."""
    waiting: list[DocumentBatch] = []
    n_documents = n_bytes = 0
    for batch in batches:
        _, starts, ends = batch.documents.utf8()
        size = int((ends - starts).sum())
        too_many = n_documents + starts.size > options.batch_size
        if waiting and (too_many or n_bytes + size > documents.MAX_BATCH_CHARACTERS):
            yield _joined(waiting)
            waiting, n_documents, n_bytes = [], 0, 0
        waiting.append(batch)
        n_documents += starts.size
        n_bytes += size
    if waiting:
        yield _joined(waiting)


def _joined(batches: list[DocumentBatch]) -> DocumentBatch:
    groups = None if batches[0].groups is None else [group for batch in batches for group in batch.groups or ()]
    return replace(batches[0], documents=Texts.joined([batch.documents for batch in batches]), groups=groups)


def batched(
    rows: Iterable[Row], source: Source, options: ReadOptions, column: str | None = None
) -> Iterator[DocumentBatch]:
    """Collect rows into batches, bounded by documents and, unless it is a single one, by `MAX_BATCH_CHARACTERS`."""
    texts: list[str] = []
    groups: list[str] = []
    first_row, n_characters = 1, 0

    def batch() -> DocumentBatch:
        kept = groups if options.fold_column is not None else None
        return DocumentBatch(Texts.from_strings(texts), kept, source.name, first_row, column)

    for row, text, group in rows:
        if texts and (len(texts) >= options.batch_size or n_characters + len(text) > documents.MAX_BATCH_CHARACTERS):
            yield batch()
            texts, groups, n_characters = [], [], 0
        if not texts:
            first_row = row
        texts.append(text)
        n_characters += len(text)
        if group is not None:
            groups.append(group)
    if texts:
        yield batch()
