"""Every option of counting, estimating and scoring, once: its name, type, default, flags and help.

The keyword arguments of the functions and their documentation, the options of the command line, and what is fixed once
counts are made all follow from these classes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, get_args

from posgeom.errors import CorpusError
from posgeom.policies import LEVEL

if TYPE_CHECKING:
    from posgeom.counts.bins import Bins

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
Engine = Literal["local", "dask"]
EngineName = Literal["auto", "reference", "nanotoken", "gigatoken", "fastokens", "chunks"]
NullKind = Literal["permute", "rotate"]
MetricName = Literal["hellinger", "hellinger-normalized", "fisher-rao", "jensen-shannon", "total-variation"]
Estimator = Literal["crossval", "plugin"]
EmptyPolicy = Literal["mask", "uniform"]
Convention = Literal["sound", "paper"]

DEFAULT_N_POSITIONS = 128
DEFAULT_N_FOLDS = 10
DEFAULT_N_DIMS = 768
DEFAULT_RANKS = (1, 2, 3, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class Option:
    """What is to be known of an option beside its name and type.

    Attributes
    ----------
    flags : str
        On the command line, separated by ``", "``; empty where it has another form there, or none.
    help : str
        What it does, for the command line and for the docstring.
    panel : str
        Heading that it stands under in the help.
    metavar : str, optional
    default : object
        Of a key of a ``TypedDict``; a field of a dataclass has its own.
    python : str
        What only the docstring says.
    cli : type, optional
        On the command line, where the type of the keyword argument says more.
    parse : callable, optional
        Makes the keyword argument of what the command line has.
    """

    flags: str
    help: str
    panel: str
    metavar: str | None = None
    default: Any = None
    python: str = ""
    cli: Any = None
    parse: Callable[[str], Any] | None = None


def _range(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal() and text.isascii() and len(text) < 40):
        raise CorpusError(f"--positions {text[:40]!r}: expected first and last position, as in 16-255")
    return int(first), int(last)


def _ranks(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise CorpusError(f"--ranks {text!r}: expected whole numbers separated by commas, as in 1,2,4") from None


FOLD_BY = ("text", "row")
"""What can decide the fold of a document beside a column."""
_COLUMN = "column:"


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to turn files into documents."""

    format: Annotated[
        Format,
        Option(
            "--format",
            f"{', '.join(get_args(Format)[1:-1])} or {get_args(Format)[-1]}, where first bytes and name do not tell; "
            "a2m, also for A3M, drops insertions (lower-case letters and dots).",
            "Corpus",
            "FORMAT",
        ),
    ] = "auto"
    column: Annotated[
        str | None,
        Option(
            "--column",
            "Text column: a name, or a 1-based number in CSV and TSV. Default: the only text column there is, else one "
            "named text; of CoNLL-U form.",
            "Corpus",
            "NAME",
        ),
    ] = None
    fold_by: Annotated[
        str,
        Option(
            "--fold-by",
            "What decides a document's fold. text: copies share one. row: its number, for short documents that "
            "coincide by chance. Else a column, whose values stay together (near-duplicates, authors, patients); "
            "column:text is a column called text.",
            "Corpus",
            "BY",
        ),
    ] = "text"
    header: Annotated[bool, Option("--header/--no-header", "Whether CSV and TSV have a header row.", "Corpus")] = True
    quoting: Annotated[
        Quoting,
        Option(
            "--quoting",
            "csv (double quotes have a meaning), none, or auto: in CSV yes, in TSV no.",
            "Corpus",
            "HOW",
        ),
    ] = "auto"
    whole_files: Annotated[
        bool, Option("--whole-files", "A text file is one document, instead of one document per line.", "Corpus")
    ] = False
    utf8_errors: Annotated[
        Utf8Errors,
        Option("--utf8-errors", "Invalid UTF-8: strict stops and names the row, replace puts U+FFFD.", "Corpus", "HOW"),
    ] = "strict"
    batch_size: Annotated[int, Option("", "Documents per batch, at most.", "Corpus")] = 8000

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


