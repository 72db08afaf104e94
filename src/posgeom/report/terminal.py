"""What a terminal shows: tables as wide as fits, and paragraphs; plain characters, no markup."""

from collections.abc import Sequence
from textwrap import wrap

from rich import box
from rich import table as rich
from rich.console import Console
from rich.text import Text

from posgeom.messages import printable
from posgeom.tables import Column, Table

WIDTH = 100
UNDEFINED = "undef"
_FEWEST, _NAME = 3, 24


def print_table(table: Table, console: Console) -> None:
    """Print a table without its caption; where it is too wide, the columns with the highest rank are left out."""
    kept = fitting(table.columns, console.width)
    longest = [
        max(map(len, [*table.columns[i].title.split(), *(row[i].text or UNDEFINED for row in table.rows)]))
        for i in kept
    ]
    is_tight = sum(min(n, _NAME) + 2 for n in longest) > console.width or any(c.width for c in table.columns)
    grid = rich.Table(box=box.SIMPLE_HEAD, padding=0 if is_tight else (0, 1, 0, 0), show_edge=False)
    for number, needed in zip(kept, longest, strict=True):
        column = table.columns[number]
        grid.add_column(
            printable_lines(column.title),
            width=column.width,
            min_width=None if column.width else min(needed, _NAME),  # numbers and names stay whole
            justify="left" if column.left else "right",
            overflow="fold",
        )
    for row in table.rows:
        grid.add_row(*(Text(UNDEFINED if row[i].text is None else printable(row[i].text or "")) for i in kept))
    console.print(grid)


def fitting(columns: Sequence[Column], width: int) -> list[int]:
    """Which columns fit beside each other, the least needed ones dropped first."""
    kept = list(range(len(columns)))
    while len(kept) > _FEWEST and sum(1 + (columns[i].width or 0) for i in kept) - 1 > width:
        worst = max(kept, key=lambda i: columns[i].rank)
        if not columns[worst].rank:
            break
        kept.remove(worst)
    return kept


def printable_lines(text: str) -> str:
    """A heading, whose line breaks are its own."""
    return "\n".join(map(printable, text.split("\n")))


def print_paragraph(text: str, console: Console, bullet: str = "") -> None:
    """Print text wrapped to the console, without markup and without trailing spaces."""
    for line in wrap(text, console.width, initial_indent=bullet, subsequent_indent=" " * len(bullet)):
        console.print(Text(line))
