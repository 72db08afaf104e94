"""The one mechanism: rows of an item are computed, put beside the paper's numbers and judged, and its figure made."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from posgeom.paper.inputs import Given, Inputs, Need
from posgeom.paper.measured import CONVENTIONS
from posgeom.paper.result import (
    Estimate,
    ItemResult,
    Row,
    SoundRow,
    as_estimate,
    compare,
    not_comparable,
    not_run,
    over_seeds,
)

Number = Estimate | float | None


@dataclass(frozen=True)
class Quantity:
    """A row: what it shows, how it is computed from what it needs, and the key of the paper's value or else a unit.

    Of a need with several values (synthetic corpora, seeds) it is the mean over them. Among the sound rows it is
    computed twice, with a convention as the last argument.
    """

    text: str
    compute: Callable[..., Number]
    key: str | None = None
    unit: str = ""
    needs: tuple[Need, ...] = ()

    def row(self, inputs: Inputs) -> Row:
        """Ours beside the paper's: not run without a need, not comparable with another corpus or model."""
        given = [inputs.given(need) for need in self.needs]
        if not all(one.values for one in given):
            return not_run(self.text, self.key, unit=self.unit)
        row = compare(self.text, _mean(self.compute, given), self.key, unit=self.unit)
        return row if all(one.is_the_papers for one in given) else not_comparable(row)

    def sound_row(self, inputs: Inputs) -> SoundRow | None:
        """The number under both conventions; None without a need."""
        given = [inputs.given(need) for need in self.needs]
        if not all(one.values for one in given):
            return None
        plugin, sound = (_mean(self.compute, [*given, Given((convention,))]) for convention in CONVENTIONS)
        return SoundRow(self.text, self.unit, plugin, sound)


def on(*needs: Need) -> Callable[..., tuple[Quantity, ...]]:
    """Rows that all need the same."""
    return lambda *rows: tuple(replace(row, needs=needs) for row in rows)


@dataclass(frozen=True)
class Results:
    """The rows of an item by their texts: what its sentence and its panels are made of."""

    inputs: Inputs
    rows: Mapping[str, Row]
    sound: Mapping[str, SoundRow]

    def named(self, prefix: str) -> dict[str, SoundRow]:
        """Sound rows whose text begins so, by the rest of it."""
        return {text.removeprefix(prefix): row for text, row in self.sound.items() if text.startswith(prefix)}


def sentence(*fragments: str) -> Callable[[Results], str]:
    """Fragments with numbers filled in, as in ``{sound[alignment, MDS]:.3f}``.

    A fragment with an undefined number is left out, and with the first one all of them.
    """

    def fill(results: Results) -> str:
        numbers: dict[str, dict[str, float]] = {"ours": {n: r.ours.value for n, r in results.rows.items() if r.ours}}
        for side in ("plugin", "sound"):
            numbers[side] = {n: e.value for n, row in results.sound.items() if (e := getattr(row, side)) is not None}
        texts: list[str] = []
        for fragment in fragments:
            try:
                texts.append(fragment.format(inputs=results.inputs, **numbers))
            except KeyError:
                if not texts:
                    return ""
        return "".join(texts)

    return fill


Panel = Mapping[str, Any]


@dataclass(frozen=True)
class Item:
    """A table or figure of the paper, declared: its rows, their sound version, its panels, and what to know of it."""

    name: str
    title: str
    section: str | None
    rows: tuple[Quantity, ...]
    sound: tuple[Quantity, ...]
    change: Callable[[Results], str]
    """One sentence on what the sound version changes, where any of it was run."""
    panels: Callable[[Results], Sequence[Panel]] = lambda _: ()
    notes: tuple[str, ...] = ()

    @property
    def needs(self) -> tuple[Need, ...]:
        """What its rows need, in their order."""
        return tuple(dict.fromkeys(need for one in (*self.rows, *self.sound) for need in one.needs))

    def redo(self, inputs: Inputs) -> ItemResult:
        """Compute it."""
        rows = tuple(quantity.row(inputs) for quantity in self.rows)
        sound = tuple(row for quantity in self.sound if (row := quantity.sound_row(inputs)))
        results = Results(inputs, {row.quantity: row for row in rows}, {row.quantity: row for row in sound})
        given = [inputs.given(need) for need in self.needs]
        return ItemResult(
            self.name,
            self.title,
            self.section,
            rows,
            sound,
            change=self.change(results) if sound else "",
            panels=tuple(self.panels(results)) if sound else (),
            missing=tuple(dict.fromkeys(missing for one in given for missing in one.missing)),
            notes=(*_notes(given), *(note.format(seed=inputs.seed) for note in self.notes)),
        )


def _mean(compute: Callable[..., Number], given: Sequence[Given]) -> Estimate | None:
    """The number, or its mean over the values of what is given several times; None where one is undefined."""
    estimates = [as_estimate(compute(*values)) for values in product(*(one.values for one in given))]
    if len(estimates) == 1:
        return estimates[0]
    values = [estimate.value for estimate in estimates if estimate is not None]
    return over_seeds(values) if len(values) == len(estimates) else None


def _notes(given: Sequence[Given]) -> list[str]:
    """What to know of the corpora and models that were given."""
    notes = list(dict.fromkeys(note for one in given for note in one.notes))
    others = dict.fromkeys(one.other_model for one in given if one.other_model is not None)
    if others:
        notes.append(
            f"{', '.join(others)}: not of the sizes of BERT-base (12 layers, 12 heads, width 768), which the paper's "
            "numbers are of."
        )
    return notes


def panel(kind: str, title: str, caption: str, **content: Any) -> Panel:
    """Data of a panel: a matrix, lines, bars or points."""
    return {"kind": kind, "title": title, "caption": caption, **content}


def bars(group: str, estimates: Mapping[str, Estimate | None]) -> list[dict[str, object]]:
    """A group of bars; what is undefined has none."""
    known = {name: estimate for name, estimate in estimates.items() if estimate is not None}
    return [{"group": group, "name": name, "value": e.value, "low": e.low, "high": e.high} for name, e in known.items()]


def sound_bars(rows: Mapping[str, SoundRow], plugin: str, sound: str) -> list[dict[str, object]]:
    """The sound rows of an item as two groups of bars."""
    return [
        *bars(plugin, {name: row.plugin for name, row in rows.items()}),
        *bars(sound, {name: row.sound for name, row in rows.items()}),
    ]


def curve(name: str, values: Mapping[int, float | None] | Sequence[float | None]) -> dict[str, object]:
    """A line through values at their keys, or at 1, 2, ..."""
    by_x = values if isinstance(values, Mapping) else dict(enumerate(values, 1))
    return {"name": name, "x": list(by_x), "y": list(by_x.values())}
