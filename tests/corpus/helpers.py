"""What the corpus tests share."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.reading import read_sources
from posgeom.corpus.sources import resolve_sources
from posgeom.options import ReadOptions


def read_documents(
    specs: Sequence[str | Path], options: ReadOptions, *, on_progress: Callable[[int], None] | None = None
) -> Iterator[DocumentBatch]:
    """Find the sources and read them, as the counting does."""
    return read_sources(resolve_sources(specs, options), options, on_progress=on_progress)
