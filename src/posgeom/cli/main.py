"""The command line: one application, and one place where errors become a line and an exit code."""

import os
import signal
import sys
from types import FrameType
from typing import Annotated, NoReturn

import typer

from posgeom import __version__
from posgeom.cli import analyze, count, demo
from posgeom.errors import PosgeomError

EXIT_USER_ERROR = 2
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="posgeom",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Measure the geometry of positions in a corpus, and score positional encodings against it.",
)
app.command("analyze", epilog=analyze.EPILOG)(analyze.command)
app.command("count", epilog=count.EPILOG)(count.command)
app.command("merge", epilog=count.MERGE_EPILOG)(count.merge_command)
app.command("demo", epilog=demo.EPILOG)(demo.command)


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"posgeom {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    pass


def main() -> NoReturn:
    """Run the command line; every expected failure is one line on stderr and exit code 2."""
    signal.signal(signal.SIGTERM, _terminate)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # an 8-bit stream must not fail on a character it lacks
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_run())


def _run() -> int:
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except (PosgeomError, typer.TyperException) as error:
        message = error.format_message() if isinstance(error, typer.TyperException) else str(error)
        return _fail(message)
    except (KeyboardInterrupt, typer.Abort):
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader has left (`| head`): nothing more to say, and nothing to say at interpreter exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return _fail("out of memory: use a smaller -n")
    except OSError as error:
        return _fail(f"{error.strerror or error}{f': {error.filename!r}' if error.filename else ''}")
    if code == EXIT_INTERRUPTED:  # also what the application returns after Ctrl-C
        print("posgeom: interrupted", file=sys.stderr)
    return code if isinstance(code, int) else 0


def _fail(message: str) -> int:
    if message:  # empty where the help was printed instead
        print(f"posgeom: error: {' '.join(message.split())}", file=sys.stderr)
    return EXIT_USER_ERROR


def _terminate(signum: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    raise KeyboardInterrupt
