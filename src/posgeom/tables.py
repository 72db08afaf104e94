"""The one model of a table: what a terminal, a page, a notebook and a file show of it is the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from posgeom.messages import printable

UNDEFINED = "undefined"


@dataclass(frozen=True, slots=True)
class Bar:
    """A number on a line with its interval and the noise ceiling, in the units of the drawing."""

    value: float
    spread: tuple[float, float] | None
    ceiling: float | None
    band: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, None where it is undefined; what it is sorted by; and what stands beside the text."""

    text: str | None
    value: float | str = ""
    interval: str = ""
    bar: Bar | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; in a terminal, its width there, and how soon it goes where not all columns fit (0: never)."""

    title: str
    width: int | None = None
    rank: int = 0
    left: bool = False
    sorted: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows of cells, with a caption and, where several of a kind stand together, a name."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    name: str = ""
    sortable: bool = False
    long_names: bool = False
    n_first: int | None = None
    """Columns that a page shows at first, the others on demand; None for all."""

    @classmethod
    def of(cls, caption: str, titles: Sequence[str], rows: Sequence[Sequence[Any]], spec: str = ".4g") -> "Table":
        """A table of plain values: texts, numbers, and None for what is undefined; columns of texts stand left."""
        texts = [all(isinstance(row[i], str) for row in rows) for i in range(len(titles))]
        columns = [Column(title, left=left) for title, left in zip(titles, texts, strict=True)]
        return cls(caption, columns, [[cell(value, spec) for value in row] for row in rows])

    def to_html(self) -> str:
        """The table for a notebook; every text is escaped by the library that writes it."""
        table = Element("table")
        SubElement(table, "caption").text = printable(self.caption)
        head = SubElement(SubElement(table, "thead"), "tr")
        for column in self.columns:
            SubElement(head, "th").text = printable(column.title)
        body = SubElement(table, "tbody")
        for row in self.rows:
            line = SubElement(body, "tr")
            for one in row:
                SubElement(line, "td").text = UNDEFINED if one.text is None else printable(one.text)
        return tostring(table, encoding="unicode", method="html")


def cell(value: Any, spec: str = ".4g", *, interval: str = "") -> Cell:
    """A value as a cell: a number in a format, None and NaN as undefined, anything else as it is."""
    if value is None or (isinstance(value, float) and isnan(value)):
        return Cell(None)
    return Cell(format(value, spec), value, interval) if isinstance(value, float) else Cell(str(value), value)


def percent(share: float | None, spec: str) -> Cell:
    """A share as a cell that counts per cent, without the sign."""
    return cell(None if share is None else 100.0 * share, spec)
