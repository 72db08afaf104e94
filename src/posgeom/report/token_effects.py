"""The tokens that set positions apart, as one plain object and as text for a terminal."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.token_names import token_names
from posgeom.estimation.build import Geometry
from posgeom.inference.token_effects import TokenEffects
from posgeom.policies import ALPHA, LEVEL
from posgeom.report.terminal import print_paragraph, print_table
from posgeom.tables import Cell, Column, Table, cell, percent
from posgeom.tokenize.tokenizer_files import TokenizerSpec

_COLUMNS = (
    Column("token", 24, left=True),
    Column("here %", 8),
    Column("elsewhere %", 11),
    Column("share %", 8),
    Column("deviation", 9, 1),
    Column(f"{100 * LEVEL:g} %", 15, 2),
    Column("p", 8, 1),
)


def token_document(
    found: Sequence[TokenEffects],
    counts: PositionCounts,
    geometry: Geometry,
    *,
    tokenizer: TokenizerSpec | None = None,
    alpha: float = ALPHA,
) -> dict[str, Any]:
    """Axes and positions with their tokens by name."""
    ids = sorted({effect.token for one in found for effect in one.effects})
    names = dict(zip(ids, token_names(counts, ids, tokenizer), strict=True))
    return {
        "estimator": geometry.estimator,
        "metric": geometry.metric.name,
        "documents": counts.n_documents,
        "common_depth": geometry.depth,
        "n_folds": len(geometry.fold_groups),
        "false_discovery_rate": alpha,
        "looked_at": [
            {
                "kind": one.kind,
                "number": one.number,
                "size": one.size,
                "ends": [list(end) for end in one.ends],
                "tokens_tested": one.n_tested,
                "tokens": [_row(effect, names[effect.token]) for effect in one.effects],
            }
            for one in found
        ],
    }


def _row(effect: Any, name: str) -> dict[str, Any]:
    bounds = effect.deviation.interval(LEVEL)
    return {
        "token": name,
        "id": effect.token,
        "deviation": effect.deviation.value,
        "low": bounds.low,
        "high": bounds.high,
        "share": effect.share,
        "frequency": effect.frequency,
        "elsewhere": effect.elsewhere,
        "p_value": effect.p_value,
    }


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
            Cell(f"{row['low']:+.3f} {row['high']:+.3f}"),
            cell(row["p_value"], ".1e"),
        ]
        for row in chosen
    ]
    return Table(token_title(one), _COLUMNS, rows, long_names=True)


def token_title(one: dict[str, Any]) -> str:
    """What was looked at, and how many tokens of it were told from noise."""
    count = f"{len(one['tokens']):,} of {one['tokens_tested']:,} tokens told from noise"
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
    depth = document["common_depth"]
    samples = "" if depth is None else f", of samples of {depth:,} documents"
    print_paragraph(
        f"Cross-validated over {document['n_folds']} parts of {document['documents']:,} documents{samples}. Tokens "
        f"told from noise: at a false discovery rate of {document['false_discovery_rate']:g} over all that are "
        "frequent enough to be looked at. here, elsewhere: share of the tokens counted at the position, and at all "
        "positions; of an axis, at its positive and its negative end. share: part of the squared distance or "
        "eigenvalue, which all tokens add up to. deviation: of the root frequency; of an axis, the token's coordinate "
        "along it.",
        console,
    )
