"""Stored runs compared, as plain objects and as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from posgeom.errors import RunError
from posgeom.inference.comparison import DECIDES, Difference, RunScore, difference, rank_scores
from posgeom.inference.jackknife import Interval
from posgeom.messages import printable, shown, shown_list
from posgeom.report.table import print_paragraph


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
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("encoding", max_width=26, overflow="fold")
    if several:
        table.add_column("run", max_width=20, overflow="fold")
    headers = (score, f"{100 * level:g} %", "difference", f"{100 * level:g} %")
    for header in (*headers, "more faithful") if score == DECIDES else headers:
        table.add_column(header, justify="right", overflow="fold")
    for line in lines:
        names = [line.scored.encoding] + ([line.scored.run] if several else [])
        against = line.against
        cells = [_number(line.scored.value), _bounds(line.interval)]
        if against is None:
            cells += ["reference", ""]
        else:
            cells += [_number(against.value, "+"), _bounds(against.interval, "+")]
            cells += [] if against.confidence is None else [_confidence(against.confidence)]
        table.add_row(*(Text(printable(name)) for name in names), *cells)
    console.print(table)
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
    return "undef" if value is None else format(value, f"{sign}.4f" if abs(value) < 1e4 else f"{sign}.4g")


def _bounds(interval: Interval | None, sign: str = "") -> str:
    return "" if interval is None else f"{_number(interval.low, sign)} {_number(interval.high, sign)}"


def _confidence(value: float) -> str:
    if value > 0.9995:
        return "> 99.9 %"
    return "< 0.1 %" if value < 0.0005 else f"{100 * value:.1f} %"
