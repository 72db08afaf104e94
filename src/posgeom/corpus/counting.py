"""Counting: documents in, `PositionCounts` out, in one pass and bounded memory."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.accumulator import Accumulator
from posgeom.corpus.cluster.options import ClusterOptions
from posgeom.corpus.counts import PositionCounts, sum_entries
from posgeom.corpus.documents import DocumentBatch, ReadOptions
from posgeom.corpus.folds import assign_folds
from posgeom.corpus.reading import read_sources
from posgeom.corpus.sources import FORMAT_BY_SUFFIX, Source, resolve_sources, total_bytes
from posgeom.corpus.tokenizer_files import TokenizerSpec, load_tokenizer
from posgeom.corpus.tokenizers import Tokenizer
from posgeom.errors import CorpusError, CountsError
from posgeom.messages import shown
from posgeom.progress import ProgressHook, silent

DEFAULT_N_POSITIONS = 128
DEFAULT_N_FOLDS = 10
MAX_FOLDS = 1000

Engine = Literal["local", "dask"]
"""Where counting happens."""


@dataclass(frozen=True, slots=True)
class _Tally:
    """What one batch contributes."""

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
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
    workers: int | None = None,
    engine: Engine = "local",
    scheduler: str | None = None,
    run_dir: str | Path | None = None,
    partition_size: int | str | None = None,
    recount_changed: bool = False,
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
    workers : int, optional
        Threads that tokenise, or worker processes of engine ``"dask"``; the result does not depend on it. By default
        one per core.
    engine : {"local", "dask"}
        ``"dask"`` counts partitions on a Dask cluster, with the same result. Without a scheduler it starts processes
        of this machine, so that a script needs ``if __name__ == "__main__":``.
    scheduler, run_dir, partition_size, recount_changed
        See `posgeom.corpus.cluster.options.ClusterOptions`. Only with engine ``"dask"``.
    progress : callable
        Called as ``progress("counting", bytes_read, total_bytes)``.

    Returns
    -------
    PositionCounts

    Raises
    ------
    CorpusError
        When the corpus cannot be read, or has no content.
    CountsError
        When sizes are impossible, or the engine cannot be used.
    OutputError
        When the run directory cannot be used.
    TokenizerError
        When the tokenizer cannot be loaded or applied.
    """
    cluster = ClusterOptions(scheduler, run_dir, partition_size, recount_changed)
    _check_engine(engine, cluster)
    options = options or ReadOptions()
    options = replace(
        options,
        column=options.column if column is None else str(column),
        group=options.group if group is None else str(group),
    )
    specs = [corpus] if isinstance(corpus, str | Path) else list(corpus)
    sources = resolve_sources(specs, options)
    loaded = load_tokenizer(_default_tokenizer(sources, options) if tokenizer is None else tokenizer)
    names = [str(s) for s in specs]
    if engine == "dask":
        from posgeom.corpus.cluster.engine import count_on_cluster  # needs an extra

        return named(
            count_on_cluster(
                sources, options, loaded, n_positions, n_folds, workers=workers, cluster=cluster, progress=progress
            ),
            names,
        )
    total = total_bytes(sources)

    def report(done: int) -> None:
        progress("counting", done, total)

    counts = count_sources(sources, options, loaded, n_positions, n_folds, workers=workers, on_progress=report)
    return named(counts, names)


def _check_engine(engine: str, cluster: ClusterOptions) -> None:
    if engine not in get_args(Engine):
        raise CountsError(f"engine {shown(engine, 60)}: expected one of {', '.join(get_args(Engine))}")
    for name, default in asdict(ClusterOptions()).items():
        if engine == "local" and getattr(cluster, name) != default:
            raise CountsError(
                f"got {name.replace('_', ' ')}, which means nothing to the local engine: leave it out, or add --engine"
                " dask"
            )


