"""The page of ``posgeom reproduce``: every item with its figure, our numbers, the paper's, and the sound version."""

from collections.abc import Mapping
from typing import Any

from posgeom.messages import printable, short_names
from posgeom.report.charts.figure import Figure
from posgeom.report.claims import verdict_counts as claim_counts
from posgeom.report.page import add_chart, render
from posgeom.report.reproduction import agreement, missing_lines, not_compared, reading_lines, row_cells, sound_cells
from posgeom.tables import Cell, Column, Table

_ROW_COLUMNS = ("quantity", "ours", "smallest to largest", "paper", "difference", "verdict")
_CLAIM_COLUMNS = ("number", "section", "claim", "verdict", "because", "command")
_SOUND_COLUMNS = ("quantity", "plug-in", "cross-validated", "interval")


def reproduction_page(document: Mapping[str, Any], figures: Mapping[str, list[Figure]]) -> str:
    """Render the page."""
    charts: dict[str, Any] = {}
    page = {
        "title": "The paper's tables and figures, redone",
        "lead": f"{document['paper']}. posgeom {printable(document['software']['version'])}.",
        "findings": [{"name": "", "sentences": _summary(document)}],
        "sections": [
            *(_section(item, figures[item["name"]], charts) for item in document["items"]),
            *([_claims(document["claims"])] if "claims" in document else []),
        ],
        "provenance": [_provenance(document)],
    }
    return render(page, charts)


def _summary(document: Mapping[str, Any]) -> list[str]:
    """How many numbers agree, which do not, and what was not run."""
    sentences = [sentence for sentence in (agreement(document), not_compared(document)) if sentence]
    different = [
        f"{row['quantity']} ({item['name']})"
        for item in document["items"]
        for row in item["rows"]
        if row["verdict"] == "differs"
    ]
    if different:
        sentences.append(printable(f"These differ: {'; '.join(different)}."))
    missing = [item["title"] for item in document["items"] if item["status"] == "not run"]
    if missing:
        sentences.append(printable(f"Not run: {'; '.join(missing)}."))
    return sentences


def _section(item: Mapping[str, Any], figures: list[Figure], charts: dict[str, Any]) -> dict[str, Any]:
    section = "" if item["section"] is None else f" (Section {item['section']})"
    status = "" if item["status"] == "run" else f", {item['status']}"
    tables = [_table("In the paper's convention.", _ROW_COLUMNS, [row_cells(row) for row in item["rows"]])]
    if item["sound"]:
        sound = [sound_cells(row) for row in item["sound"]]
        tables.append(
            _table("The sound version: what it makes of the paper's distances and of its own.", _SOUND_COLUMNS, sound)
        )
    return {
        "title": printable(f"{item['title']}{section}{status}"),
        "lead": printable(item["change"]),
        "figures": [add_chart(charts, figure) for figure in figures],
        "tables": tables,
        "notes": [
            *(f"Not run: {line}." for line in missing_lines(item)),
            *reading_lines(item["rows"]),
            *map(printable, item["notes"]),
        ],
    }


def _claims(ledger: Mapping[str, Any]) -> dict[str, Any]:
    """The ledger of claims, where it was asked for."""
    rows = [{name: printable(str(row[name])) for name in _CLAIM_COLUMNS} for row in ledger["claims"]]
    return {
        "title": "Claims",
        "lead": claim_counts(ledger),
        "figures": [],
        "tables": [_table("What the paper claims, and what a run says of it.", _CLAIM_COLUMNS, rows)],
        "notes": [f"{verdict}: {meaning}." for verdict, meaning in ledger["verdicts"].items()],
    }


def _table(caption: str, columns: tuple[str, ...], rows: list[dict[str, str]]) -> Table:
    cells = [[Cell(text) for text in row.values()] for row in rows]
    return Table(caption, [Column(title) for title in columns], cells, long_names=True)


def _provenance(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the numbers come from, and what the verdicts mean."""
    entries = [("paper", document["paper"])]
    for name, corpus in document["corpora"].items():
        entries.append(
            (
                name,
                (
                    f"{', '.join(short_names(corpus['sources']))}: {corpus['documents']:,} documents, tokenizer "
                    f"{corpus['tokenizer']} with {corpus['vocab_size']:,} tokens, n = {corpus['n_positions']}"
                ),
            )
        )
    entries += [(f"{name} model", model) for name, model in document["models"].items() if model is not None]
    entries += [
        ("seeds", f"{document['seed']} to {document['seed'] + document['n_seeds'] - 1}"),
        ("software", f"{document['software']['name']} {document['software']['version']}"),
    ]
    return {
        "name": "",
        "entries": [(label, printable(text)) for label, text in entries],
        "notes": [f"{verdict}: {meaning}." for verdict, meaning in document["verdicts"].items()],
    }
