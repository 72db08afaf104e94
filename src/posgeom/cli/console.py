"""Where output goes: results on stdout, progress on stderr, whatever these are connected to."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from posgeom.progress import ProgressHook, silent
from posgeom.report.terminal import WIDTH


def stdout_console() -> Console:
    """A console for results: 100 columns, or less where the terminal has less."""
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    width = min(console.width, WIDTH) if console.is_terminal else WIDTH
    return Console(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)


class _ByteRateColumn(TransferSpeedColumn):
    """The speed of the one stage that is measured in bytes."""

    def render(self, task: Task) -> Text:
        return super().render(task) if task.description == "counting" else Text()


@contextmanager
def progress_bars(*, quiet: bool, verbose: bool = False) -> Iterator[ProgressHook]:
    """A progress hook that draws bars on stderr when that is a terminal, and is silent otherwise."""
    if verbose and sys.stderr is not None:
        yield _log_lines()
        return
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield silent
        return
    tasks: dict[str, TaskID] = {}
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        _ByteRateColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bars:

        def hook(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield hook


def _log_lines() -> ProgressHook:
    """A progress hook that writes a line as a stage begins, and one as it ends."""
    started: dict[str, float] = {}
    ended: set[str] = set()

    def hook(stage: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if stage not in started:
            started[stage] = now
            _log(f"{stage}: begins" + ("" if total is None else f", {total:,} to do"))
        if total is not None and done >= total and stage not in ended:
            _log(f"{stage}: done, {done:,} in {now - started[stage]:.1f} s")
            ended.add(stage)

    return hook


def _log(text: str) -> None:
    print(f"posgeom: {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
