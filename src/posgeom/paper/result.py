"""What an item of the paper comes to: rows beside the paper's numbers, verdicts, the sound version, a figure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Literal

import numpy as np

from posgeom.errors import PosgeomError
from posgeom.paper.values import PaperValue, paper_values

TOLERANCE = 0.02
"""Relative difference up to which a number is still said to agree."""


class Verdict(StrEnum):
    """How a number of ours compares with the paper's."""

    AGREES = "agrees"
    CLOSE = "within 2 %"
    SPREAD = "within spread"
    DIFFERS = "differs"
    NO_NUMBER = "no number"
    OTHER_INPUT = "not comparable"
    NOT_RUN = "not run"


VERDICTS: Mapping[Verdict, str] = {
    Verdict.AGREES: "rounds to the digits that the paper gives, or lies within the bound that it states",
    Verdict.CLOSE: f"differs from the paper's number by at most {100 * TOLERANCE:.0f} % of it",
    Verdict.SPREAD: "the paper's number lies between the smallest and the largest over seeds, or some of them meet its "
    "bound",
    Verdict.DIFFERS: "none of these",
    Verdict.NO_NUMBER: "the paper shows it in a figure or not at all",
    Verdict.OTHER_INPUT: "another corpus, tokenizer or model than the paper's",
    Verdict.NOT_RUN: "something is missing; the reason says what",
}
"""What each verdict means."""


Spread = Literal["exact", "seeds", "layers", "jackknife"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, and how far it spreads: over seeds or layers from the smallest to the largest, or a 95 % interval."""

    value: float
    """The mean, where it is one over seeds or layers."""
    low: float | None = None
    high: float | None = None
    kind: Spread = "exact"


def over_seeds(values: Sequence[float], kind: Spread = "seeds") -> Estimate:
    """Mean, smallest and largest of a number over seeds, or over the layers of a model."""
    return Estimate(float(np.mean(values)), float(min(values)), float(max(values)), kind)


def value_of(estimate: Estimate | None) -> float | None:
    """The value of an estimate; None where it is undefined."""
    return None if estimate is None else estimate.value


def defined(value: Estimate | float | None) -> float:
    """A number that cannot be undefined here."""
    if value is None:
        raise PosgeomError("a stress is undefined: all positions of the corpus have one and the same distribution")
    return value.value if isinstance(value, Estimate) else value


@dataclass(frozen=True, slots=True)
class Row:
    """A quantity: ours (None where it was not run, or is undefined), the paper's, and how they compare."""

    quantity: str
    unit: str
    ours: Estimate | None
    paper: PaperValue | None
    difference: float | None
    """Ours less the paper's, where both are numbers."""
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class SoundRow:
    """The same or the nearest sound quantity, on the paper's distances and on cross-validated ones."""

    quantity: str
    unit: str
    plugin: Estimate | None
    sound: Estimate | None


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that was not run, why, and what to do about it where that is known."""

    what: str
    reason: str
    way_out: str | None


@dataclass(frozen=True)
class ItemResult:
    """A table or figure of the paper, redone."""

    name: str
    title: str
    section: str | None
    rows: tuple[Row, ...]
    sound: tuple[SoundRow, ...] = ()
    change: str = ""
    """One sentence on what the sound version changes; empty where nothing was run."""
    panels: tuple[Mapping[str, Any], ...] = ()
    """Data of its figure, one plain object a panel; none for a table."""
    missing: tuple[Missing, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def status(self) -> Literal["run", "partly run", "not run"]:
        """Whether every row, some or none was computed."""
        if all(row.verdict == Verdict.NOT_RUN for row in self.rows):
            return "not run"
        return "partly run" if self.missing else "run"

    def to_dict(self) -> dict[str, Any]:
        """One plain object, for JSON and for what draws and prints it."""
        return asdict(self) | {"status": self.status}


def as_estimate(number: Estimate | float | None) -> Estimate | None:
    """A number that may have a spread, as an estimate."""
    return Estimate(float(number)) if isinstance(number, int | float) else number


def compare(quantity: str, ours: Estimate | float | None, key: str | None = None, *, unit: str = "") -> Row:
    """Put a number beside the paper's."""
    estimate = as_estimate(ours)
    if key is None:
        return Row(quantity, unit, estimate, None, None, Verdict.NO_NUMBER)
    paper = paper_values()[key]
    if estimate is None:
        return Row(quantity, paper.unit, None, paper, None, Verdict.DIFFERS)
    difference = None if paper.value is None else estimate.value - paper.value
    return Row(quantity, paper.unit, estimate, paper, difference, _judge(estimate, paper))


def not_run(quantity: str, key: str | None = None, *, unit: str = "") -> Row:
    """A row without a number of ours."""
    paper = None if key is None else paper_values()[key]
    return Row(quantity, unit if paper is None else paper.unit, None, paper, None, Verdict.NOT_RUN)


def not_comparable(row: Row) -> Row:
    """The same row, where the paper's number is of another corpus, tokenizer or model."""
    if row.verdict in (Verdict.NOT_RUN, Verdict.NO_NUMBER):
        return row
    return replace(row, verdict=Verdict.OTHER_INPUT)


def _judge(ours: Estimate, paper: PaperValue) -> Verdict:
    low, high = (ours.value if bound is None else bound for bound in (ours.low, ours.high))
    # A bound is met when every seed meets it; a number, when the mean over seeds rounds to it.
    lowest, highest = (low, high) if paper.value is None else (ours.value, ours.value)
    if paper.low <= lowest and highest <= paper.high:
        return Verdict.AGREES
    if ours.kind == "seeds" and low <= paper.high and high >= paper.low:
        return Verdict.SPREAD
    if paper.value is not None and abs(ours.value - paper.value) <= TOLERANCE * abs(paper.value):
        return Verdict.CLOSE
    return Verdict.DIFFERS
