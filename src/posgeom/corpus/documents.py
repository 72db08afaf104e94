"""The contract of the corpus readers: how documents are asked for, and the batches they travel in."""

from dataclasses import dataclass
from typing import Literal, get_args

from posgeom.corpus.texts import Texts
from posgeom.errors import CorpusError

Format = Literal[
    "auto",
    "text",
    "jsonl",
    "csv",
    "tsv",
    "parquet",
    "arrow",
    "fasta",
    "a2m",
    "fastq",
    "stockholm",
    "clustal",
    "conllu",
]
SEQUENCES: frozenset[str] = frozenset({"fasta", "a2m", "fastq", "stockholm", "clustal"})
"""Formats whose documents are sequences of residues, each a character."""
Utf8Errors = Literal["strict", "replace"]
Quoting = Literal["auto", "csv", "none"]

MAX_DOCUMENT_BYTES = 256 * 1024 * 1024
"""A longer document is refused, so that memory stays bounded whatever the file holds."""

MAX_BATCH_CHARACTERS = 2 * 1024 * 1024
"""A batch of several documents holds no more characters than this; a longer document travels alone."""


FOLD_BY = ("text", "row")
"""What can decide the fold of a document beside a column."""
_COLUMN = "column:"

COUNTS_KEY = b"posgeom.counts"
"""Metadata key that tells a Parquet file of counts from one of documents."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to turn files into documents.

    Parameters
    ----------
    format : str
        ``"auto"`` decides by the file's first bytes, and by its extension where these do not tell. ``"a2m"``, also
        for A3M, drops the insertions (lower-case letters and dots), so that columns are aligned.
    column : str, optional
        Text column of a JSONL, CSV, TSV or Parquet file: its name, or for delimited files its 1-based number.
        By default the only text column there is, else one named ``text``. Of CoNLL-U ``form`` by default.
    fold_by : str
        What decides a document's fold: ``"text"``, its text, so that copies share one; ``"row"``, its number in the
        corpus; or the name of a column, whose values keep documents together. ``"column:NAME"`` is always a column,
        also where that is called ``text`` or ``row``.
    header : bool
        Whether the first row of a CSV or TSV file names its columns.
    quoting : str
        ``"csv"``: double quotes protect separators and line breaks; ``"none"``: a quote is a character like
        any other; ``"auto"``: ``csv`` for CSV and ``none`` for TSV.
    whole_files : bool
        A plain-text file is one document, instead of one document per line.
    utf8_errors : str
        ``"strict"`` makes invalid UTF-8 an error that names the row, ``"replace"`` puts U+FFFD.
    batch_size : int
        Documents per batch, at most.
    """

    format: Format = "auto"
    column: str | None = None
    fold_by: str = "text"
    header: bool = True
    quoting: Quoting = "auto"
    whole_files: bool = False
    utf8_errors: Utf8Errors = "strict"
    batch_size: int = 8000

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("quoting", self.quoting, get_args(Quoting)),
            ("utf8_errors", self.utf8_errors, get_args(Utf8Errors)),
        ):
            if value not in choices:
                raise CorpusError(f"{name} {value!r}: expected one of {', '.join(choices)}")
        if self.fold_by in ("", _COLUMN):
            raise CorpusError(f"fold_by {self.fold_by!r}: expected text, row, or the name of a column")

    @property
    def fold_column(self) -> str | None:
        """Column whose value decides the fold; None where the text or the row does."""
        return None if self.fold_by in FOLD_BY else self.fold_by.removeprefix(_COLUMN)

    @property
    def grouped_by(self) -> str | None:
        """What counts record of `fold_by`: None for the text, ``row``, or the column, spelt as shortly as is clear."""
        if self.fold_by in FOLD_BY:
            return None if self.fold_by == "text" else self.fold_by
        return column_spec(self.fold_column or "")


def column_spec(name: str) -> str:
    """How a column is named to decide folds: by its name, unless that could be taken for something else."""
    return _COLUMN + name if name in FOLD_BY or name.startswith(_COLUMN) else name


@dataclass(frozen=True, slots=True)
class DocumentBatch:
    """Consecutive documents of one source, empty ones included, and the values that decide folds if a column does.

    `first_row` is the 1-based place of the first: the row of a Parquet file, the line of any other. `column` is the
    name of the text column, or its 1-based number without a header; None for formats without columns. `notes` say what
    a reader of the counts should know of how the source was read.
    """

    documents: Texts
    groups: list[str] | None
    source: str
    first_row: int
    column: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def texts(self) -> list[str]:
        """The documents as strings."""
        return self.documents.strings()
