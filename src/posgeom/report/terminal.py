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
_FEWEST = 3


def print_table(table: Table, console: Console) -> None:
    """Print a table without its caption; where it is too wide, the columns with the highest rank are left out."""
    kept = fitting(table.columns, console.width)
    sides = 0 if any(column.width for column in table.columns) else (0, 1, 0, 0)
    grid = rich.Table(box=box.SIMPLE_HEAD, padding=sides, show_edge=False)
    for number in kept:
        column = table.columns[number]
        justify = "left" if column.left else "right"
        grid.add_column(printable_lines(column.title), width=column.width, justify=justify, overflow="fold")  # type: ignore[arg-type]
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
