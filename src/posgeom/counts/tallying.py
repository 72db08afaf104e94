"""Batches of documents in, counts out: fold, tokenise, move, add up, in threads and bounded memory."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.reading import read_sources
from posgeom.corpus.sources import Source
from posgeom.corpus.texts import Texts
from posgeom.counts.accumulator import Accumulator, Keys, key_type
from posgeom.counts.count_entries import CountEntries, sum_count_entries
from posgeom.counts.folds import document_digests, folds_of, mixed
from posgeom.counts.key_sample import KeySample, sample_keys
from posgeom.counts.null_corpora import null_tokens
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.shingles import Shingles, no_shingles, sample_shingles, shingle_length
from posgeom.errors import CountsError, TokenizerError
from posgeom.messages import shown
from posgeom.options import NullKind, ReadOptions
from posgeom.tokenize.engines.base import DocumentError, EngineError
from posgeom.tokenize.tokenizers import Tokenizer, sequence_sizes

MAX_FOLDS = 1000
MAX_NULL_REPLICATES = 1000

_PENDING_BYTES, _FEW_KEYS = 1 << 27, 1 << 20
_CHECKED_AT_FIRST = 64
_CHECKED_ONE_IN = 512


@dataclass(frozen=True, slots=True)
class CountSettings:
    """What is counted, apart from where the documents come from; see `posgeom.counts.counting.count`."""

    n_positions: int
    n_folds: int
    null_replicates: int = 0
    seed: int = 0
    grouped_by: str | None = None
    workers: int | None = None
    min_length: int | None = None
    null_kind: NullKind = "rotate"

    def check(self, tokenizer: Tokenizer) -> None:
        """Refuse sizes that cannot be counted with the ids of a tokenizer."""
        if self.n_positions < 2:
            raise CountsError(f"n = {self.n_positions}: a distance needs at least 2 positions; use a larger -n")
        if not 1 <= self.n_folds <= MAX_FOLDS:
            raise CountsError(f"{self.n_folds} folds: expected 1 to {MAX_FOLDS:,}")
        if not 0 <= self.null_replicates <= MAX_NULL_REPLICATES:
            raise CountsError(f"{self.null_replicates} null replicates: expected 0 to {MAX_NULL_REPLICATES:,}")
        if self.null_kind not in get_args(NullKind):
            raise CountsError(f"null kind {shown(self.null_kind, 60)}: expected {' or '.join(get_args(NullKind))}")
        if self.workers is not None and self.workers < 1:
            raise CountsError(f"{self.workers} workers: expected at least 1")
        if self.min_length is not None and not 1 <= self.min_length <= self.n_positions:
            raise CountsError(
                f"minimum length {self.min_length:,}: expected 1 to the context length n = {self.n_positions:,}, at "
                "which sequences are truncated"
            )
        if self.n_keys(tokenizer) >= 2**63:
            raise CountsError(
                f"{self.n_folds} folds x {self.n_positions} positions x {tokenizer.id_space} token ids do not fit in "
                "64 bits: use fewer folds or a smaller -n"
            )

    def n_keys(self, tokenizer: Tokenizer) -> int:
        """Number of possible (fold, position, token)."""
        return self.n_folds * self.n_positions * tokenizer.id_space


@dataclass(frozen=True, slots=True)
class _Work:
    """A batch on its way to a thread, with the digest of each document's text and of what decides its fold."""

    batch: DocumentBatch
    digests: NDArray[np.uint64]
    deciding: NDArray[np.uint64]
    folds: NDArray[np.int64]
    is_first: bool


@dataclass(frozen=True, slots=True)
class _Tally:
    """What one batch contributes; keys of the corpus first, then of each null replicate."""

    keys: list[Keys]
    documents: NDArray[np.int64]
    empty_documents: int
    short_documents: int
    shingles: Shingles
    copies: KeySample
    fold_values: KeySample
    column: str | None
    notes: tuple[str, ...]
    cut_documents: int | None


def count_sources(
    sources: Sequence[Source],
    options: ReadOptions,
    tokenizer: Tokenizer,
    settings: CountSettings,
    *,
    on_progress: Callable[[int], None] | None = None,
) -> PositionCounts:
    """Count the documents of sources already found; an open vocabulary needs a new tokenizer."""
    return count_batches(read_sources(sources, options, on_progress=on_progress), tokenizer, settings)


