"""Stored runs compared, as plain objects and as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from posgeom.errors import RunError
from posgeom.inference.comparison import DECIDES, Difference, RunScore, difference, rank_scores
from posgeom.inference.jackknife import Interval
from posgeom.messages import shown, shown_list
from posgeom.report.terminal import UNDEFINED, print_paragraph, print_table
from posgeom.tables import Cell, Column, Table


@dataclass(frozen=True, eq=False)
class Line:
    """One score, and how it differs from what it is compared with."""

    scored: RunScore
    interval: Interval | None
    against: Difference | None
    """None for the reference itself."""


def compare_encodings(scored: Sequence[RunScore], score: str, level: float, reference: str | None) -> list[Line]:
    """The encodings of one run, each against one of them."""
    ranked = rank_scores(scored, score)
    chosen = ranked[0] if reference is None else _named(ranked, reference)
    return [
        Line(one, _interval(one, level), None if one is chosen else difference(one, chosen, score, level))
        for one in ranked
    ]


def compare_runs(runs: Sequence[Sequence[RunScore]], score: str, level: float, only: str | None) -> list[Line]:
    """Every encoding that all runs have, in each of them, against the first run."""
    common = [one.encoding for one in runs[0] if all(any(o.encoding == one.encoding for o in run) for run in runs)]
    if only is not None:
        if only not in common:
            raise RunError(f"no encoding {shown(only)} in every run: they have {shown_list(common)} in common")
        common = [only]
    if not common:
        raise RunError("these runs have no encoding in common: score the same ones in each")
    lines = []
    for name in common:
        first, *others = (_named(run, name) for run in runs)
        lines.append(Line(first, _interval(first, level), None))
        for one in others:
            against = difference(one, first, score, level, (one.run, first.run))
            lines.append(Line(one, _interval(one, level), against))
    return lines


def _named(scored: Sequence[RunScore], name: str) -> RunScore:
    for one in scored:
        if one.encoding == name:
            return one
    raise RunError(f"no encoding {shown(name)} in this run: it has {shown_list([o.encoding for o in scored])}")


def _interval(scored: RunScore, level: float) -> Interval | None:
    return scored.estimate.interval(level)


def comparison_document(lines: Sequence[Line], score: str, level: float) -> dict[str, Any]:
    """A comparison as one plain object, JSON-serialisable."""
    return {
        "score": score,
        "level": level,
        "rows": [
            {
                "run": line.scored.run,
                "encoding": line.scored.encoding,
                "value": line.scored.value,
                "interval": None if line.interval is None else asdict(line.interval),
                "difference": None if line.against is None else asdict(line.against),
            }
            for line in lines
        ],
    }


def print_comparison(lines: Sequence[Line], score: str, level: float, console: Console) -> None:
    """Print a comparison."""
    several = len({line.scored.run for line in lines}) > 1
    headings = [score, f"{100 * level:g} %", "difference", f"{100 * level:g} %"]
    columns = [Column("encoding", left=True), *([Column("run", left=True)] if several else [])]
    columns += map(Column, [*headings, "more faithful"] if score == DECIDES else headings)
    rows = []
    for line in lines:
        against = line.against
        cells = [line.scored.encoding, *([line.scored.run] if several else [])]
        cells += [_number(line.scored.value), _bounds(line.interval)]
        cells += ["reference", ""] if against is None else [_number(against.value, "+"), _bounds(against.interval, "+")]
        known = None if against is None else against.confidence
        cells += [] if score != DECIDES else ["" if known is None else _confidence(known)]
        rows.append([Cell(text) for text in cells])
    print_table(Table("", columns, rows), console)
    paired = [line.against.paired for line in lines if line.against is not None]
    how = "the same corpus in the same parts, so differences are paired" if paired and all(paired) else ""
    if paired and not all(paired):
        how = "other corpora, or other parts of them: differences are those of independent scores"
    what = "run" if several else "encoding"
    print_paragraph(f"Difference from the reference {what}; {how or 'no standard errors'}.", console)
    if score == DECIDES:
        told = "more faithful: confidence that the row is more faithful than the reference."
    else:
        told = f"Intervals of {score} are approximate, and rank no row; --score {DECIDES} does."
    print_paragraph(f"{told} A more faithful encoding is not a better model.", console)
    if all(line.interval is None for line in lines):
        print_paragraph("These runs have no intervals: run posgeom analyze with intervals.", console)


def _number(value: float | None, sign: str = "") -> str:
    return UNDEFINED if value is None else format(value, f"{sign}.4f" if abs(value) < 1e4 else f"{sign}.4g")


def _bounds(interval: Interval | None, sign: str = "") -> str:
    return "" if interval is None else f"{_number(interval.low, sign)} {_number(interval.high, sign)}"


def _confidence(value: float) -> str:
    if value > 0.9995:
        return "> 99.9 %"
    return "< 0.1 %" if value < 0.0005 else f"{100 * value:.1f} %"
