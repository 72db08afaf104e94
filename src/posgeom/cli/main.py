"""The command line: one application, and one place where errors become a line and an exit code."""

import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, NoReturn

import typer

from posgeom import __version__
from posgeom.cli import (
    analyze,
    calibrate,
    claims,
    compare,
    count,
    demo,
    encodings,
    export,
    fit,
    inspect,
    layers,
    order,
    plot,
    report,
    reproduce,
    theory,
    theory_models,
    tokens,
    train,
    warp,
)
from posgeom.errors import PosgeomError
from posgeom.messages import printable, shown

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
app.command("tokens", epilog=tokens.EPILOG)(tokens.command)
app.command("warp", epilog=warp.EPILOG)(warp.command)
app.command("encodings", epilog=encodings.EPILOG)(encodings.command)
app.command("export", epilog=export.EPILOG)(export.command)
app.command("fit", epilog=fit.EPILOG)(fit.command)
app.command("inspect", epilog=inspect.EPILOG)(inspect.command)
app.command("layers", epilog=layers.EPILOG)(layers.command)
app.command("order", epilog=order.EPILOG)(order.command)
app.command("calibrate", epilog=calibrate.EPILOG)(calibrate.command)
app.command("compare", epilog=compare.EPILOG)(compare.command)
app.command("report", epilog=report.EPILOG)(report.command)
app.command("plot", epilog=plot.EPILOG)(plot.command)
app.command("reproduce", epilog=reproduce.EPILOG)(reproduce.command)
app.command("train", epilog=train.EPILOG)(train.command)
app.command("demo", epilog=demo.EPILOG)(demo.command)
app.command("claims", epilog=claims.EPILOG)(claims.command)
app.add_typer(theory.app, name="theory")
theory.app.command("necessity", epilog=theory_models.NECESSITY_EPILOG)(theory_models.necessity_command)
theory.app.command("separation", epilog=theory_models.SEPARATION_EPILOG)(theory_models.separation_command)
theory.app.command("ntk", epilog=theory_models.NTK_EPILOG)(theory_models.ntk_command)


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
