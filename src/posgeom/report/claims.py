"""The ledger of claims as text for a terminal, as a page of Markdown, and as files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from posgeom.messages import printable
from posgeom.report.files import os_errors_named
from posgeom.report.terminal import print_paragraph

JSON, PAGE = "claims.json", "claims.md"


def print_claims(document: Mapping[str, Any], console: Console) -> None:
    """Print every claim with its verdict, why, and the command."""
    for row in document["claims"]:
        console.print(
            Text(
                printable(f"{row['number']}. {row['claim']} (Section {row['section']}): {row['verdict']}"), style="bold"
            )
        )
        print_paragraph(printable(row["because"]), console, bullet="   ")
        print_paragraph(row["command"], console, bullet="   ")
        console.print()
    print_paragraph(verdict_counts(document), console)
    for verdict, meaning in document["verdicts"].items():
        print_paragraph(f"{verdict}: {meaning}", console, bullet="- ")


def verdict_counts(document: Mapping[str, Any]) -> str:
    """How many claims have each verdict, in one sentence."""
    verdicts = [row["verdict"] for row in document["claims"]]
    listed = ", ".join(f"{one}: {verdicts.count(one)}" for one in document["verdicts"] if one in verdicts)
    return f"Of {len(verdicts)} claims: {listed}."


def claims_table(document: Mapping[str, Any]) -> str:
    """The ledger as a table of Markdown, without what comes before and after."""
    lines = ["| # | section | claim | verdict | because | command |", "|---|---|---|---|---|---|"]
    for row in document["claims"]:
        cells = (str(row["number"]), row["section"], row["claim"], row["verdict"], row["because"])
        lines.append(f"| {' | '.join(map(_cell, cells))} | `{row['command']}` |")
    return "\n".join(lines)


def write_claims(document: Mapping[str, Any], stage: Path, target: Path) -> list[str]:
    """Write the ledger to a scratch directory, as JSON and as a page."""
    given = [f"{title}, {one['documents']:,} documents" for title, one in document["corpora"].items()]
    given += [document["model"]] if document["model"] else []
    text = (
        f"# Claims of the paper\n\n{document['paper']}. Checked by posgeom {document['software']['version']} with seed "
        f"{document['seed']} on {_cell(', '.join(given)) or 'synthetic corpora alone'}.\n\n"
        f"{verdict_counts(document)}\n\n{claims_table(document)}\n\n"
    )
    text += "\n".join(f"- *{verdict}*: {meaning}." for verdict, meaning in document["verdicts"].items()) + "\n"
    with os_errors_named(target):
        (stage / JSON).write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="ascii")
        (stage / PAGE).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    return [JSON, PAGE]


def _cell(text: str) -> str:
    return printable(text).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
