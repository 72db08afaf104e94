"""``posgeom calibrate``: are the estimates unbiased, and do the intervals cover, where the truth is known."""

import json
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import scipy
import typer

from posgeom.cli import options as o
from posgeom.cli.console import progress_bars, stdout_console
from posgeom.messages import shown
from posgeom.policies import LEVEL
from posgeom.report.charts.calibration import coverage_figure
from posgeom.report.charts.figure import can_draw, write_figure
from posgeom.report.files import os_errors_named, staged_directory
from posgeom.report.terminal import print_table
from posgeom.simulation.calibration import Calibrated, calibrate
from posgeom.simulation.scenarios import scenarios
from posgeom.tables import Cell, Column, Table, cell, percent

EPILOG = """Examples:

posgeom calibrate --replications 40

posgeom calibrate --replications 400 --seed 1 --out calibration

posgeom calibrate --scenario "none: runs" --replications 400

A replication takes about a fifth of a second. docs/statistics.md has the result of 400."""


def command(
    replications: Annotated[
        int, typer.Option("--replications", metavar="R", help="Corpora to draw for each scenario, at least 2.")
    ] = 100,
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            "--scenario", metavar="NAME", help=f"One of {', '.join(scenarios())}; may be repeated. Default: all."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write calibration.json and a figure there.")
    ] = None,
    as_json: o.JsonOption = False,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the corpora.")] = 0,
    workers: o.WorkersOption = None,
    quiet: o.QuietOption = False,
) -> None:
    """Set every estimate and interval against the truth, on corpora where it is known."""
    with staged_directory(out) if out else nullcontext() as stage:
        with progress_bars(quiet=quiet) as progress:
            found = calibrate(replications, which=scenario, seed=seed, workers=workers, progress=progress)
        document = {"level": LEVEL, "replications": replications, "seed": seed, "rows": [asdict(one) for one in found]}
        text = json.dumps(document, indent=1, allow_nan=False)
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


def _print(found: list[Calibrated]) -> None:
    titles = ("truth", "mean", "bias", "SE", f"in {100 * LEVEL:g} %")
    columns = [Column("scenario", left=True), Column("estimate", left=True), *map(Column, titles)]
    rows = [
        [
            Cell(one.scenario),
            Cell(one.estimate),
            Cell("its mean") if one.truth is None and one.coverage is not None else _known(cell(one.truth, ".4f")),
            _known(cell(one.mean, ".4f")),
            _known(cell(one.bias, "+.2f")),
            _known(cell(one.error_ratio, ".2f")),
            _known(percent(one.coverage, ".1f")),
        ]
        for one in found
    ]
    console = stdout_console()
    print_table(Table("", columns, rows), console)
    console.print(
        f"{found[0].n_replications} replications. truth: what samples of the common depth show. bias: in sampling\n"
        "deviations. SE: median standard error over the sampling deviation; above 1 it is cautious.\n"
        "its mean: what half of a corpus tells about the other half has no other truth, nor have ranks."
    )


def _known(value: Cell) -> Cell:
    """A cell that stays empty where there is no such number."""
    return value if value.text is not None else Cell("")


def _draw(found: list[Calibrated], stage: Path) -> None:
    """The figure, where the extra is installed."""
    if not can_draw():
        return
    directory = stage / "figures"
    directory.mkdir()
    rows = []
    for one in found:
        if one.coverage is None:
            continue
        held = round(one.coverage * one.n_intervals)
        interval = scipy.stats.binomtest(held, one.n_intervals).proportion_ci(method="wilson")
        row: dict[str, Any] = {"scenario": one.scenario, "estimate": one.estimate, "coverage": one.coverage}
        rows.append(row | {"low": float(interval.low), "high": float(interval.high)})
    caption = f"{found[0].n_replications} replications a scenario; lines: what their number leaves open (95 %)."
    write_figure(coverage_figure(rows, level=LEVEL, caption=caption), directory)
