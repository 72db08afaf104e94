"""How far long work is: steps and their rate in the bar, and a line a minute in the log."""

import time

import pytest
from rich.progress import Progress

from posgeom.cli import console


def test_the_bar_of_training_has_steps_and_their_rate() -> None:
    now = 0.0
    bars = Progress(get_time=lambda: now)
    task = bars.add_task(console.TRAINING, total=100)
    bars.update(task, completed=10)
    now = 5.0
    bars.update(task, completed=30)
    assert console._RateColumn().render(bars.tasks[0]).plain == "30/100 steps, 4.0/s"
    other = bars.add_task("items", total=3)
    assert console._RateColumn().render(bars.tasks[other]).plain == ""


def test_the_log_has_a_line_a_minute(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with console.progress_bars(quiet=False, verbose=True) as hook:
        hook("training", 100, 400)  # a run that goes on
        for now, done in ((30.0, 160), (61.0, 222), (70.0, 240), (130.0, 400)):  # noqa: B007  the clock of the test
            hook("training", done, 400)
    lines = [line.split(" ", 2)[2] for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        "training: begins, 400 to do",
        "training: 222 of 400, 2 a second, 89 s left",
        "training: done, 400 in 130.0 s",
    ]
