"""Counting: documents in, `PositionCounts` out, in one pass and bounded memory."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, Unpack, cast, get_args

from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.reading import read_sources
from posgeom.corpus.sniffing import sniff_format
from posgeom.corpus.sources import FORMAT_BY_SUFFIX, Source, resolve_sources, total_bytes
from posgeom.corpus.streams import open_stream
from posgeom.corpus.texts import Texts
from posgeom.corpus.urls import public_name
from posgeom.counts.context_length import LONGEST, choose_context_length
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.tallying import CountSettings, count_batches
from posgeom.errors import CorpusError, CountsError
from posgeom.keywords import takes
from posgeom.messages import shown
from posgeom.options import (
    FOLD_BY,
    SEQUENCES,
    ClusterOptions,
    CountOptions,
    Engine,
    ReadOptions,
    TextOptions,
    with_defaults,
)
from posgeom.progress import ProgressHook, silent
from posgeom.tokenize.engines.base import EngineError
from posgeom.tokenize.tokenizer_files import TokenizerSpec, load_tokenizer
from posgeom.tokenize.tokenizers import Tokenizer

_IN_MEMORY = "documents in memory, such as one column of a table, go to count_texts"


@takes(CountOptions)
def count(
    corpus: str | Path | Sequence[str | Path],
    tokenizer: TokenizerSpec | None = None,
    *,
    progress: ProgressHook = silent,
    **options: Unpack[CountOptions],
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
        See `load_tokenizer`. By default ``"chars"`` for sequences (FASTA, FASTQ, alignments), else ``"whitespace"``.
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
    chosen = with_defaults(options, CountOptions)
    cluster = cast("ClusterOptions", with_defaults(options, ClusterOptions))
    _check_engine(cluster)
    given: dict[str, Any] = {name: str(chosen[name]) for name in ("column", "fold_by") if chosen[name] is not None}
    read: ReadOptions = replace(chosen["options"] or ReadOptions(), **given)
    specs = _names(corpus)
    sources = resolve_sources(specs, read)
    total = total_bytes(sources)

    def report(done: int) -> None:
        progress("counting", done, total)

    first, opened = None, list[Iterator[DocumentBatch]]()
    if tokenizer is None and any(source.is_pipe or source.path is None for source in sources):
        batches = read_sources(sources, read, on_progress=report)  # not twice where that costs, or cannot be
        first = next(batches, None)
        opened = [chain([] if first is None else [first], batches)]
    spec = _default_tokenizer(sources, read, first) if tokenizer is None else tokenizer
    loaded = load_tokenizer(spec, chosen["tokenizer_engine"])
    names = [public_name(str(s)) for s in specs]
    if cluster["engine"] == "dask":
        from posgeom.counts.cluster.engine import count_on_cluster  # needs an extra

        settings, notes, _ = _settled(_readable(read_sources(sources, read)), loaded, options, read.grouped_by)
        counts = count_on_cluster(sources, read, loaded, settings, cluster=cluster, progress=progress)
        return named(counts.with_notes(notes), names)

    def counted(tokenizer: Tokenizer) -> PositionCounts:
        batches = opened.pop() if opened else read_sources(sources, read, on_progress=report)
        return _counted(batches, tokenizer, options, read.grouped_by)

    return named(_restarting(counted, loaded, can_restart=not any(source.is_pipe for source in sources)), names)


def _names(corpus: object) -> list[str | Path]:
    """What names a corpus; documents and tables in memory are refused, whose items are no names."""
    names = [corpus] if isinstance(corpus, str | Path) else corpus
    if _is_table(names) or not isinstance(names, Iterable) or isinstance(names, bytes):
        raise CorpusError(f"corpus is a {type(corpus).__name__}: expected names of files; {_IN_MEMORY}")
    listed = list(names)
    for name in listed:
        if not isinstance(name, str | Path):
            raise CorpusError(f"corpus holds a {type(name).__name__}: expected names of files; {_IN_MEMORY}")
    return listed


def _is_table(value: object) -> bool:
    """Whether iterating gives names of columns or splits, or rows, and no documents."""
    return isinstance(value, Mapping) or hasattr(value, "columns") or hasattr(value, "column_names")


def _readable(batches: Iterator[DocumentBatch]) -> Iterator[DocumentBatch]:
    """Batches up to one that cannot be read, which the counting names when it comes there."""
    try:
        yield from batches
    except CorpusError:
        return


def _counted(
    batches: Iterator[DocumentBatch], tokenizer: Tokenizer, options: TextOptions, grouped_by: str | None
) -> PositionCounts:
    settings, notes, batches = _settled(batches, tokenizer, options, grouped_by)
    return count_batches(batches, tokenizer, settings).with_notes(notes)


def _settled(
    batches: Iterator[DocumentBatch], tokenizer: Tokenizer, options: TextOptions, grouped_by: str | None
) -> tuple[CountSettings, tuple[str, ...], Iterator[DocumentBatch]]:
    """What the counting loop needs, with n from the first documents where nobody says it, and all batches."""
    n = options.get("n_positions")
    at_least = options.get("min_length") or 0
    settings = _settings(options, grouped_by, max(LONGEST, at_least) if n is None else n)
    settings.check(tokenizer)  # before anything is read
    if n is not None:
        return settings, (), batches
    n, notes, batches = choose_context_length(batches, tokenizer)
    return _settings(options, grouped_by, max(n, at_least)), notes if n >= at_least else (), batches


def _settings(options: TextOptions, grouped_by: str | None, n_positions: int) -> CountSettings:
    chosen = with_defaults(options, TextOptions) | {"n_positions": n_positions}
    del chosen["tokenizer_engine"]
    if chosen.pop("full_length"):
        if chosen["min_length"] is not None:
            raise CountsError("got both --min-length and --full-length: expected one of them")
        chosen["min_length"] = chosen["n_positions"]
    return CountSettings(**chosen, grouped_by=grouped_by)


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


def _check_engine(cluster: ClusterOptions) -> None:
    if cluster["engine"] not in get_args(Engine):
        raise CountsError(f"engine {shown(cluster['engine'], 60)}: expected one of {', '.join(get_args(Engine))}")
    for name, default in with_defaults({}, ClusterOptions).items():
        if cluster["engine"] == "local" and cast("dict[str, object]", cluster)[name] != default:
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


def _default_tokenizer(sources: Sequence[Source], options: ReadOptions, first: DocumentBatch | None) -> str:
    known = {} if first is None else {first.source: first.format}
    formats = {known.get(s.name, _format(s)) if options.format == "auto" else options.format for s in sources}
    return "chars" if formats <= SEQUENCES else "whitespace"


def _format(source: Source) -> str | None:
    """What a source is read as, by its name, or by the first bytes of a regular file, which can be opened twice."""
    if source.path is not None and source.path.is_file():
        with open_stream(source) as stream:
            return sniff_format(stream)
    return FORMAT_BY_SUFFIX.get(source.suffix)


@takes(TextOptions)
def count_texts(
    texts: Iterable[str],
    tokenizer: TokenizerSpec = "whitespace",
    *,
    groups: Iterable[str] | None = None,
    fold_by: Literal["text", "row"] = "text",
    batch_size: int = 8000,
    source: str = "texts",
    **options: Unpack[TextOptions],
) -> PositionCounts:
    """Count tokens by (fold, position, token) over documents in memory.

    Parameters
    ----------
    texts : iterable of str
        Documents; consumed in batches, so that a generator need not fit in memory. An iterator cannot be started
        afresh: a difference between tokenizer engines is then an error.
    tokenizer : str, Path, Tokenizer or object
        See `load_tokenizer`.
    groups : iterable of str, optional
        One value per document; documents that share it share a fold.
    fold_by : {"text", "row"}
        What decides a document's fold where `groups` do not: its text, or its number.
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
    for name, value in (("texts", texts), ("groups", groups)):
        if _is_table(value) or not isinstance(value, Iterable | None) or isinstance(value, str):
            raise CorpusError(
                f"{name} is a {type(value).__name__}: expected an iterable of strings; pass one column, or one split"
            )
    if texts is None:
        raise CorpusError("texts is None: expected an iterable of documents")
    if batch_size < 1:
        raise CorpusError(f"batch size {batch_size}: expected at least 1")
    if fold_by not in FOLD_BY or (groups is not None and fold_by != "text"):
        raise CorpusError(f"fold_by {fold_by!r}: expected text or row, or groups alone, which decide folds too")
    grouped_by = ReadOptions(fold_by=fold_by).grouped_by if groups is None else "groups"
    engine = with_defaults(options, TextOptions)["tokenizer_engine"]

    def counted(tokenizer: Tokenizer) -> PositionCounts:
        return _counted(_batched(texts, groups, batch_size, source), tokenizer, options, grouped_by)

    can_restart = isinstance(texts, Sequence) and (groups is None or isinstance(groups, Sequence))
    return named(_restarting(counted, load_tokenizer(tokenizer, engine), can_restart=can_restart), [source])


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
