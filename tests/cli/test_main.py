"""The process around the commands: help, streams, signals."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import get_args

import pytest

from posgeom.estimation.metrics import METRICS
from posgeom.options import MetricName
from tests.cli.helpers import ENTRY, Run, visible


def test_help_and_version(run: Run) -> None:
    for command in (
        "analyze",
        "count",
        "merge",
        "encodings",
        "export",
        "inspect",
        "layers",
        "order",
        "report",
        "plot",
        "reproduce",
        "compare",
        "calibrate",
        "demo",
    ):
        done = run(command, "--help")
        assert done.returncode == 0
        assert "Example" in done.stdout
        assert "\u2026" not in done.stdout  # no name of an option is cut short at 80 columns
    assert run("--version").stdout.startswith("posgeom 0")
    assert run("--help").returncode == 0
    module = subprocess.run([sys.executable, "-m", "posgeom", "--version"], capture_output=True, text=True, check=True)
    assert module.stdout == run("--version").stdout
    bare = run()
    assert (bare.returncode, bare.stderr) == (2, "")
    assert "analyze" in bare.stdout


@pytest.mark.slow
def test_standard_output_that_is_full(corpus: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*ENTRY, "analyze", str(corpus), "--json"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "cannot write standard output: No space left on device" in done.stderr


@pytest.mark.slow
def test_closed_streams(corpus: Path) -> None:
    entry = f"{sys.executable} -c 'from posgeom.cli.main import main; main()'"
    for line, code, out in (
        (f"{entry} analyze {corpus} >&-", 0, b""),
        (f"{entry} analyze {corpus} 2>&- | head -c 6", 0, b"corpus"),
        (f"{entry} analyze missing --json 2>&-", 2, b""),
    ):
        done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (code, out, b"")


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["head -c 10", "true"])
def test_a_reader_that_leaves(corpus: Path, reader: str) -> None:
    command = f"{sys.executable} -c 'from posgeom.cli.main import main; main()' analyze {corpus} --json | {reader}"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("wait", [0.0, 0.6])
def test_interruption_leaves_no_file(tmp_path: Path, which: signal.Signals, wait: float) -> None:
    """Killed while it reads an endless corpus from standard input."""
    process = subprocess.Popen(
        [*ENTRY, "analyze", "-", "--out", "run"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A test run in the background has SIGINT ignored, and its children would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdin is not None
    deadline = time.monotonic() + 60
    while not (tmp_path / "run").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.stdin.write(b"some words here\n" * 50_000)
    process.stdin.flush()
    time.sleep(wait)
    process.send_signal(which)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err) == (b"", b"posgeom: interrupted\n")
    assert visible(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_an_8_bit_standard_output(run_process: Run, corpus: Path, tmp_path: Path, encoding: str) -> None:
    odd = tmp_path / "\u4e2d\u6587 [red]\x1b[2J.txt"
    odd.write_text(corpus.read_text())
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "TERM": "dumb"}
    done = run_process("analyze", odd, "-n", 12, "-d", 8, env=environment, encoding=encoding)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert "[red]" in done.stdout


def test_the_metrics_offered_are_those_there_are() -> None:
    assert get_args(MetricName) == tuple(METRICS)
