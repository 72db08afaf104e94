"""Counting: documents in, `PositionCounts` out, in one pass and bounded memory."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.accumulator import Accumulator
from posgeom.corpus.counts import Entries, PositionCounts, sum_entries
from posgeom.corpus.documents import DocumentBatch, ReadOptions
from posgeom.corpus.engines.base import EngineError
from posgeom.corpus.folds import folds_of, group_digests, text_digests
from posgeom.corpus.permutation import permute_in_documents
from posgeom.corpus.reading import read_sources
from posgeom.corpus.sources import FORMAT_BY_SUFFIX, Source, resolve_sources, total_bytes
from posgeom.corpus.texts import Texts
from posgeom.corpus.tokenizer_files import TokenizerSpec, load_tokenizer
from posgeom.corpus.tokenizers import Tokenizer
from posgeom.errors import CorpusError, CountsError
from posgeom.messages import shown
from posgeom.progress import ProgressHook, silent

DEFAULT_N_POSITIONS = 128
DEFAULT_N_FOLDS = 10
MAX_FOLDS = 1000
MAX_NULL_REPLICATES = 1000

_CHECKED_AT_FIRST = 64
_CHECKED_ONE_IN = 256


@dataclass(frozen=True, slots=True)
class CountSettings:
    """What is counted, apart from where the documents come from.

    Attributes
    ----------
    n_positions, n_folds : int
        Context length and folds.
    null_replicates : int
        Null corpora to count beside the corpus: tokens permuted inside each document.
    seed : int
        Of these permutations.
    grouped_by : str or None
        Column that decides the folds.
    workers : int or None
        Threads; one per core by default.
    """

    n_positions: int
    n_folds: int
    null_replicates: int = 0
    seed: int = 0
    grouped_by: str | None = None
    workers: int | None = None

    def check(self, tokenizer: Tokenizer) -> None:
        """Refuse sizes that cannot be counted.

        Parameters
        ----------
        tokenizer : Tokenizer
            Its ids are part of the keys.

        Raises
        ------
        CountsError
        """
        if self.n_positions < 2:
            raise CountsError(f"n = {self.n_positions}: a distance needs at least 2 positions; use a larger -n")
        if not 1 <= self.n_folds <= MAX_FOLDS:
            raise CountsError(f"{self.n_folds} folds: expected 1 to {MAX_FOLDS:,}")
        if not 0 <= self.null_replicates <= MAX_NULL_REPLICATES:
            raise CountsError(f"{self.null_replicates} null replicates: expected 0 to {MAX_NULL_REPLICATES:,}")
        if self.workers is not None and self.workers < 1:
            raise CountsError(f"{self.workers} workers: expected at least 1")
        if self.n_keys(tokenizer) >= 2**63:
            raise CountsError(
                f"{self.n_folds} folds x {self.n_positions} positions x {tokenizer.id_space} token ids do not fit in "
                "64 bits: use fewer folds or a smaller -n"
            )

    def n_keys(self, tokenizer: Tokenizer) -> int:
        """Number of possible (fold, position, token)."""
        return self.n_folds * self.n_positions * tokenizer.id_space


@dataclass(frozen=True, slots=True)
class _Tally:
    """What one batch contributes; keys of the corpus first, then of each null replicate."""

    keys: list[NDArray[np.int64]]
    documents: NDArray[np.int64]
    empty_documents: int
    column: str | None


def count(
    corpus: str | Path | Sequence[str | Path],
    tokenizer: TokenizerSpec | None = None,
    *,
    n_positions: int = DEFAULT_N_POSITIONS,
    n_folds: int = DEFAULT_N_FOLDS,
    column: str | int | None = None,
    group: str | int | None = None,
    options: ReadOptions | None = None,
    tokenizer_engine: str = "auto",
    null_replicates: int = 0,
    seed: int = 0,
    workers: int | None = None,
    progress: ProgressHook = silent,
) -> PositionCounts:
    """Count tokens by (fold, position, token) over a corpus on disk.

    Sequences are tokenised with special tokens and truncated to `n_positions`; special tokens keep their
    positions and are not counted (method of *On the Geometry of Positional Encodings in Transformers*, Section 6).

    Parameters
    ----------
    corpus : str, Path or sequence of these
        Files, globs, directories, or ``"-"`` for standard input.
    tokenizer : str, Path, Tokenizer or object, optional
        See `load_tokenizer`. By default ``"chars"`` for FASTA files and ``"whitespace"`` for all else.
    n_positions : int
        Context length n, at least 2.
    n_folds : int
        Folds for cross-validation. A document's fold is a hash of its text, or of its group.
    column, group : str or int, optional
        Text column, and the column whose values keep documents together in a fold; as in `options`.
    options : ReadOptions, optional
        Columns, format, and how to treat invalid UTF-8.
    tokenizer_engine : str
        What computes the ids, see `load_tokenizer`. Whatever is chosen, the ids are those of the `tokenizers`
        library: a sample of the documents is compared, and any difference starts the counting afresh with that
        library, which the result then says.
    null_replicates : int
        Null corpora to count in the same pass: the tokens of each document permuted over its own positions.
    seed : int
        Of these permutations.
    workers : int, optional
        Threads that tokenise; the result does not depend on it. By default one per core.
    progress : callable
        Called as ``progress("counting", bytes_read, total_bytes)``.

    Returns
    -------
    PositionCounts

    Raises
    ------
    CorpusError
        When the corpus cannot be read, or has no content.
    TokenizerError
        When the tokenizer cannot be loaded or applied.
    """
    options = options or ReadOptions()
    options = replace(
        options,
        column=options.column if column is None else str(column),
        group=options.group if group is None else str(group),
    )
    specs = [corpus] if isinstance(corpus, str | Path) else list(corpus)
    sources = resolve_sources(specs, options)
    spec = _default_tokenizer(sources, options) if tokenizer is None else tokenizer
    loaded = load_tokenizer(spec, tokenizer_engine)
    settings = CountSettings(n_positions, n_folds, null_replicates, seed, options.group, workers)
    total = total_bytes(sources)

    def report(done: int) -> None:
        progress("counting", done, total)

    def read() -> Iterator[DocumentBatch]:
        return read_sources(sources, options, on_progress=report)

    names = tuple(str(s) for s in specs)
    can_restart = all(source.size is not None for source in sources)
    return count_batches(read, loaded, settings, names, can_restart=can_restart)


def _default_tokenizer(sources: Sequence[Source], options: ReadOptions) -> str:
    formats = {FORMAT_BY_SUFFIX.get(s.suffix) if options.format == "auto" else options.format for s in sources}
    return "chars" if formats == {"fasta"} else "whitespace"


def count_texts(
    texts: Iterable[str],
    tokenizer: TokenizerSpec = "whitespace",
    *,
    groups: Iterable[str] | None = None,
    n_positions: int = DEFAULT_N_POSITIONS,
    n_folds: int = DEFAULT_N_FOLDS,
    tokenizer_engine: str = "auto",
    null_replicates: int = 0,
    seed: int = 0,
    workers: int | None = None,
    batch_size: int = 4000,
    source: str = "texts",
) -> PositionCounts:
    """Count tokens by (fold, position, token) over documents in memory.

    Parameters
    ----------
    texts : iterable of str
        Documents; consumed in batches, so that a generator need not fit in memory.
    tokenizer : str, Path, Tokenizer or object
        See `load_tokenizer`.
    groups : iterable of str, optional
        One value per document; documents that share it share a fold.
    n_positions, n_folds, tokenizer_engine, null_replicates, seed, workers
        As in `count`. An iterator cannot be started afresh: a difference between engines is then an error.
    batch_size : int
        Documents per batch; the result does not depend on it.
    source : str
        What to call the corpus in results and messages.

    Returns
    -------
    PositionCounts

    Raises
    ------
    CorpusError
        When there are no documents, or none with content, or `groups` is not as long as `texts`.
    TokenizerError
        When the tokenizer cannot be loaded or applied.
    """
    if isinstance(texts, str):
        raise CorpusError("texts is one string, expected an iterable of documents; use count(...) for a file name")
    if batch_size < 1:
        raise CorpusError(f"batch size {batch_size}: expected at least 1")
    grouped_by = None if groups is None else "groups"
    settings = CountSettings(n_positions, n_folds, null_replicates, seed, grouped_by, workers)

    def read() -> Iterator[DocumentBatch]:
        return _batched(texts, groups, batch_size, source)

    can_restart = isinstance(texts, Sequence) and (groups is None or isinstance(groups, Sequence))
    loaded = load_tokenizer(tokenizer, tokenizer_engine)
    return count_batches(read, loaded, settings, (source,), can_restart=can_restart)


def _batched(
    texts: Iterable[str], groups: Iterable[str] | None, batch_size: int, source: str
) -> Iterator[DocumentBatch]:
    documents = iter(texts)
    values = None if groups is None else iter(groups)
    row = 1
    while batch := list(islice(documents, batch_size)):
        keys = None if values is None else list(islice(values, len(batch)))
        if keys is not None and len(keys) != len(batch):
            raise CorpusError(f"groups ends before document {row + len(keys)}: expected one value per document")
        yield DocumentBatch(Texts.from_strings(batch), keys, source, row)
        row += len(batch)
    if values is not None and next(values, None) is not None:
        raise CorpusError(f"groups has more than the {row - 1} values that match the documents")


def count_batches(
    read: Callable[[], Iterator[DocumentBatch]],
    tokenizer: Tokenizer,
    settings: CountSettings,
    sources: tuple[str, ...],
    *,
    can_restart: bool,
    allow_empty: bool = False,
) -> PositionCounts:
    """Count batches of documents; the seam that every way of counting goes through.

    Parameters
    ----------
    read : callable
        Starts reading.
    tokenizer : Tokenizer
    settings : CountSettings
    sources : tuple of str
        What the documents come from, for the result.
    can_restart : bool
        Whether `read` may be called again, which happens when a tokenizer engine proves wrong.
    allow_empty : bool
        Whether there may be nothing to count, as in a part of a corpus.

    Returns
    -------
    PositionCounts

    Raises
    ------
    CorpusError
        When the corpus cannot be read, or has no content.
    TokenizerError
        When the tokenizer fails, or its engine proves wrong and `can_restart` is false.
    """
    settings.check(tokenizer)
    try:
        counts = _count_once(read(), tokenizer, settings, sources)
    except EngineError as error:
        if not can_restart:
            raise EngineError(
                f"{error}, and this input cannot be read twice: use --tokenizer-engine reference"
            ) from None
        counts = _count_once(read(), tokenizer.on_reference(f"{error}; counted again"), settings, sources)
    if not allow_empty:
        _check_content(counts)
    return counts


def _check_content(counts: PositionCounts) -> None:
    named = ", ".join(counts.sources[:3]) + (" ..." if len(counts.sources) > 3 else "")
    if not counts.n_documents:
        raise CorpusError(f"no documents in {named}: expected at least one")
    if not counts.count.size:
        raise CorpusError(f"all {counts.n_documents:,} documents in {named} are empty: nothing to count")


def _count_once(
    batches: Iterator[DocumentBatch], tokenizer: Tokenizer, settings: CountSettings, sources: tuple[str, ...]
) -> PositionCounts:
    n_keys = settings.n_keys(tokenizer)
    accumulators = [Accumulator(n_keys) for _ in range(1 + settings.null_replicates)]
    documents = np.zeros(settings.n_folds, np.int64)
    empty_documents = 0
    columns: dict[str, None] = {}

    def tally(numbered: tuple[int, DocumentBatch]) -> _Tally:
        return _tally(numbered[1], tokenizer, settings, is_first=numbered[0] == 0)

    for part in _in_threads(tally, enumerate(batches), settings.workers or os.cpu_count() or 1):
        for accumulator, keys in zip(accumulators, part.keys, strict=True):
            accumulator.add(keys)
        documents += part.documents
        empty_documents += part.empty_documents
        if part.column is not None:
            columns[part.column] = None
    counts, *null = [_entries(accumulator, tokenizer, settings) for accumulator in accumulators]
    words, vocabulary = tokenizer.vocabulary(), None
    if words is not None:
        vocabulary, number = _sorted_vocabulary(words, counts[2])
        counts, *null = [sum_entries(f, p, number[t], c) for f, p, t, c in (counts, *null)]
    result = PositionCounts(
        *counts,
        n_positions=settings.n_positions,
        tokenizer=tokenizer.identity,
        documents=documents,
        empty_documents=empty_documents,
        vocabulary=vocabulary,
        sources=sources,
        columns=tuple(columns),
        grouped_by=settings.grouped_by,
        engines=() if tokenizer.engine is None else (tokenizer.engine,),
        engine_notes=() if tokenizer.engine_note is None else (tokenizer.engine_note,),
    )
    return result.with_null(null, settings.seed) if null else result


def _entries(accumulator: Accumulator, tokenizer: Tokenizer, settings: CountSettings) -> Entries:
    keys, counts = accumulator.result()
    # The keys are sorted: where each cell (fold, position) begins is looked up, instead of dividing every key.
    cells = np.arange(settings.n_folds * settings.n_positions)
    sizes = np.diff(np.searchsorted(keys, np.append(cells, cells.size) * tokenizer.id_space))
    fold, position = np.divmod(cells, settings.n_positions)
    token = keys - np.repeat(cells * tokenizer.id_space, sizes)
    return np.repeat(fold, sizes), np.repeat(position, sizes), token, counts


def _tally(batch: DocumentBatch, tokenizer: Tokenizer, settings: CountSettings, *, is_first: bool) -> _Tally:
    digests, folds = _digests_and_folds(batch, settings.n_folds)
    texts, n = batch.documents, settings.n_positions
    try:
        tokens = tokenizer.encode(texts, n)
        chosen = (digests >> np.uint64(40)) % np.uint64(_CHECKED_ONE_IN) == 0
        if is_first:
            chosen[:_CHECKED_AT_FIRST] = True
        tokenizer.check(texts, n, tokens, np.flatnonzero(chosen))
    except EngineError as error:
        place = "" if error.document is None else f" on {shown(batch.source)}, row {batch.first_row + error.document}"
        raise EngineError(f"{error}{place}") from None
    cells = (np.repeat(folds, tokens.lengths) * n + tokens.positions) * tokenizer.id_space
    keys = [cells + tokens.tokens]
    for replicate in range(settings.null_replicates):
        permuted = permute_in_documents(
            tokens.tokens,
            tokens.lengths,
            digests,
            id_space=tokenizer.id_space,
            replicate=replicate,
            seed=settings.seed,
        )
        keys.append(cells + permuted)
    return _Tally(
        keys=keys,
        documents=np.bincount(folds, minlength=settings.n_folds).astype(np.int64),
        empty_documents=int((tokens.lengths == 0).sum()),
        column=batch.column,
    )


def _digests_and_folds(batch: DocumentBatch, n_folds: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    try:
        digests = text_digests(batch.documents)
        deciding = digests if batch.groups is None else group_digests(batch.groups)
    except (UnicodeEncodeError, AttributeError):
        texts = batch.texts
        for row, (text, group) in enumerate(zip(texts, batch.groups or texts, strict=True), batch.first_row):
            _check_text(text, batch.source, row)
            _check_text(group, batch.source, row)
        raise
    return digests, folds_of(deciding, n_folds)


def _check_text(text: object, source: str, row: int) -> None:
    if not isinstance(text, str):
        raise CorpusError(f"{source!r}, row {row}: got {type(text).__name__}, expected text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise CorpusError(f"{source!r}, row {row}: lone surrogate, which is not valid Unicode text") from None


def _in_threads(
    function: Callable[[tuple[int, DocumentBatch]], _Tally], batches: Iterator[tuple[int, DocumentBatch]], workers: int
) -> Iterator[_Tally]:
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
