"""A run with some of its encodings, for charts that show encodings."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from posgeom.errors import RunError
from posgeom.messages import shown, shown_list
from posgeom.report.run import Run

OF_ENCODINGS = ("scorecard", "density", "violations", "width")
"""The charts that show encodings."""


def with_encodings(run: Run, names: Sequence[str], kind: str) -> Run:
    """A run without its other encodings."""
    if kind not in OF_ENCODINGS:
        raise RunError(f"a chart of {kind} has no encodings to choose from: {', '.join(OF_ENCODINGS)} have")
    have = [encoding["name"] for encoding in (run.scores or {"encodings": []})["encodings"]]
    for name in names:
        if name not in have:
            raise RunError(f"{shown(run.name)} has no encoding {shown(name)}: expected one of {shown_list(have)}")
    charts = run.charts
    if charts is not None:
        charts = charts | {key: _of(charts[key], names) for key in ("densities", "widths")}
        if (violations := charts["violations"]) is not None:
            charts["violations"] = violations | {"series": _of(violations["series"], [*names, None])}
    scores = None if run.scores is None else run.scores | {"encodings": _of(run.scores["encodings"], names, "name")}
    return replace(run, scores=scores, charts=charts)


def _of(rows: list[dict[str, Any]], names: Collection[str | None], key: str = "encoding") -> list[dict[str, Any]]:
    return [row for row in rows if row[key] in names]