def count_batches(batches: Iterator[DocumentBatch], tokenizer: Tokenizer, settings: CountSettings) -> PositionCounts:
    """Count batches of documents, perhaps none; the seam that every way of counting goes through.

    An `EngineError` says that the tokenizer's engine proves wrong, and all is to be counted afresh on the reference.
    """
    settings.check(tokenizer)
    n_keys = settings.n_keys(tokenizer)
    n_corpora = 1 + settings.null_replicates
    capacity = max(_PENDING_BYTES // n_corpora // np.dtype(key_type(n_keys)).itemsize, _FEW_KEYS)
    accumulators = [Accumulator(n_keys, capacity) for _ in range(n_corpora)]
    documents = np.zeros(settings.n_folds, np.int64)
    empty_documents = short_documents = 0
    cut_documents: int | None = 0
    shingles = no_shingles(shingle_length(tokenizer.identity))
    copies = fold_values = sample_keys(np.empty(0, np.uint64))
    columns: dict[str, None] = {}
    notes: dict[str, None] = {}

    def hashed() -> Iterator[_Work]:
        n_before = 0
        for batch in batches:
            # Here and not in the threads: hashing short texts holds the interpreter's lock, they would fight over it.
            digests, deciding = document_digests(batch, settings.grouped_by, n_before)
            yield _Work(batch, digests, deciding, folds_of(deciding, settings.n_folds), n_before == 0)
            n_before += digests.size

    def tally(work: _Work) -> _Tally:
        # Samples that have grown meanwhile would only let the batch leave out more of its own at once.
        return _tally(work, tokenizer, settings, shingles, (copies.bound, fold_values.bound))

    n_workers = settings.workers or os.cpu_count() or 1
    for part in _in_threads(tally, hashed(), n_workers):
        for accumulator, keys in zip(accumulators, part.keys, strict=True):
            accumulator.add(keys)
        documents += part.documents
        empty_documents += part.empty_documents
        short_documents += part.short_documents
        if cut_documents is not None:
            cut_documents = None if part.cut_documents is None else cut_documents + part.cut_documents
        shingles = shingles.merge(part.shingles)
        copies, fold_values = copies.merge(part.copies), fold_values.merge(part.fold_values)
        if part.column is not None:
            columns[part.column] = None
        notes |= dict.fromkeys(part.notes)
    with ThreadPoolExecutor(min(n_workers, n_corpora)) as pool:  # sorting, in compiled code, goes on side by side
        counts, *null = pool.map(lambda accumulator: _entries(accumulator, tokenizer, settings), accumulators)
    words, vocabulary = tokenizer.vocabulary(), None
    if words is not None:
        vocabulary, number = _sorted_vocabulary(words, counts[2])
        counts, *null = [sum_count_entries(f, p, number[t], c) for f, p, t, c in (counts, *null)]
    result = PositionCounts(
        *counts,
        n_positions=settings.n_positions,
        tokenizer=tokenizer.identity,
        documents=documents,
        empty_documents=empty_documents,
        vocabulary=vocabulary,
        columns=tuple(columns),
        reading_notes=tuple(notes),
        grouped_by=settings.grouped_by,
        engines=() if tokenizer.engine is None else (tokenizer.engine,),
        engine_notes=() if tokenizer.engine_note is None else (tokenizer.engine_note,),
        min_length=settings.min_length,
        short_documents=short_documents,
        cut_documents=cut_documents,
        shingles=shingles,
        copies=copies,
        fold_values=None if settings.grouped_by in (None, "row") else fold_values,
    )
    return result.with_null(null, settings.seed, kind=settings.null_kind, check=False) if null else result


def _entries(accumulator: Accumulator, tokenizer: Tokenizer, settings: CountSettings) -> CountEntries:
    keys, counts = accumulator.result()
    # The keys are sorted: where each cell (fold, position) begins is looked up, instead of dividing every key.
    cells = np.arange(settings.n_folds * settings.n_positions)
    sizes = np.diff(np.searchsorted(keys, np.append(cells, cells.size) * tokenizer.id_space))
    fold, position = np.divmod(cells, settings.n_positions)
    keys -= np.repeat(cells * tokenizer.id_space, sizes)
    return np.repeat(fold, sizes), np.repeat(position, sizes), keys, counts


def _tally(
    work: _Work, tokenizer: Tokenizer, settings: CountSettings, so_far: Shingles, bounds: tuple[int, int]
) -> _Tally:
    batch, digests, deciding, folds = work.batch, work.digests, work.deciding, work.folds
    texts, n = batch.documents, settings.n_positions
    try:
        tokens = tokenizer.encode(texts, n)
        chosen = (digests >> np.uint64(40)) % np.uint64(_CHECKED_ONE_IN) == 0
        if work.is_first:
            chosen[:_CHECKED_AT_FIRST] = True
        tokenizer.check(texts, n, tokens, np.flatnonzero(chosen))
    except DocumentError as error:
        document = error.document if isinstance(error, EngineError) else _failing(texts, tokenizer, n)
        place = "" if document is None else f" on {shown(batch.source)}, row {batch.first_row + document}"
        if isinstance(error, EngineError):
            raise EngineError(f"{error}{place}") from None
        name = shown(tokenizer.identity.name)
        raise TokenizerError(f"tokenizer {name} fails{place}: {error}; mend the document, or use another") from None
    if settings.min_length is not None:
        is_long = sequence_sizes(tokens, tokenizer) >= settings.min_length
        tokens, digests, deciding, folds = (
            tokens.only(is_long),
            digests[is_long],
            deciding[is_long],
            folds[is_long],
        )
    kind = key_type(settings.n_keys(tokenizer))
    cells = np.repeat((folds * n).astype(kind), tokens.lengths)
    cells += tokens.positions.astype(kind)
    cells *= kind(tokenizer.id_space)
    keys: list[Keys] = [cells + tokens.tokens.astype(kind)]
    for replicate in range(settings.null_replicates):
        moved: Keys = null_tokens(
            tokens.tokens,
            tokens.lengths,
            deciding,
            kind=settings.null_kind,
            id_space=tokenizer.id_space,
            replicate=replicate,
            seed=settings.seed,
            dtype=kind,
        )
        moved += cells
        keys.append(moved)
    is_value = batch.groups is not None
    is_full = tokens.lengths > 0
    texts_in_values = (mixed(deciding.copy()) ^ digests if is_value else digests)[is_full]
    return _Tally(
        keys=keys,
        documents=np.bincount(folds, minlength=settings.n_folds).astype(np.int64),
        empty_documents=int((tokens.lengths == 0).sum()),
        short_documents=len(texts) - folds.size,
        shingles=sample_shingles(
            tokenizer.keys(tokens.tokens), tokens.lengths, folds, so_far.length, bound=so_far.bound
        ),
        copies=sample_keys(texts_in_values, bounds[0]),
        fold_values=sample_keys(deciding[is_full] if is_value else deciding[:0], bounds[1]),
        column=batch.column,
        notes=batch.notes,
        cut_documents=None if tokens.cut is None else int(tokens.cut.sum()),
    )


def _failing(texts: Texts, tokenizer: Tokenizer, n_positions: int) -> int | None:
    """Number of the first document that a tokenizer fails on when it has it alone."""
    for document in range(len(texts)):
        try:
            tokenizer.encode(texts.take(np.array([document])), n_positions)
        except DocumentError:
            return document
    return None


def _in_threads(function: Callable[[_Work], _Tally], batches: Iterator[_Work], workers: int) -> Iterator[_Tally]:
    """Apply a function to batches in threads, with no more batches in memory than are being worked on."""
    running: deque[Future[_Tally]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="posgeom-count") as pool:
        try:
            for batch in batches:
                running.append(pool.submit(function, batch))
                if len(running) > workers:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()


def _sorted_vocabulary(words: list[str], token: NDArray[np.int64]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The words that occur, sorted, and the new number of each, whatever order they arrived in."""
    order = sorted(np.unique(token).tolist(), key=words.__getitem__)
    number = np.zeros(len(words), np.int64)
    number[order] = np.arange(len(order))
    return tuple(words[i] for i in order), number
