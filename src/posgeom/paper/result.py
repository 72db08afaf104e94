"""What an item of the paper comes to: rows beside the paper's numbers, verdicts, the sound version, a figure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

import numpy as np

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


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with what is known of its uncertainty.

    Attributes
    ----------
    value : float
        The mean, where it is one over seeds.
    low, high : float or None
        Smallest and largest over seeds or layers, or a 95 % jackknife interval; None for a number without a spread.
    kind : {"exact", "seeds", "layers", "jackknife"}
    """

    value: float
    low: float | None = None
    high: float | None = None
    kind: Literal["exact", "seeds", "layers", "jackknife"] = "exact"


def over_seeds(values: Sequence[float], kind: Literal["seeds", "layers"] = "seeds") -> Estimate:
    """Mean, smallest and largest of a number over seeds, or over the layers of a model."""
    return Estimate(float(np.mean(values)), float(min(values)), float(max(values)), kind)


def over_estimates(estimates: Sequence[Estimate | None]) -> Estimate | None:
    """Mean, smallest and largest of the values of estimates over seeds; None where one of them is undefined."""
    values = [estimate.value for estimate in estimates if estimate is not None]
    return over_seeds(values) if len(values) == len(estimates) else None


@dataclass(frozen=True, slots=True)
class Row:
    """A quantity: ours, the paper's, and how they compare.

    Attributes
    ----------
    quantity : str
    unit : str
    ours : Estimate or None
        None where it was not run, or is undefined.
    paper : PaperValue or None
    difference : float or None
        Ours less the paper's, where both are numbers.
    verdict : Verdict
    """

    quantity: str
    unit: str
    ours: Estimate | None
    paper: PaperValue | None
    difference: float | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class SoundRow:
    """The same or the nearest sound quantity, on the paper's distances and on cross-validated ones.

    Attributes
    ----------
    quantity : str
    unit : str
    plugin, sound : Estimate or None
        None where it is undefined, or was not run.
    """

    quantity: str
    unit: str
    plugin: Estimate | None
    sound: Estimate | None


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that was not run, and why.

    Attributes
    ----------
    what : str
    reason : str
    way_out : str or None
        What to do about it, where that is known.
    """

    what: str
    reason: str
    way_out: str | None


@dataclass(frozen=True)
class ItemResult:
    """A table or figure of the paper, redone.

    Attributes
    ----------
    name, title : str
    section : str or None
        Of the paper; None where it is not recorded.
    rows : tuple of Row
    sound : tuple of SoundRow
    change : str
        One sentence on what the sound version changes; empty where nothing was run.
    panels : tuple of mapping
        Data of its figure, one plain object a panel; none for a table.
    missing : tuple of Missing
    notes : tuple of str
    """

    name: str
    title: str
    section: str | None
    rows: tuple[Row, ...]
    sound: tuple[SoundRow, ...] = ()
    change: str = ""
    panels: tuple[Mapping[str, Any], ...] = ()
    missing: tuple[Missing, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def status(self) -> Literal["run", "partly run", "not run"]:
        """Whether every row, some or none was computed."""
        if all(row.verdict == Verdict.NOT_RUN for row in self.rows):
            return "not run"
        return "partly run" if self.missing else "run"

    def to_dict(self) -> dict[str, Any]:
        """One plain object, for JSON and for what draws and prints it."""
        return asdict(self) | {"status": self.status}


def compare(quantity: str, ours: Estimate | float | None, key: str | None = None, *, unit: str = "") -> Row:
    """Put a number beside the paper's."""
    estimate = Estimate(float(ours)) if isinstance(ours, int | float) else ours
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
