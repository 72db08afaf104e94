"""``posgeom demo``: two real corpora without any download."""

import platform
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from posgeom.analysis import analyze, geometry_by
from posgeom.cli import options as o
from posgeom.cli.console import progress_bars, stdout_console
from posgeom.counts.counting import count, count_texts
from posgeom.counts.position_counts import PositionCounts
from posgeom.inference.jackknife import Estimate
from posgeom.inference.scorecard import Scorecard, scorecard
from posgeom.messages import shown
from posgeom.options import ReadOptions
from posgeom.policies import LEVEL
from posgeom.progress import ProgressHook
from posgeom.report.charts.figure import can_draw
from posgeom.report.drawn import REPORT, draw_run
from posgeom.report.files import staged_directory, write_files
from posgeom.report.table import print_analysis
from posgeom.report.terminal import print_paragraph
from posgeom.results import Analysis
from posgeom.simulation.standard_library import docstrings, standard_library_files

EPILOG = """Example:

posgeom demo --out demo-run"""

DOCSTRING_N_POSITIONS, SOURCE_N_POSITIONS, N_DIMS = 40, 80, 128
EARLY_COLUMNS = 8


def command(
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write both runs there, one directory each.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of splits and random encodings.")] = 0,
    quiet: o.QuietOption = False,
    verbose: o.VerboseOption = False,
) -> None:
    """Analyse the docstrings of Python's standard library, word by word, and its source lines, character by character.

    What was found comes first, the tables behind it.
    """
    console = stdout_console()
    results: list[_Study] = []
    with ExitStack() as stack:
        stages = {name: stack.enter_context(staged_directory(out / name)) for name in _STUDIES} if out else {}
        for name, study in _STUDIES.items():
            with progress_bars(quiet=quiet, verbose=verbose) as progress:
                result = study(seed, progress)
                if out:
                    write_files(result.analysis, stages[name], out / name)
                    if can_draw():
                        draw_run(stages[name], out / name, progress=progress)
            console.print(result.title, style="bold")
            for sentence in result.findings:
                print_paragraph(sentence, console, bullet="- ")
            if out and can_draw():
                console.print(f"report: {shown(out / name / REPORT)}")
            console.print()
            results.append(result)
    for result in results:
        console.print(result.title, style="bold")
        console.print()
        print_analysis(result.analysis, console)
        console.print()
    if out:
        console.print(f"written to {shown(out)}: {', '.join(_STUDIES)}")


@dataclass(frozen=True, slots=True)
class _Study:
    title: str
    analysis: Analysis
    findings: list[str]


def _named(counts: PositionCounts, what: str) -> PositionCounts:
    return replace(counts, sources=(f"{what} of the standard library of Python {platform.python_version()}",))


def _docstrings(seed: int, progress: ProgressHook) -> _Study:
    texts, files = zip(*docstrings(), strict=True)
    counts = _named(count_texts(texts, groups=files, n_positions=DOCSTRING_N_POSITIONS), "docstrings")
    analysis = analyze(counts, n_dims=N_DIMS, seed=seed, progress=progress)
    fixed = [encoding for encoding in analysis.encodings if encoding.scheme != "mds"]
    plugin = geometry_by({"estimator": "plugin"}, counts, seed=seed)
    naive, sound = scorecard(fixed, plugin, level=None), analysis.scorecard
    by_naive, by_sound = (sorted(fixed, key=lambda e: -(card[e.name].alignment or 0)) for card in (naive, sound))
    share, tested = analysis.noise_share, analysis.significance
    first, last = by_naive[0].name, by_sound[-1].name
    findings = [
        (
            f"Of the squared distance that plain token frequencies show between positions, {_percent(share)} is "
            f"sampling noise: it is not found again in another half of the {counts.n_documents:,} docstrings."
        ),
        (
            f"By these plain distances the encoding that has most of the geometry is {first} (alignment "
            f"{naive[first].alignment:.2f}). By cross-validated ones it is {by_sound[0].name} "
            f"({_alignment(sound, by_sound[0].name)}), and {last} has least ({_alignment(sound, last)})."
        ),
        (
            f"{'No axis stands' if not tested else f'{tested.rank} axes stand'} above noise, of the "
            f"{plugin.spectrum.n_positive} that plain distances have; two axes fitted to one half of the corpus have "
            f"{_alignment(sound, 'mds:rank=2')} of the other half's geometry."
        ),
    ]
    return _Study("1. Docstrings of Python's standard library, words as tokens", analysis, findings)


def _source_lines(seed: int, progress: ProgressHook) -> _Study:
    counts = count(
        list(standard_library_files()),
        "chars",
        n_positions=SOURCE_N_POSITIONS,
        options=ReadOptions(format="text", utf8_errors="replace"),
        progress=progress,
    )
    analysis = analyze(_named(counts, "source lines"), n_dims=N_DIMS, seed=seed, progress=progress)
    distances = analysis.geometry.distances
    half = len(distances) // 2
    early = distances.values[:EARLY_COLUMNS, :EARLY_COLUMNS][np.triu_indices(EARLY_COLUMNS, 1)].mean()
    late = distances.values[half:, half:][np.triu_indices(len(distances) - half, 1)].mean()
    fixed = [e.name for e in analysis.encodings if e.scheme != "mds"]
    card = analysis.scorecard
    best = max(fixed, key=lambda name: card[name].alignment or 0)
    findings = [
        (
            f"Indentation makes the first columns unlike each other and unlike the rest: their mean distance is "
            f"{early:.3f} among columns 0-{EARLY_COLUMNS - 1}, against {late:.3f} in the second half of the line."
        ),
        (
            f"Of so much text ({counts.n_tokens:,} characters) and so few tokens ({counts.vocab_size}), "
            f"{_percent(analysis.noise_share)} of the plain distances is noise."
        ),
        (
            f"The encoding that knows nothing of the corpus and has most of its geometry is {best} "
            f"({_alignment(card, best)}); two axes fitted to one half of it have {_alignment(card, 'mds:rank=2')} of "
            "the other half's."
        ),
    ]
    return _Study("2. Source lines of the same library, characters as tokens", analysis, findings)


def _percent(share: Estimate | None) -> str:
    if share is None or share.value is None:
        return "an unknown part"
    interval = share.interval(LEVEL)
    between = "" if interval is None else f" ({100 * interval.low:.0f} to {100 * interval.high:.0f})"
    return f"{100 * share.value:.0f} %{between}"


def _alignment(card: Scorecard, name: str) -> str:
    row = card[name]
    interval = row.intervals.get("alignment")
    if row.alignment is None:
        return "an undefined alignment"
    return f"{row.alignment:.2f}" + ("" if interval is None else f", {interval.low:.2f} to {interval.high:.2f}")


_STUDIES = {"docstrings": _docstrings, "source-lines": _source_lines}
