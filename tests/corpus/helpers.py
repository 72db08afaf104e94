"""What the corpus tests share."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from posgeom.corpus.documents import DocumentBatch, ReadOptions
from posgeom.corpus.reading import read_sources
from posgeom.corpus.sources import resolve_sources
from posgeom.counts.key_sample import KeySample
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.shingles import Shingles


def read_documents(
    specs: Sequence[str | Path], options: ReadOptions, *, on_progress: Callable[[int], None] | None = None
) -> Iterator[DocumentBatch]:
    """Find the sources and read them, as the counting does."""
    return read_sources(resolve_sources(specs, options), options, on_progress=on_progress)


def check_same_shingles(a: Shingles, b: Shingles) -> None:
    """Two samples are the same."""
    assert a.length == b.length
    for name in ("hashes", "documents", "folds"):
        assert getattr(a, name).tolist() == getattr(b, name).tolist(), name


def check_same_keys(a: KeySample | None, b: KeySample | None) -> None:
    """Two samples are the same, or neither was taken."""
    assert (a is None) == (b is None)
    if a is not None and b is not None:
        assert a.digests.tolist() == b.digests.tolist()
        assert a.documents.tolist() == b.documents.tolist()


def check_same_counts(a: PositionCounts, b: PositionCounts) -> None:
    """All but the names of the sources agrees."""
    for name in ("fold", "position", "token", "count", "documents"):
        assert getattr(a, name).tolist() == getattr(b, name).tolist(), name
    for name in ("vocabulary", "columns", "n_positions", "empty_documents", "tokenizer", "grouped_by"):
        assert getattr(a, name) == getattr(b, name), name
