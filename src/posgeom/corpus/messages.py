"""Error messages about places in a corpus."""

from posgeom.corpus import documents
from posgeom.errors import CorpusError
from posgeom.messages import shown


def located(name: str, row: int, unit: str = "line") -> str:
    """Name a place for a message, as in ``'corpus.txt', line 3``."""
    return f"{shown(name)}, {unit} {row}"


def too_long(name: str, row: int, unit: str = "line") -> CorpusError:
    """Make the error for a document beyond `MAX_DOCUMENT_BYTES`."""
    return CorpusError(
        f"{located(name, row, unit)}: a document longer than {documents.MAX_DOCUMENT_BYTES:,} bytes:"
        " expected shorter documents; split it"
    )


def looks_binary(place: str) -> CorpusError:
    """Make the error for bytes that are no text."""
    return CorpusError(
        f"{place}: looks binary (a NUL byte): expected UTF-8 text, JSONL, CSV, TSV, FASTA or Parquet; convert it"
    )
