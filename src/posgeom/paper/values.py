"""What the paper states, each number with its section, and how closely ours must come to it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class PaperValue:
    """A number, or a statement about one, of the paper: ours agrees when it lies from `low` to `high`."""

    text: str
    """As stated, without its unit."""
    unit: str
    section: str | None
    """None where it is not recorded."""
    value: float | None
    """None for a range, a bound or words."""
    low: float
    high: float
    read_as: str | None
    """How words were turned into these bounds."""


@cache
def paper_values() -> Mapping[str, PaperValue]:
    """Every number of the paper that is known, by item and quantity."""
    return MappingProxyType({name: _parse(entry) for name, entry in _document()["values"].items()})


def stated(key: str) -> str | None:
    """The key of a number that the paper states for some corpora only; None where it does not."""
    return key if key in paper_values() else None


def paper_source() -> str:
    """The paper, as it is cited."""
    return str(_document()["source"])


@cache
def _document() -> Mapping[str, Any]:
    text = (files("posgeom.paper") / "values.json").read_text(encoding="utf-8")
    return MappingProxyType(json.loads(text))


def _parse(entry: Mapping[str, Any]) -> PaperValue:
    text = entry["text"]
    try:
        value = float(text)
    except ValueError:
        value = None
    half_a_unit = 0.0 if value is None else 0.5 * 10.0 ** -len(text.partition(".")[2])
    return PaperValue(
        text=text,
        unit=entry.get("unit", ""),
        section=entry["section"],
        value=value,
        low=entry["low"] if value is None or "low" in entry else value - half_a_unit,
        high=entry["high"] if value is None or "high" in entry else value + half_a_unit,
        read_as=entry.get("read_as"),
    )
