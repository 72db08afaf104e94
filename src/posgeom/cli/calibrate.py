"""``posgeom calibrate``: are the estimates unbiased, and do the intervals cover, where the truth is known."""

import json
from contextlib import nullcontext
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import Annotated, Any, Literal

import scipy
import typer
from rich import box
from rich.table import Table

from posgeom.cli import options as o
from posgeom.cli.console import progress_bars, stdout_console
from posgeom.messages import shown
from posgeom.report.charts.calibration import bias_figure, coverage_figure
from posgeom.report.charts.figure import can_draw, write_figure
from posgeom.report.files import os_errors_named, staged_directory
from posgeom.studies.calibration import LEVEL, Calibrated, calibrate
from posgeom.studies.scenarios import SCENARIOS

EPILOG = """Examples:

posgeom calibrate --replications 40

posgeom calibrate --replications 1000 --seed 1 --out calibration

posgeom calibrate --scenario none --replications 400

A replication takes more than half a second. docs/uncertainty.md has the result of 1,000."""


def command(
    replications: Annotated[
        int, typer.Option("--replications", metavar="R", help="Corpora to draw for each scenario, at least 2.")
    ] = 100,
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            "--scenario",
            metavar="NAME",
            help=f"One of {', '.join(SCENARIOS)}; may be repeated. Default: all.",
            show_default=False,
        ),
    ] = None,
    intervals: Annotated[
        Literal["jackknife", "bootstrap"], typer.Option("--intervals", metavar="HOW", help="jackknife or bootstrap.")
    ] = "jackknife",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Write calibration.json and figures there.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout and nothing else.")] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the corpora.")] = 0,
    quiet: o.QuietOption = False,
) -> None:
    """Set every estimate and interval against the truth, on corpora where it is known."""
    with staged_directory(out) if out else nullcontext() as stage:
        with progress_bars(quiet=quiet) as progress:
            found = calibrate(replications, which=scenario, method=intervals, seed=seed, progress=progress)
        text = json.dumps({"level": LEVEL, "intervals": intervals, "rows": [_row(one) for one in found]}, indent=1)
        if stage:
            with os_errors_named(out or stage):
                (stage / "calibration.json").write_text(text + "\n", encoding="ascii")
                _draw(found, stage)
    if as_json:
        typer.echo(text)
        return
    _print(found)
    if out:
        typer.echo(f"written to {shown(out)}")


def _row(one: Calibrated) -> dict[str, Any]:
    return {name: None if isinstance(v, float) and isnan(v) else v for name, v in asdict(one).items()}


def _print(found: list[Calibrated]) -> None:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("scenario", no_wrap=True)
    table.add_column("estimate", overflow="fold")
    for header in ("truth", "mean", "spread", "bias/spread", f"in {100 * LEVEL:g} %", "plug-in"):
        table.add_column(header, justify="right", no_wrap=True)
    for one in found:
        bias = one.bias_in_spreads
        table.add_row(
            one.scenario,
            one.estimate,
            "its mean" if one.is_own_mean else _number(one.truth, ".4f"),
            *(_number(v, ".4f") for v in (one.mean, one.spread)),
            _number(bias, "+.2f"),
            _number(None if one.coverage is None else 100 * one.coverage, ".1f"),
            _number(one.plugin_mean, ".4f"),
        )
    console = stdout_console()
    console.print(table)
    console.print(
        f"{found[0].n_replications} replications. rejected: share in which the first axis is significant.\n"
        "limit of d^2: a bracket for unlimited text, not a confidence interval.\n"
        "its mean: what half of a corpus tells about the other half has no other truth, nor have ranks."
    )


def _number(value: float | None, spec: str) -> str:
    return "" if value is None or isnan(value) else format(value, spec)


def _draw(found: list[Calibrated], stage: Path) -> None:
    """Figures, where the extra is installed."""
    if not can_draw():
        return
    directory = stage / "figures"
    directory.mkdir()
    covered = [one for one in found if one.coverage is not None]
    n = found[0].n_replications
    rows = []
    for one in covered:
        held = round((one.coverage or 0) * one.n_intervals)
        interval = scipy.stats.binomtest(held, one.n_intervals).proportion_ci(method="wilson")
        row: dict[str, Any] = {"scenario": one.scenario, "estimate": one.estimate, "coverage": one.coverage}
        rows.append(row | {"low": float(interval.low), "high": float(interval.high)})
    caption = f"{n} replications a scenario; lines: what their number leaves open (95 %)."
    write_figure(coverage_figure(rows, level=LEVEL, caption=caption), directory)
    ratios = [
        {"scenario": one.scenario, "estimate": one.estimate, "estimator": estimator, "ratio": value / one.truth}
        for one in covered
        for estimator, value in (("plug-in", one.plugin_mean), ("cross-validated", one.mean))
        if not one.is_own_mean and " - " not in one.estimate  # a difference may be 0
        if value is not None and value > 0 and one.truth > 0.02 * abs(value)
    ]
    write_figure(bias_figure(ratios, caption=f"Means of {n} replications, one point a scenario."), directory)
