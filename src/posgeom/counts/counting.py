"""Counting: documents in, `PositionCounts` out, in one pass and bounded memory."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Literal, get_args

from posgeom.corpus.documents import FOLD_BY, SEQUENCES, DocumentBatch, ReadOptions
from posgeom.corpus.sniffing import sniff_format
from posgeom.corpus.sources import FORMAT_BY_SUFFIX, Source, resolve_sources, total_bytes
from posgeom.corpus.streams import open_stream
from posgeom.corpus.texts import Texts
from posgeom.corpus.urls import public_name
from posgeom.counts.cluster.options import ClusterOptions
from posgeom.counts.null_corpora import NullKind
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.tallying import CountSettings, count_batches, count_sources
from posgeom.errors import CorpusError, CountsError
from posgeom.messages import shown
from posgeom.progress import ProgressHook, silent
from posgeom.tokenize.engines.base import EngineError
from posgeom.tokenize.tokenizer_files import TokenizerSpec, load_tokenizer
from posgeom.tokenize.tokenizers import Tokenizer

DEFAULT_N_POSITIONS = 128
DEFAULT_N_FOLDS = 10

Engine = Literal["local", "dask"]
"""Where counting happens."""


def count(
    corpus: str | Path | Sequence[str | Path],
    tokenizer: TokenizerSpec | None = None,
    *,
    n_positions: int = DEFAULT_N_POSITIONS,
    n_folds: int = DEFAULT_N_FOLDS,
    min_length: int | None = None,
    column: str | int | None = None,
    fold_by: str | int | None = None,
    options: ReadOptions | None = None,
    tokenizer_engine: str = "auto",
    null_replicates: int = 0,
    null_kind: NullKind = "rotate",
    seed: int = 0,
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
        Files, globs, directories, URLs that fsspec knows (``s3://bucket/part-*.jsonl.gz``), Hugging Face datasets
        (``hf:NAME[:config][:split]``), or ``"-"`` for standard input.
    tokenizer : str, Path, Tokenizer or object, optional
        See `load_tokenizer`. By default ``"chars"`` for FASTA files and ``"whitespace"`` for all else.
    n_positions : int
        Context length n, at least 2.
    n_folds : int
        Folds for cross-validation.
    min_length : int, optional
        Count only documents whose sequence takes at least so many positions, special tokens included; `n_positions`
        keeps those that fill the context, so that all positions see the same documents. By default all are counted.
    column : str or int, optional
        Text column, as in `options`.
    fold_by : str or int, optional
        What a document's fold is a hash of, as in `options`: ``"text"``, the default; ``"row"``, its number in the
        corpus, so that short documents that coincide by chance do not share a fold; or a column, whose values keep
        documents together.
    options : ReadOptions, optional
        Columns, format, and how to treat invalid UTF-8.
    tokenizer_engine : str
        What computes the ids, see `load_tokenizer`. Whatever is chosen, the ids are those of the `tokenizers`
        library: a sample of the documents is compared, and any difference starts the counting afresh with that
        library, which the result then says.
    null_replicates : int
        Null corpora to count in the same pass: the tokens of each document moved over its own positions.
    null_kind : {"rotate", "permute"}
        Rotated by a random offset, which keeps runs of tokens as they are, or put in a random order. What decides a
        document's fold decides how it moves: copies in one fold group move together.
    seed : int
        Of the null corpora.
    workers : int, optional
        Threads that tokenise, or worker processes of engine ``"dask"``; the result does not depend on it. By default
        one per core.
    engine : {"local", "dask"}
        ``"dask"`` counts partitions on a Dask cluster, with the same result. Without a scheduler it starts processes
        of this machine, so that a script needs ``if __name__ == "__main__":``.
    scheduler, run_dir, partition_size, recount_changed
        See `posgeom.counts.cluster.options.ClusterOptions`. Only with engine ``"dask"``.
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
        fold_by=options.fold_by if fold_by is None else str(fold_by),
    )
    specs = [corpus] if isinstance(corpus, str | Path) else list(corpus)
    sources = resolve_sources(specs, options)
    spec = _default_tokenizer(sources, options) if tokenizer is None else tokenizer
    loaded = load_tokenizer(spec, tokenizer_engine)
    settings = CountSettings(
        n_positions, n_folds, null_replicates, seed, options.grouped_by, workers, min_length, null_kind
    )
    names = [public_name(str(s)) for s in specs]
    if engine == "dask":
        from posgeom.counts.cluster.engine import count_on_cluster  # needs an extra

        return named(count_on_cluster(sources, options, loaded, settings, cluster=cluster, progress=progress), names)
    total = total_bytes(sources)

    def report(done: int) -> None:
        progress("counting", done, total)

    def read(tokenizer: Tokenizer) -> PositionCounts:
        return count_sources(sources, options, tokenizer, settings, on_progress=report)

    return named(_restarting(read, loaded, can_restart=not any(source.is_pipe for source in sources)), names)


def _restarting(
    counted: Callable[[Tokenizer], PositionCounts], tokenizer: Tokenizer, *, can_restart: bool
) -> PositionCounts:
    """Count, and if the tokenizer's engine proves wrong throw that away and count on the reference."""
    try:
        return counted(tokenizer)
    except EngineError as error:
        if not can_restart:
            raise EngineError(
                f"{error}, and this input cannot be read twice: use --tokenizer-engine reference"
            ) from None
        return counted(tokenizer.on_reference(f"{error}; counted again"))


