"""The tokens that set positions apart, as tables and as text for a terminal."""

from typing import Any

from rich.console import Console
from rich.text import Text

from posgeom.policies import LEVEL
from posgeom.report.terminal import print_paragraph, print_table
from posgeom.tables import Cell, Column, Table, cell, percent

_COLUMNS = (
    Column("token", 24, left=True),
    Column("here %", 8),
    Column("elsewhere %", 11),
    Column("share %", 8),
    Column("deviation", 9, 1),
    Column(f"{100 * LEVEL:g} %", 15, 2),
    Column("p", 8, 1),
)


def token_table(one: dict[str, Any], n_tokens: int) -> Table:
    """The tokens of one axis or position; those over-represented there first."""
    chosen = sorted(one["tokens"][:n_tokens], key=lambda row: (row["deviation"] < 0, -abs(row["share"])))
    rows = [
        [
            Cell(row["token"], row["token"]),
            percent(row["frequency"], ".3g"),
            percent(row["elsewhere"], ".3g"),
            percent(row["share"], ".1f"),
            cell(row["deviation"], "+.4f"),
            Cell("" if row["low"] is None else f"{row['low']:+.3f} {row['high']:+.3f}"),
            cell(row["p_value"], ".1e"),
        ]
        for row in chosen
    ]
    return Table(token_title(one), _COLUMNS, rows, long_names=True)


def token_title(one: dict[str, Any]) -> str:
    """What was looked at, and how many tokens of it were told from noise."""
    count = f"{one['tokens_told']:,} of {one['tokens_tested']:,} tokens told from noise"
    if one["kind"] == "position":
        return f"Position {one['number']:,}: squared distance from the centre {one['size']:.4g}; {count}"
    here, there = (", ".join(map(str, end)) for end in one["ends"])
    return f"Axis {one['number']}, from positions {here} to {there}: eigenvalue {one['size']:.4g}; {count}"


def print_tokens(document: dict[str, Any], console: Console, n_tokens: int) -> None:
    """Print a table for each axis and position."""
    for one in document["looked_at"]:
        table = token_table(one, n_tokens)
        console.print(Text(table.caption, style="bold"))
        if table.rows:
            print_table(table, console)
        console.print()
    print_paragraph(token_caption(document), console)


def token_caption(document: dict[str, Any]) -> str:
    """How to read the tables."""
    depth = document["common_depth"]
    samples = "" if depth is None else f", of samples of {depth:,} documents"
    return (
        f"Cross-validated over {document['n_folds']} parts of {document['documents']:,} documents{samples}. Tokens "
        f"told from noise: at a false discovery rate of {document['false_discovery_rate']:g} over all that are "
        "frequent enough to be looked at. here, elsewhere: share of the tokens counted at the position, and at all "
        "positions; of an axis, at its positive and its negative end. share: part of the squared distance or "
        "eigenvalue, which all tokens add up to. deviation: of the root frequency; of an axis, the token's coordinate "
        "along it."
    )
