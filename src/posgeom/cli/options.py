"""Options that several commands share."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from posgeom.errors import CorpusError
from posgeom.options import FIXED_BY_COUNTING, MetricName, Option, ReadOptions, options_of

PANELS = ("Corpus", "Tokens", "Geometry", "Encodings", "Errors", "Training", "Output", "Cluster")
"""Headings of options in the help, in their order."""

CorpusArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CORPUS...",
        help="Files, quoted globs, directories, URLs (s3://bucket/part-*.txt.gz), Hugging Face datasets "
        "(hf:NAME:CONFIG:SPLIT), or - for standard input: text, JSON, CSV, TSV, Parquet, Arrow, "
        "FASTA and other sequences, CoNLL-U, plain or .gz, .bz2, .zst.",
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
    ),
]
BinsOption = Annotated[
    str | None,
    typer.Option(
        "--bins",
        metavar="KIND:K",
        help="Add counts up over K bins of positions, uniform:K or geometric:K, so that far positions gain depth.",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers", metavar="K", help="Tokenising threads, or processes of --engine dask. Default: one per core."
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


def n_positions_option(text: str) -> Any:
    """The option ``-n`` of a command that says by itself what it means there, and its default."""
    return typer.Option("-n", "--n-positions", metavar="N", help=text)


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
