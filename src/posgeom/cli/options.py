"""Options that several commands share."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from posgeom.errors import CorpusError, CountsError
from posgeom.options import (
    FIXED_BY_COUNTING,
    Engine,
    EngineName,
    Format,
    MetricName,
    Option,
    Quoting,
    ReadOptions,
    Utf8Errors,
    options_of,
)

PANELS = ("Corpus", "Tokens", "Geometry", "Encodings", "Errors", "Training", "Output", "Cluster")
"""Headings of options in the help, in their order."""

CorpusArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CORPUS...",
        help="Files, quoted globs, directories, URLs (s3://bucket/part-*.txt.gz), Hugging Face datasets "
        "(hf:NAME:CONFIG:SPLIT), or - for standard input: text, JSON, CSV, TSV, Parquet, Arrow, "
        "FASTA and other sequences, CoNLL-U, plain or .gz, .bz2, .zst.",
        show_default=False,
    ),
]
TokenizerOption = Annotated[
    str | None,
    typer.Option(
        "-t",
        "--tokenizer",
        metavar="TOKENIZER",
        rich_help_panel="Tokens",
        help="A tokenizer.json, a model directory, a hub name, or bytes, chars, whitespace. Default: whitespace; "
        "chars for sequences.",
        show_default=False,
    ),
]
PositionsOption = Annotated[int, typer.Option("-n", "--n-positions", metavar="N", help="Context length.")]
FoldsOption = Annotated[int, typer.Option("--folds", metavar="F", help="Folds for cross-validation.")]
MinLengthOption = Annotated[
    int | None,
    typer.Option(
        "--min-length",
        metavar="L",
        help="Count only documents whose sequence takes L positions or more, special tokens included.",
        show_default=False,
    ),
]
FullLengthOption = Annotated[
    bool,
    typer.Option("--full-length", help="Count only documents that fill the context: --min-length with L = n."),
]
BinsOption = Annotated[
    str | None,
    typer.Option(
        "--bins",
        metavar="KIND:K",
        help="Add counts up over K bins of positions, uniform:K or geometric:K, so that far positions gain depth.",
        show_default=False,
    ),
]
ColumnOption = Annotated[
    str | None,
    typer.Option(
        "--column",
        metavar="NAME",
        help="Text column: a name, or a 1-based number in CSV and TSV.",
        show_default=False,
    ),
]
FoldByOption = Annotated[
    str,
    typer.Option(
        "--fold-by",
        metavar="BY",
        help="What decides a document's fold. text: copies share one. row: its number, for short documents that "
        "coincide by chance. Else a column, whose values stay together (near-duplicates, authors, patients); "
        "column:text is a column called text.",
    ),
]
FormatOption = Annotated[
    Format,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="text, jsonl, csv, tsv, parquet, arrow or fasta, where the file name does not tell.",
    ),
]
HeaderOption = Annotated[bool, typer.Option("--header/--no-header", help="Whether CSV and TSV have a header row.")]
QuotingOption = Annotated[
    Quoting,
    typer.Option(
        "--quoting", metavar="HOW", help="csv (double quotes have a meaning), none, or auto: in CSV yes, in TSV no."
    ),
]
WholeFilesOption = Annotated[
    bool, typer.Option("--whole-files", help="A text file is one document, instead of one document per line.")
]
Utf8ErrorsOption = Annotated[
    Utf8Errors,
    typer.Option(
        "--utf8-errors", metavar="HOW", help="Invalid UTF-8: strict stops and names the row, replace puts U+FFFD."
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="K",
        help="Tokenising threads, or processes of --engine dask. Default: one per core.",
        show_default=False,
    ),
]
EngineOption = Annotated[
    Engine,
    typer.Option(
        "--engine",
        metavar="WHERE",
        help="Count local, in this process, or with dask, on a cluster, which can be resumed.",
    ),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Dask scheduler, as in tcp://10.0.0.1:8786. Default: processes of this machine.",
        show_default=False,
    ),
]
RunDirOption = Annotated[
    str | None,
    typer.Option(
        "--run-dir",
        metavar="DIR_OR_URL",
        help="Where --engine dask keeps partial counts, to go on from there when it is run again.",
        show_default=False,
    ),
]
PartitionSizeOption = Annotated[
    str | None,
    typer.Option(
        "--partition-size",
        metavar="BYTES",
        help="Bytes of input for one task, as in 64MiB. Default: a 64th of the corpus, within 4 MiB and 128 MiB.",
        show_default=False,
    ),
]
RecountChangedOption = Annotated[
    bool,
    typer.Option("--recount-changed", help="In a run directory made before files were changed: count these again."),
]
TokenizerEngineOption = Annotated[
    EngineName,
    typer.Option(
        "--tokenizer-engine",
        metavar="ENGINE",
        help="What computes the ids of a tokenizer.json: auto (the fastest exact way), reference (tokenizers itself), "
        "nanotoken, gigatoken, fastokens or chunks.",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON on stdout and nothing else.", rich_help_panel="Output")
]
QuietOption = Annotated[bool, typer.Option("-q", "--quiet", rich_help_panel="Output", help="No progress bars.")]
ReportOption = Annotated[
    bool,
    typer.Option(
        "--report/--no-report",
        rich_help_panel="Output",
        help="With --out, whether to write report.html and figures too.",
    ),
]
VerboseOption = Annotated[
    bool,
    typer.Option(
        "-v", "--verbose", rich_help_panel="Output", help="A line on standard error as each stage begins and ends."
    ),
]
CountsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--counts",
        metavar="FILE",
        rich_help_panel="Corpus",
        help="Counts made by `posgeom count`, instead of a corpus; several are merged.",
        show_default=False,
    ),
]
MetricOption = Annotated[
    MetricName,
    typer.Option(
        "--metric",
        metavar="NAME",
        help="Distance between distributions: hellinger, hellinger-normalized, fisher-rao, jensen-shannon or "
        "total-variation.",
    ),
]


def min_length(least: int | None, n_positions: int, *, full: bool) -> int | None:
    """What --min-length and --full-length ask for together."""
    if full and least is not None:
        raise CountsError("got both --min-length and --full-length: expected one of them")
    return n_positions if full else least


def takes(*groups: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of some groups, and call it with those that were given, as keyword arguments.

    Those of `ReadOptions` travel together, as ``options``; a parameter that the command has itself goes first. Where it
    has a parameter ``counts`` that was given, the options that are fixed by counting are refused.
    """
    known = {name: stated for group in groups for name, stated in options_of(group).items() if stated[2].flags}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        declared = {name: stated for name, stated in known.items() if name not in signature.parameters}
        reading = declared.keys() & ReadOptions.__annotations__.keys() if ReadOptions in groups else set()
        fixed = (FIXED_BY_COUNTING | reading) & declared.keys() | {"tokenizer"}

        def call(context: typer.Context, **values: Any) -> None:
            given = {name for name in values if _is_given(context, name)}
            if values.get("counts"):
                for name in sorted(given & fixed):
                    flag = declared[name][2].flags.split(", ")[0].split("/")[0] if name in declared else "-t"
                    raise CorpusError(f"{flag} was fixed when the counts were made: leave it out, or count again")
            options = {name: _parsed(declared[name][2], values[name]) for name in declared if name in given}
            read = {name: options.pop(name) for name in reading & options.keys()}
            if read:
                options["options"] = ReadOptions(**read)
            command(**{p.name: values[p.name] for p in own}, **options)

        parameters = [inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]
        parameters += [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]
        parameters += [_parameter(name, *stated) for name, stated in declared.items()]
        parameters.sort(key=_panel)
        call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {p.name: p.annotation for p in parameters}
        call.__doc__ = command.__doc__
        return call

    return decorate


def _panel(parameter: inspect.Parameter) -> int:
    """Where a parameter stands in the help: arguments first, then panel by panel."""
    info = getattr(parameter.annotation, "__metadata__", [None])[0]
    panel = getattr(info, "rich_help_panel", None)
    return PANELS.index(panel) if panel in PANELS else -1


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _parsed(option: Option, value: Any) -> Any:
    return value if option.parse is None else option.parse(value)


def _parameter(name: str, kind: Any, default: Any, option: Option) -> inspect.Parameter:
    """An option as typer reads it."""
    shown = default if isinstance(default, str | int | float | bool) else None
    info = typer.Option(
        *option.flags.split(", "),
        help=option.help,
        metavar=option.metavar,
        rich_help_panel=option.panel,
        show_default=shown is not None and not isinstance(shown, bool),
    )
    annotated: Any = Annotated[option.cli or kind, info]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=shown, annotation=annotated)