def _check_engine(engine: str, cluster: ClusterOptions) -> None:
    if engine not in get_args(Engine):
        raise CountsError(f"engine {shown(engine, 60)}: expected one of {', '.join(get_args(Engine))}")
    for name, default in asdict(ClusterOptions()).items():
        if engine == "local" and getattr(cluster, name) != default:
            raise CountsError(
                f"got {name.replace('_', ' ')}, which means nothing to the local engine: leave it out, or add --engine"
                " dask"
            )


def named(counts: PositionCounts, sources: Sequence[str]) -> PositionCounts:
    """Counts of a whole corpus: under its name, and refused when there is nothing in it."""
    names = ", ".join(sources[:3]) + (" ..." if len(sources) > 3 else "")
    if not counts.n_documents and counts.short_documents:
        raise CorpusError(
            f"all {counts.short_documents:,} documents in {names} take fewer than {counts.min_length:,} positions: use "
            "a lower --min-length, or a smaller -n with --full-length"
        )
    if not counts.n_documents:
        raise CorpusError(f"no documents in {names}: expected at least one")
    if not counts.fold.size:
        raise CorpusError(f"all {counts.n_documents:,} documents in {names} are empty: nothing to count")
    return counts.with_sources(sources)


def _default_tokenizer(sources: Sequence[Source], options: ReadOptions) -> str:
    formats = {_format(s) if options.format == "auto" else options.format for s in sources}
    return "chars" if formats <= SEQUENCES else "whitespace"


def _format(source: Source) -> str | None:
    """What a source is read as, by its name, or by the first bytes of a regular file, which can be opened twice."""
    if source.path is not None and source.path.is_file():
        with open_stream(source) as stream:
            return sniff_format(stream)
    return FORMAT_BY_SUFFIX.get(source.suffix)


def count_texts(
    texts: Iterable[str],
    tokenizer: TokenizerSpec = "whitespace",
    *,
    groups: Iterable[str] | None = None,
    fold_by: Literal["text", "row"] = "text",
    n_positions: int = DEFAULT_N_POSITIONS,
    n_folds: int = DEFAULT_N_FOLDS,
    min_length: int | None = None,
    tokenizer_engine: str = "auto",
    null_replicates: int = 0,
    null_kind: NullKind = "rotate",
    seed: int = 0,
    workers: int | None = None,
    batch_size: int = 8000,
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
    fold_by : {"text", "row"}
        What decides a document's fold where `groups` do not: its text, or its number.
    n_positions, n_folds, min_length, tokenizer_engine, null_replicates, null_kind, seed, workers
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
        When there are no documents, or none with content, `groups` is not as long as `texts`, or `fold_by` is neither.
    TokenizerError
        When the tokenizer cannot be loaded or applied.
    """
    if isinstance(texts, str):
        raise CorpusError("texts is one string, expected an iterable of documents; use count(...) for a file name")
    if isinstance(texts, Mapping) or hasattr(texts, "columns"):
        # Iterating over these gives names, not documents.
        raise CorpusError(
            f"texts is a {type(texts).__name__}: expected an iterable of documents; pass one column of it"
        )
    if batch_size < 1:
        raise CorpusError(f"batch size {batch_size}: expected at least 1")
    if fold_by not in FOLD_BY or (groups is not None and fold_by != "text"):
        raise CorpusError(f"fold_by {fold_by!r}: expected text or row, or groups alone, which decide folds too")
    grouped_by = ReadOptions(fold_by=fold_by).grouped_by if groups is None else "groups"
    settings = CountSettings(n_positions, n_folds, null_replicates, seed, grouped_by, workers, min_length, null_kind)

    def read(tokenizer: Tokenizer) -> PositionCounts:
        return count_batches(_batched(texts, groups, batch_size, source), tokenizer, settings)

    can_restart = isinstance(texts, Sequence) and (groups is None or isinstance(groups, Sequence))
    return named(_restarting(read, load_tokenizer(tokenizer, tokenizer_engine), can_restart=can_restart), [source])


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
