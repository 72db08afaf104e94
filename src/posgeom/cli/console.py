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


class _RateColumn(TransferSpeedColumn):
    """The speed of the stages that take long: bytes of counting, steps of training."""

    def render(self, task: Task) -> Text:
        if task.description == TRAINING:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{task.completed:.0f}/{task.total:.0f} steps, {speed:.1f}/s")
        return super().render(task) if task.description == "counting" else Text()


TRAINING = "training"
_EVERY = 60.0
"""Seconds between the lines on a stage that takes longer."""


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
    columns = (TextColumn("{task.description}"), BarColumn(), _RateColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bars:

        def hook(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield hook


def _log_lines() -> ProgressHook:
    """A progress hook that writes a line as a stage begins, one as it ends, and one a minute in between."""
    started: dict[str, float] = {}
    first: dict[str, int] = {}
    told: dict[str, float] = {}
    ended: set[str] = set()

    def hook(stage: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if stage not in started:
            started[stage] = told[stage] = now
            first[stage] = done
            _log(f"{stage}: begins" + ("" if total is None else f", {total:,} to do"))
        if total is not None and done >= total and stage not in ended:
            _log(f"{stage}: done, {done:,} in {now - started[stage]:.1f} s")
            ended.add(stage)
        elif total is not None and stage not in ended and now - told[stage] >= _EVERY and done > first[stage]:
            rate = (done - first[stage]) / (now - started[stage])
            _log(f"{stage}: {done:,} of {total:,}, {rate:.3g} a second, {(total - done) / rate:.0f} s left")
            told[stage] = now

    return hook


def _log(text: str) -> None:
    print(f"posgeom: {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