def count_sources(
    sources: Sequence[Source],
    options: ReadOptions,
    tokenizer: Tokenizer,
    n_positions: int,
    n_folds: int,
    *,
    workers: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> PositionCounts:
    """Count the documents of sources already found, of which there may be none.

    Parameters
    ----------
    sources : sequence of Source
        Whole files, or spans of them.
    options : ReadOptions
        How to read them.
    tokenizer : Tokenizer
        For an open vocabulary a new one, since it keeps the words it has seen.
    n_positions, n_folds, workers
        As in `count`.
    on_progress : callable, optional
        As in `read_sources`.

    Returns
    -------
    PositionCounts
        Without `sources`, and perhaps without documents or tokens; see `named`.

    Raises
    ------
    CorpusError
        When a file cannot be read.
    CountsError
        When the sizes are impossible.
    TokenizerError
        When the tokenizer cannot be applied.
    """
    batches = read_sources(sources, options, on_progress=on_progress)
    return _count_batches(batches, tokenizer, n_positions, n_folds, options.group, workers)


def named(counts: PositionCounts, sources: Sequence[str]) -> PositionCounts:
    """Counts of a whole corpus: under its name, and refused when there is nothing in it.

    Parameters
    ----------
    counts : PositionCounts
    sources : sequence of str
        What was read, as the user named it.

    Returns
    -------
    PositionCounts

    Raises
    ------
    CorpusError
        When there are no documents, or none with content.
    """
    names = ", ".join(sources[:3]) + (" ..." if len(sources) > 3 else "")
    if not counts.n_documents:
        raise CorpusError(f"no documents in {names}: expected at least one")
    if not counts.fold.size:
        raise CorpusError(f"all {counts.n_documents:,} documents in {names} are empty: nothing to count")
    return replace(counts, sources=tuple(sources))


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
    workers: int | None = None,
    batch_size: int = 2000,
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
    n_positions, n_folds, workers
        As in `count`.
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
    batches = _batched(texts, groups, batch_size, source)
    grouped_by = None if groups is None else "groups"
    counts = _count_batches(batches, load_tokenizer(tokenizer), n_positions, n_folds, grouped_by, workers)
    return named(counts, [source])


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
        yield DocumentBatch(batch, keys, source, row)
        row += len(batch)
    if values is not None and next(values, None) is not None:
        raise CorpusError(f"groups has more than the {row - 1} values that match the documents")


def _count_batches(
    batches: Iterator[DocumentBatch],
    tokenizer: Tokenizer,
    n_positions: int,
    n_folds: int,
    grouped_by: str | None,
    workers: int | None,
) -> PositionCounts:
    check_sizes(n_positions, n_folds, tokenizer, workers)
    accumulator = Accumulator()
    documents = np.zeros(n_folds, np.int64)
    empty_documents = 0
    columns: dict[str, None] = {}

    def tally(batch: DocumentBatch) -> _Tally:
        return _tally(batch, tokenizer, n_positions, n_folds)

    for part in _in_threads(tally, batches, workers or os.cpu_count() or 1):
        accumulator.add(part.keys, part.counts)
        documents += part.documents
        empty_documents += part.empty_documents
        if part.column is not None:
            columns[part.column] = None
    keys, counts = accumulator.result()
    cells, token = np.divmod(keys, tokenizer.id_space)
    fold, position = np.divmod(cells, n_positions)
    vocabulary = tokenizer.vocabulary()
    if vocabulary is not None:
        vocabulary, token = _sorted_vocabulary(vocabulary, token)
        fold, position, token, counts = sum_entries(fold, position, token, counts)
    return PositionCounts(
        fold=fold,
        position=position,
        token=token,
        count=counts,
        n_positions=n_positions,
        tokenizer=tokenizer.identity,
        documents=documents,
        empty_documents=empty_documents,
        vocabulary=None if vocabulary is None else tuple(vocabulary),
        columns=tuple(columns),
        grouped_by=grouped_by,
    )


def check_sizes(n_positions: int, n_folds: int, tokenizer: Tokenizer, workers: int | None) -> None:
    """Refuse sizes that cannot be counted.

    Parameters
    ----------
    n_positions, n_folds, workers
        As in `count`.
    tokenizer : Tokenizer

    Raises
    ------
    CountsError
        When one is out of range, or together they do not fit in 64 bits.
    """
    if n_positions < 2:
        raise CountsError(f"n = {n_positions}: a distance needs at least 2 positions; use a larger -n")
    if not 1 <= n_folds <= MAX_FOLDS:
        raise CountsError(f"{n_folds} folds: expected 1 to {MAX_FOLDS:,}")
    if workers is not None and workers < 1:
        raise CountsError(f"{workers} workers: expected at least 1")
    if n_folds * n_positions * tokenizer.id_space >= 2**63:
        raise CountsError(
            f"{n_folds} folds x {n_positions} positions x {tokenizer.id_space} token ids do not fit in 64 bits: "
            "use fewer folds or a smaller -n"
        )


def _tally(batch: DocumentBatch, tokenizer: Tokenizer, n_positions: int, n_folds: int) -> _Tally:
    folds = _folds(batch, n_folds)
    tokens = tokenizer.encode(batch.texts, n_positions)
    cells = np.repeat(folds, tokens.lengths) * n_positions + tokens.positions
    keys, counts = np.unique(cells * tokenizer.id_space + tokens.tokens, return_counts=True)
    return _Tally(
        keys=keys,
        counts=counts.astype(np.int64),
        documents=np.bincount(folds, minlength=n_folds).astype(np.int64),
        empty_documents=int((tokens.lengths == 0).sum()),
        column=batch.column,
    )


def _folds(batch: DocumentBatch, n_folds: int) -> NDArray[np.int64]:
    try:
        by_text = assign_folds(batch.texts, n_folds)
        return by_text if batch.groups is None else assign_folds(batch.groups, n_folds)
    except (UnicodeEncodeError, AttributeError):
        for row, (text, group) in enumerate(
            zip(batch.texts, batch.groups or batch.texts, strict=True), batch.first_row
        ):
            _check_text(text, batch.source, row)
            _check_text(group, batch.source, row)
        raise


def _check_text(text: object, source: str, row: int) -> None:
    if not isinstance(text, str):
        raise CorpusError(f"{source!r}, row {row}: got {type(text).__name__}, expected text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise CorpusError(f"{source!r}, row {row}: lone surrogate, which is not valid Unicode text") from None


def _in_threads(
    function: Callable[[DocumentBatch], _Tally], batches: Iterator[DocumentBatch], workers: int
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


def _sorted_vocabulary(words: list[str], token: NDArray[np.int64]) -> tuple[list[str], NDArray[np.int64]]:
    """Renumber tokens by the sorted order of the words that occur, whatever order they arrived in."""
    used = np.unique(token)
    order = sorted(used.tolist(), key=words.__getitem__)
    number = np.zeros(len(words), np.int64)
    number[order] = np.arange(len(order))
    return [words[i] for i in order], number[token]