class TextOptions(TypedDict, total=False):
    """What can be chosen where documents are in memory."""

    n_positions: Annotated[
        int | None,
        Option(
            "-n, --n-positions",
            "Context length. Default: the 90 % quantile of the lengths of the first documents, at most 512.",
            "Tokens",
            "N",
            python="At least 2. What is chosen is rounded up to a multiple of 8, but not above the longest document.",
        ),
    ]
    n_folds: Annotated[
        int, Option("--folds", "Folds of documents, for cross-validation.", "Geometry", "F", DEFAULT_N_FOLDS)
    ]
    min_length: Annotated[
        int | None,
        Option(
            "--min-length",
            "Count only documents whose sequence takes L positions or more, special tokens included.",
            "Tokens",
            "L",
        ),
    ]
    full_length: Annotated[
        bool,
        Option(
            "--full-length",
            "Count only documents that fill the context, so that all positions see the same documents.",
            "Tokens",
            default=False,
        ),
    ]
    tokenizer_engine: Annotated[
        str,
        Option(
            "--tokenizer-engine",
            "What computes the ids of a tokenizer.json: auto (the fastest exact way), reference (tokenizers itself), "
            "nanotoken, gigatoken, fastokens or chunks.",
            "Tokens",
            "ENGINE",
            "auto",
            "Whatever is chosen, the ids are those of the `tokenizers` library: a sample of the documents is compared, "
            "and any difference starts the counting afresh with that library, which the result then says.",
            EngineName,
        ),
    ]
    null_replicates: Annotated[
        int,
        Option(
            "--null",
            "Null corpora to count in the same pass, at least 3: does order matter beyond who is long?",
            "Errors",
            "R",
            0,
            "The tokens of each document are moved over its own positions. Five support no p-value below about .001.",
        ),
    ]
    null_kind: Annotated[
        NullKind,
        Option(
            "--null-kind",
            "How null corpora are made. rotate: tokens keep their order and begin elsewhere; permute: they stand in a "
            "random order.",
            "Errors",
            "KIND",
            "rotate",
            "What decides a document's fold decides how it moves: copies in one fold group move together.",
        ),
    ]
    seed: Annotated[
        int,
        Option("--seed", "Seed of whatever is random: null corpora, splits, random encodings.", "Errors", "S", 0),
    ]
    workers: Annotated[
        int | None,
        Option(
            "--workers",
            "Tokenising threads, or processes of the engine dask; the result does not depend on it. Default: one per "
            "core.",
            "Tokens",
            "K",
        ),
    ]


class ClusterOptions(TypedDict, total=False):
    """Where a run computes, and where it keeps what it has done."""

    engine: Annotated[
        Engine,
        Option(
            "--engine",
            "Count local, in this process, or with dask, on a cluster, which can be resumed.",
            "Cluster",
            "WHERE",
            "local",
            "The result is the same. Without a scheduler dask starts processes of this machine, so that a script needs "
            '``if __name__ == "__main__":``.',
        ),
    ]
    scheduler: Annotated[
        str | None,
        Option(
            "--scheduler",
            "Dask scheduler, as in tcp://10.0.0.1:8786. Default: processes of this machine.",
            "Cluster",
            "ADDRESS",
        ),
    ]
    run_dir: Annotated[
        str | Path | None,
        Option(
            "--run-dir",
            "Where the engine dask keeps partial counts, to go on from there when it is run again.",
            "Cluster",
            "DIR_OR_URL",
            python="A directory, or fsspec URL, that the client and all workers reach. By default a temporary one.",
            cli=str | None,
        ),
    ]
    partition_size: Annotated[
        int | str | None,
        Option(
            "--partition-size",
            "Bytes of input for one task, as in 64MiB. Default: a 64th of the corpus, within 4 MiB and 128 MiB.",
            "Cluster",
            "BYTES",
            cli=str | None,
        ),
    ]
    recount_changed: Annotated[
        bool,
        Option(
            "--recount-changed",
            "In a run directory made before files were changed: count these again.",
            "Cluster",
            default=False,
        ),
    ]


class CountOptions(TextOptions, ClusterOptions, total=False):
    """What can be chosen where a corpus is counted."""

    column: Annotated[str | int | None, Option("", "Text column, as in `options`.", "Corpus")]
    fold_by: Annotated[str | int | None, Option("", "What decides a document's fold, as in `options`.", "Corpus")]
    options: Annotated[ReadOptions | None, Option("", "Columns, format, and how to treat invalid UTF-8.", "Corpus")]


class RangeOptions(TypedDict, total=False):
    """Which positions are looked at."""

    positions: Annotated[
        tuple[int, int] | None,
        Option(
            "--positions",
            "Look at the positions A to B by themselves, both included, counted from 0. Default: all.",
            "Geometry",
            "A-B",
            cli=str | None,
            parse=_range,
        ),
    ]


