"""The words of a verdict on a theorem or a claim, and what every check returns.

The convention: a check is a function that returns a frozen, keyword-only dataclass derived from `Check`. It holds the
numbers that were measured, `verdict`, and `because`, one plain sentence that says why, with the numbers that decided.
`headers` and `rows()` are what the terminal shows, and `to_dict()` is what JSON holds. A verdict is worked out from the
numbers by the function that made them, so that other numbers would have given another one.

`posgeom.paper.result.Verdict` answers another question, whether a number agrees with the paper's; a claim can be false
although its number agrees.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np

from posgeom.frames import Framed, estimated
from posgeom.inference.jackknife import Estimate
from posgeom.policies import LEVEL


class Verdict(StrEnum):
    """What a run says of a statement of the paper."""

    HOLDS = "holds"
    CONVENTION = "holds under a convention"
    SCALE = "artefact of scale"
    NOISE = "artefact of noise"
    FALSE = "false"
    NOT_TESTABLE = "not testable as stated"
    NOT_RUN = "not run"


VERDICTS: Mapping[Verdict, str] = {
    Verdict.HOLDS: "the run agrees with the statement, as far as a run can",
    Verdict.CONVENTION: "it agrees under a condition or a convention that the reason names, and not without",
    Verdict.SCALE: "what was measured follows the norm of the encoding, and goes when that is taken away",
    Verdict.NOISE: "what was measured follows sampling noise, or positions without data, and goes when these are taken "
    "away",
    Verdict.FALSE: "the run has a counterexample, or numbers that contradict the statement",
    Verdict.NOT_TESTABLE: "no run could decide it as it is stated; the reason says why",
    Verdict.NOT_RUN: "something is missing; the reason says what",
}
"""What each verdict means."""

Cell = str | int | float | Estimate | None


@dataclass(frozen=True, kw_only=True)
class Check(Framed):
    """What a check comes to; each check adds its numbers. `because` is one plain sentence with those that decided."""

    headers: ClassVar[tuple[str, ...]] = ("quantity", "value")

    verdict: Verdict
    because: str

    def rows(self) -> Sequence[tuple[Cell, ...]]:
        """What the terminal shows, under `headers`: by default every number by its name."""
        own = ((f.name.replace("_", " "), getattr(self, f.name)) for f in fields(self))
        return [(name, value) for name, value in own if isinstance(value, int | float | Estimate)]

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain dictionary per row of `rows`, by `headers`, with the verdict, for CSV or a data frame."""
        return [self._row(cells) for cells in self.rows()]

    def _row(self, cells: Sequence[Cell]) -> dict[str, Any]:
        named = dict(zip(self.headers, cells, strict=True))
        estimates = {name: value for name, value in named.items() if isinstance(value, Estimate)}
        shown: dict[str, Any] = plain(named)
        return {"verdict": str(self.verdict)} | shown | estimated(estimates, LEVEL)

    def to_dict(self) -> dict[str, Any]:
        """One plain object, for JSON; what is undefined is None."""
        return {f.name: plain(getattr(self, f.name)) for f in fields(self)}


@dataclass(frozen=True)
class Finding:
    """What a claim comes to, of one check or of several, with the numbers that decided, by name."""

    verdict: Verdict
    because: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, check: Check, *names: str) -> "Finding":
        """The verdict of a check, with some of its numbers."""
        return cls(check.verdict, check.because, {name: getattr(check, name) for name in names})


def plain(value: Any) -> Any:
    """A value as JSON holds it: an estimate with its interval, an array as a list, None for what is not finite."""
    if isinstance(value, Estimate):
        interval = value.interval(LEVEL)
        bounds = (None, None) if interval is None else (interval.low, interval.high)
        return {"value": value.value, "low": bounds[0], "high": bounds[1], "standard_error": value.standard_error}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    return value
