"""``posgeom compare``: which encoding, run or corpus is more faithful, and how sure that is."""

import json
from pathlib import Path
from typing import Annotated

import typer

from posgeom.cli import options as o
from posgeom.cli.console import stdout_console
from posgeom.errors import RunError
from posgeom.inference.comparison import DECIDES
from posgeom.inference.fields import FIELDS
from posgeom.policies import LEVEL
from posgeom.report.comparison import compare_encodings, compare_runs, comparison_document, print_comparison
from posgeom.report.replicates import read_scored
from posgeom.report.run import read_run

EPILOG = """Examples:

posgeom compare run

posgeom compare run --against sinusoidal --score pearson

posgeom compare sst2-run imdb-run --json

One run: its encodings, each against the best that is not fitted to the corpus, or the one named. Several: each encoding
that they share, in each run against the first. Differences of runs of the same counts are paired, so that noise they
share cancels."""


def command(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN_DIR...", help="Directories that `posgeom analyze --out` wrote.")
    ],
    score: Annotated[str, typer.Option("--score", metavar="NAME", help=f"One of {', '.join(FIELDS)}.")] = DECIDES,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="NAME",
            help="Of one run: the encoding to compare with. Of several: the only encoding to compare.",
        ),
    ] = None,
    level: Annotated[float, typer.Option("--level", metavar="P", help="Level of the intervals.")] = LEVEL,
    as_json: o.JsonOption = False,
) -> None:
    """Compare encodings of one run, or runs with each other, with intervals of the differences.

    A more faithful encoding is not a better model.
    """
    if score not in FIELDS:
        raise RunError(f"--score {score!r}: expected one of {', '.join(FIELDS)}")
    if not 0 < level < 1:
        raise RunError(f"--level {level!r}: expected a number between 0 and 1, such as 0.95")
    stored = [read_run(directory) for directory in runs]
    scored = [read_scored(directory, run, score) for directory, run in zip(runs, stored, strict=True)]
    if len(scored) == 1:
        ranked = (stored[0].scores or {}).get("ranking") or {"places": []}
        fixed = (place["encodings"][0] for place in ranked["places"] if place["kind"] == "fixed")
        against = against or next(fixed, None)
        lines = compare_encodings(scored[0], score, level, against)
    else:
        lines = compare_runs(scored, score, level, against)
    if as_json:
        typer.echo(json.dumps(comparison_document(lines, score, level), indent=1, allow_nan=False))
        return
    print_comparison(lines, score, level, stdout_console())
    for run in stored:
        if score == DECIDES and run.scores is not None and run.scores.get("alignment_undefined"):
            typer.echo(f"{run.name}: alignment is undefined: {run.scores['alignment_undefined']}")
