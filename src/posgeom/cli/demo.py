"""``posgeom demo``: two corpora without any download."""

import platform
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from posgeom.analysis import analyze
from posgeom.cli import options as o
from posgeom.cli.console import progress_bars, stdout_console
from posgeom.counts.counting import count
from posgeom.estimation.metrics import distribution_distances
from posgeom.inference.scorecard import Scorecard
from posgeom.messages import shown
from posgeom.options import ReadOptions
from posgeom.progress import ProgressHook
from posgeom.report.charts.figure import can_draw
from posgeom.report.drawn import REPORT, draw_run
from posgeom.report.files import staged_directory, write_files
from posgeom.report.table import print_analysis
from posgeom.report.terminal import print_paragraph
from posgeom.results import Analysis
from posgeom.simulation.standard_library import standard_library_files
from posgeom.simulation.synthetic import synthetic

EPILOG = """Example:

posgeom demo --out demo-run"""

SYNTHETIC_N_DIMS = 16
SOURCE_N_POSITIONS = 80
SOURCE_N_DIMS = 128
EARLY_COLUMNS = 8


def command(
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Write both runs there, one directory each.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the synthetic corpus.")] = 0,
    quiet: o.QuietOption = False,
    verbose: o.VerboseOption = False,
) -> None:
    """Analyse a synthetic corpus with known structure, and the source lines of Python's standard library."""
    console = stdout_console()
    with ExitStack() as stack:
        stages = {name: stack.enter_context(staged_directory(out / name)) for name in _STUDIES} if out else {}
        for name, study in _STUDIES.items():
            with progress_bars(quiet=quiet, verbose=verbose) as progress:
                result = study(seed, progress)
            console.print(result.title, style="bold")
            console.print()
            print_analysis(result.analysis, console)
            console.print()
            print_paragraph(" ".join(result.findings), console)
            console.print()
            if out:
                with progress_bars(quiet=quiet, verbose=verbose) as progress:
                    write_files(result.analysis, stages[name], out / name)
                    if can_draw():
                        draw_run(stages[name], out / name, progress=progress)
    if out:
        console.print(f"written to {shown(out)}: {', '.join(_STUDIES)}")
        for name in _STUDIES if can_draw() else ():
            console.print(f"report: {shown(out / name / REPORT)}")


@dataclass(frozen=True, slots=True)
class _Study:
    title: str
    analysis: Analysis
    findings: list[str]


def _synthetic(seed: int, progress: ProgressHook) -> _Study:
    corpus = synthetic(seed=seed)
    analysis = analyze(corpus.counts, n_dims=SYNTHETIC_N_DIMS, seed=seed, progress=progress)
    geometry, card = analysis.geometry, analysis.scorecard
    truth = distribution_distances(corpus.distributions)[np.triu_indices(corpus.regimes.size, 1)]
    true_mean = float((truth**2).mean())
    axes = geometry.spectrum.explained
    findings = [
        (
            f"Three regimes make a geometry of few dimensions: two axes hold {axes[:2].sum():.0%} of it, three "
            f"{axes[:3].sum():.0%}."
        ),
        (
            f"The true mean squared distance is {true_mean:.3f}; the plug-in estimate is off by "
            f"{geometry.plugin.mean_squared / true_mean - 1:+.1%}, the cross-validated one by "
            f"{geometry.distances.mean_squared / true_mean - 1:+.1%}: {corpus.counts.n_documents:,} documents are "
            f"plenty for {corpus.counts.vocab_size} tokens, and what is left is overlap in tokens too rare to be seen "
            "in both halves."
        ),
        _ranking(card),
    ]
    return _Study("1. A synthetic corpus: initial, medial and terminal positions", analysis, findings)


def _source_lines(seed: int, progress: ProgressHook) -> _Study:
    counts = count(
        list(standard_library_files()),
        "chars",
        n_positions=SOURCE_N_POSITIONS,
        options=ReadOptions(format="text", utf8_errors="replace"),
        progress=progress,
    )
    name = f"standard library of Python {platform.python_version()}"
    analysis = analyze(replace(counts, sources=(name,)), n_dims=SOURCE_N_DIMS, seed=seed, progress=progress)
    distances = analysis.geometry.distances
    half = len(distances) // 2
    early = distances.values[:EARLY_COLUMNS, :EARLY_COLUMNS][np.triu_indices(EARLY_COLUMNS, 1)].mean()
    late = distances.values[half:, half:][np.triu_indices(len(distances) - half, 1)].mean()
    first = analysis.geometry.spectrum.explained[0]
    findings = [
        (
            f"Indentation makes the first columns unlike each other and unlike the rest: their mean distance is "
            f"{early:.3f} among columns 0-{EARLY_COLUMNS - 1}, against {late:.3f} in the second half of the line, and "
            f"one axis holds {first:.0%} of the geometry."
        ),
        _ranking(analysis.scorecard),
    ]
    return _Study(
        "2. A real corpus: source lines, one a document, characters as tokens",
        analysis,
        findings,
    )


def _ranking(card: Scorecard) -> str:
    """Name the most and the least faithful of the encodings that know nothing of the corpus."""
    if card.undefined is not None:
        return f"Encodings are not ranked: {card.undefined}."
    fixed = sorted(
        (row for row in card.rows if not row.name.startswith("mds") and row.alignment is not None),
        key=lambda row: -(row.alignment or 0.0),
    )
    best, worst = fixed[0], fixed[-1]
    return (
        f"The encoding that knows nothing of the corpus and has most of its geometry is {best.name} (alignment "
        f"{best.alignment:.3f}), the one that has least is {worst.name} ({worst.alignment:.3f}); two dimensions fitted "
        f"to the corpus have {card['mds:rank=2'].alignment or 0:.3f}."
    )


_STUDIES = {"synthetic": _synthetic, "source-lines": _source_lines}