class GeometryOptions(RangeOptions, total=False):
    """What can be chosen where a geometry is estimated."""

    convention: Annotated[
        Convention,
        Option(
            "--convention",
            "sound, or paper: where the defaults of estimator, empty and min-depth come from.",
            "Geometry",
            "NAME",
            "sound",
            "Cross-validated with masked positions, or the paper's plug-in estimate with empty positions uniform and "
            "no minimum depth.",
        ),
    ]
    estimator: Annotated[
        Estimator | None,
        Option(
            "--estimator",
            "crossval: equal distributions lie at 0 on average. plugin: noise sets them apart.",
            "Geometry",
            "NAME",
        ),
    ]
    empty: Annotated[
        EmptyPolicy | None,
        Option(
            "--empty",
            "Positions without data: mask leaves them out, uniform makes them uniform over V.",
            "Geometry",
            "POLICY",
        ),
    ]
    min_depth: Annotated[
        int | None,
        Option(
            "--min-depth",
            "Sequences that a position needs to take part. Default: 5 % of the deepest position's, at least 100 where "
            "there are so many.",
            "Geometry",
            "K",
        ),
    ]
    metric: Annotated[
        str,
        Option(
            "--metric",
            f"Distance between distributions: {', '.join(get_args(MetricName)[:-1])} or {get_args(MetricName)[-1]}.",
            "Geometry",
            "NAME",
            "hellinger",
            cli=MetricName,
        ),
    ]
    bins: Annotated[
        "str | Sequence[int] | Bins | None",
        Option(
            "--bins",
            "Add counts up over K bins of positions, uniform:K or geometric:K, so that far positions gain depth.",
            "Geometry",
            "KIND:K",
            python="See `PositionCounts.binned`. An encoding is scored at the centres of the bins.",
            cli=str | None,
        ),
    ]


class AnalyzeOptions(CountOptions, GeometryOptions, total=False):
    """What can be chosen where encodings are scored against the geometry of a corpus."""

    n_dims: Annotated[
        int, Option("-d, --n-dims", "Width d of the encodings that have one.", "Encodings", "DIMS", DEFAULT_N_DIMS)
    ]
    encodings: Annotated[
        Sequence[object] | Mapping[str, object],
        Option(
            "--encoding",
            "Encodings to score beside the default ones, one each time that the option stands.",
            "Encodings",
            "NAME_OR_FILE",
            (),
            "Specs (see `build_encoding`), encodings of your own, matrices with one row per position, or functions and "
            "classes as `register` takes them.",
            list[str] | None,
        ),
    ]
    default_encodings: Annotated[
        bool,
        Option(
            " /--only",
            "Whether to score the default encodings, or only those that are named.",
            "Encodings",
            default=True,
        ),
    ]
    ranks: Annotated[
        Sequence[int] | None,
        Option(
            "--ranks",
            f"Ranks of MDS to score. Default: {','.join(map(str, DEFAULT_RANKS))}, as far as there are axes.",
            "Encodings",
            "R,R,...",
            cli=str | None,
            parse=_ranks,
        ),
    ]
    level: Annotated[
        float | None,
        Option(
            "--level",
            "Level of the intervals, between 0 and 1.",
            "Errors",
            "P",
            LEVEL,
            "None leaves out intervals and the depth curve.",
            float,
        ),
    ]


class PlotOptions(TypedDict, total=False):
    """What can be chosen where a chart is drawn."""

    width: Annotated[
        float | None,
        Option(
            "--width",
            "Width of the plot, or of each panel, without its axes; in points, of which an inch has 72.",
            "Output",
            "POINTS",
        ),
    ]
    height: Annotated[float | None, Option("--height", "Height of the plot, or of each panel.", "Output", "POINTS")]
    font_size: Annotated[float, Option("--font-size", "Size of the labels.", "Output", "POINTS", 10.0)]
    encodings: Annotated[
        Sequence[str] | None,
        Option(
            "--encoding",
            "An encoding to draw, one each time that the option stands. Default: all.",
            "Output",
            "NAME",
            python="Names, as the scorecard has them.",
            cli=list[str] | None,
        ),
    ]
    dpi: Annotated[float, Option("--dpi", "Pixels per inch of a PNG file.", "Output", "DPI", 300.0)]


FIXED_BY_COUNTING = frozenset(CountOptions.__annotations__) - {"seed"}
"""Keyword arguments that counts have behind them."""


def options_of(group: type) -> dict[str, tuple[Any, Any, Option]]:
    """Type, default and declaration of each option of a group, by its name."""
    stated = {field.name: field.default for field in fields(group)} if is_dataclass(group) else {}
    return {
        name: (annotation.__origin__, stated.get(name, annotation.__metadata__[0].default), annotation.__metadata__[0])
        for name, annotation in group.__annotations__.items()
    }


def among(given: Mapping[str, Any], group: type) -> dict[str, Any]:
    """Those of the given keyword arguments that a group has."""
    return {name: value for name, value in given.items() if name in group.__annotations__}


def with_defaults(given: Mapping[str, Any], group: type) -> dict[str, Any]:
    """All options of a group: as given, else their defaults, which None stands for where it has no other meaning."""
    values = {}
    for name, (kind, default, _) in options_of(group).items():
        value = given.get(name, default)
        values[name] = default if value is None and type(None) not in get_args(kind) else value
    return values
