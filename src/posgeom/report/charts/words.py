"""What a chart says of the mark that is pointed at: a sentence, which a screen reader reads too."""

from collections.abc import Callable, Iterable
from typing import Any

from posgeom.report.charts.figure import Row

_TOLD = "_told"


def told(rows: Iterable[Row], sentence: Callable[[Row], str]) -> list[Row]:
    """Rows with their sentences."""
    return [row | {_TOLD: sentence(row)} for row in rows]


def in_words() -> dict[str, Any]:
    """The channels that show the sentence of a row."""
    import altair as alt

    return {"tooltip": alt.Tooltip(f"{_TOLD}:N"), "description": alt.Description(f"{_TOLD}:N")}


def number(value: float | None, spec: str, row: Row | None = None, level: float | None = None) -> str:
    """A number with the interval that its row has: ``0.49, 95 % 0.48 to 0.50``."""
    if value is None:
        return "undefined"
    low, high = (row or {}).get("low"), (row or {}).get("high")
    if low is None or high is None:
        return f"{value:{spec}}"
    certainty = "interval" if level is None else f"{100 * level:g} %"
    return f"{value:{spec}}, {certainty} {low:{spec}} to {high:{spec}}"
