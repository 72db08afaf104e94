"""The command line: one application, and one place where errors become a line and an exit code."""

import io
import os
import signal
import sys
from ast import FunctionDef, get_docstring, parse
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup

import posgeom
from posgeom.errors import PosgeomError
from posgeom.messages import printable, shown

EXIT_USER_ERROR = 2
EXIT_INTERRUPTED = 130

COMMANDS = {
    "analyze": "analyze",
    "count": "count",
    "merge": "count.merge_command",
    "axes": "axes",
    "tokens": "tokens",
    "warp": "warp",
    "encodings": "encodings",
    "export": "export",
    "fit": "fit",
    "inspect": "inspect",
    "layers": "layers",
    "order": "order",
    "calibrate": "calibrate",
    "compare": "compare",
    "report": "report",
    "plot": "plot",
    "reproduce": "reproduce",
    "train": "train",
    "demo": "demo",
    "claims": "claims",
    "theory": "theory",
}
"""The module of each command in this package, and its function where that is not `command`."""


@cache
def _command(name: str) -> Any:
    module, _, function = COMMANDS[name].partition(".")
    read = import_module(f"posgeom.cli.{module}")
    if name == "theory":
        import_module("posgeom.cli.theory_models")  # its other commands
        return typer.main.get_command(read.app)
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    epilog = read.MERGE_EPILOG if name == "merge" else read.EPILOG
    # Unescaped, the name of an extra in brackets is taken for a style, and vanishes.
    alone.command(name, epilog=escape(epilog))(getattr(read, function or "command"))
    return typer.main.get_command(alone)


def _summary(name: str) -> TyperCommand:
    """A command that has its help alone, from the source of its module."""
    module, _, function = COMMANDS[name].partition(".")
    source = files("posgeom.cli").joinpath(f"{module}.py").read_text(encoding="utf-8")
    (stated,) = (n for n in parse(source).body if isinstance(n, FunctionDef) and n.name == (function or "command"))
    return TyperCommand(name, help=get_docstring(stated))


class _Later(dict[str, Any]):
    """Commands that are read when they are asked for: a run needs one of them."""

    def __getitem__(self, name: str) -> Any:
        return _command(name)

    def get(self, name: str, default: Any = None) -> Any:
        return _command(name) if name in self else default


class _Group(TyperGroup):
    """The application: listing its commands reads none of them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": _Later.fromkeys(COMMANDS)})

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        later, self.commands = self.commands, {name: _summary(name) for name in COMMANDS}
        super().format_help(ctx, formatter)
        self.commands = later


app = typer.Typer(
    name="posgeom",
    cls=_Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Measure the geometry of positions in a corpus, and score positional encodings against it.",
)


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"posgeom {posgeom.__version__}")
        raise typer.Exit


@app.callback(
    epilog="""Start here:

posgeom demo

posgeom analyze FILE --column text -t bert-base-uncased --out run

posgeom COMMAND --help

FILE is text, CSV, JSON, Parquet, FASTA or a hub's hf:NAME. Out come a table, a page (run/report.html) and files."""
)
def _root(
    show_version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


def main() -> NoReturn:
    """Run the command line; every expected failure is one line on stderr and exit code 2."""
    signal.signal(signal.SIGTERM, _terminate)
    # Closed by the caller: what would be written there has no reader, and must not end up on the other stream.
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # an 8-bit stream must not fail on a character it lacks
            stream.reconfigure(errors="backslashreplace")
    with _stderr_of_our_own():
        sys.exit(_run())


@contextmanager
def _stderr_of_our_own() -> Iterator[None]:
    """Write to a copy of standard error, so that what compiled code prints there can be told from it, and dropped."""
    shared = sys.stderr
    try:
        descriptor = os.dup(shared.fileno())
    except (AttributeError, OSError, ValueError):  # no file of the system
        yield
        return
    with os.fdopen(descriptor, "w", buffering=1, encoding=shared.encoding, errors="backslashreplace") as own:
        sys.stderr = own
        try:
            yield
        finally:
            sys.stderr = shared


def _run() -> int:
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except (PosgeomError, typer.TyperException) as error:
        return _fail(error.format_message() if isinstance(error, typer.TyperException) else str(error))
    except (KeyboardInterrupt, typer.Abort):
        code = EXIT_INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # The reader has left (`| head`), which the application makes an exit of its own. There is nobody to tell,
        # and nothing to say at interpreter exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return _fail("out of memory: use a smaller -n or -d")
    except OSError as error:
        place = shown(error.filename) if error.filename else "cannot write standard output"
        return _fail(f"{place}: {error.strerror or error}")
    if code == EXIT_INTERRUPTED:  # also what the application returns after Ctrl-C
        print("posgeom: interrupted", file=sys.stderr)
    return code if isinstance(code, int) else 0


def _fail(message: str) -> int:
    if message:  # empty where the help was printed instead
        print(f"posgeom: error: {printable(' '.join(message.split()))}", file=sys.stderr)
    return EXIT_USER_ERROR


def _terminate(signum: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    raise KeyboardInterrupt
