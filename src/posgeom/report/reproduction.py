"""The paper's tables and figures redone, as text for a terminal and as rows of a CSV file."""

import csv
import io
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from posgeom.messages import printable
from posgeom.report.terminal import UNDEFINED, print_paragraph, print_table
from posgeom.tables import Cell, Column, Table

_SPREADS = {"seeds": "over seeds", "layers": "over layers", "jackknife": "95 %"}
_CSV_COLUMNS = (
    *("item", "kind", "quantity", "unit", "ours", "low", "high", "spread", "paper", "section", "difference", "verdict"),
    *("plugin", "plugin_low", "plugin_high"),
)
_NARROW = 95


def print_reproduction(document: Mapping[str, Any], console: Console) -> None:
    """Print every item: a table beside the paper's numbers, the sound version, what is missing."""
    told: set[str] = set()
    for item in document["items"]:
        section = "" if item["section"] is None else f" (Section {item['section']})"
        status = "" if item["status"] == "run" else f", {item['status']}"
        console.print(Text(printable(f"{item['title']}{section}{status}"), style="bold"))
        console.print()
        print_table(_rows_table(item["rows"], console.width), console)
        if item["sound"]:
            console.print()
            print_table(_sound_table(item["sound"], console.width), console)
        console.print()
        if item["change"]:
            print_paragraph(printable(item["change"]), console)
        for text in missing_lines(item):
            print_paragraph(f"not run: {text}", console, bullet="- ")
        for note in [*reading_lines(item), *item["notes"]]:
            if note not in told:  # several items have the same corpus
                print_paragraph(printable(note), console, bullet="- ")
        told |= {*reading_lines(item), *item["notes"]}
        console.print()
    print_paragraph(verdict_counts(document), console)
    for verdict, meaning in document["verdicts"].items():
        print_paragraph(f"{verdict}: {meaning}", console, bullet="- ")


def verdict_counts(document: Mapping[str, Any]) -> str:
    """How many rows have each verdict, in one sentence."""
    found = [row["verdict"] for item in document["items"] for row in item["rows"]]
    listed = ", ".join(f"{verdict}: {found.count(verdict)}" for verdict in document["verdicts"] if verdict in found)
    return f"Of {len(found)} numbers: {listed}."


def missing_lines(item: Mapping[str, Any]) -> list[str]:
    """What of an item was not run, why, and the way out."""
    lines = []
    for entry in item["missing"]:
        way_out = "" if entry["way_out"] is None else f"; give {entry['way_out']}"
        lines.append(printable(f"{entry['what']}: {entry['reason']}{way_out}"))
    return lines


def reading_lines(item: Mapping[str, Any]) -> list[str]:
    """How words of the paper were read as bounds."""
    papers = [row["paper"] for row in item["rows"] if row["paper"] is not None and row["paper"]["read_as"]]
    return list(dict.fromkeys(printable(f"The paper's {p['text']!r} is read as {p['read_as']}.") for p in papers))


def _rows_table(rows: list[Mapping[str, Any]], width: int) -> Table:
    columns = [
        Column("quantity", 31 if width >= _NARROW else 26, left=True),
        Column("ours", 9),
        Column("smallest\nto largest", 20, 1),
        Column("paper", 12),
        Column("differ-\nence", 9),
        Column("verdict", 14, left=True),
    ]
    return Table("", columns, [[Cell(text) for text in row_cells(row).values()] for row in rows])


def _sound_table(rows: list[Mapping[str, Any]], width: int) -> Table:
    wide = width >= _NARROW
    columns = [
        Column("sound version", 41 if wide else 30, left=True),
        Column("plug-in", 9),
        Column("cross-\nvalidated", 9),
        Column("interval", 35 if wide else 28),
    ]
    return Table("", columns, [[Cell(text) for text in sound_cells(row).values()] for row in rows])


def row_cells(row: Mapping[str, Any]) -> dict[str, str]:
    """The texts of a row: quantity, ours, spread, paper, difference, verdict."""
    unit = f" {row['unit']}" if row["unit"] else ""
    paper = row["paper"]
    missing = "-" if row["verdict"] == "not run" else UNDEFINED
    return {
        "quantity": printable(row["quantity"]),
        "ours": missing if row["ours"] is None else number(row["ours"]["value"]) + unit,
        "spread": _range(row["ours"]),
        "paper": "-" if paper is None else _stated(paper),
        "difference": "-" if row["difference"] is None else _signed(row["difference"]),
        "verdict": row["verdict"],
    }


def sound_cells(row: Mapping[str, Any]) -> dict[str, str]:
    """The texts of a sound row: quantity, plug-in, cross-validated, interval."""
    unit = f" {row['unit']}" if row["unit"] else ""
    plugin, sound = ("-" if row[side] is None else number(row[side]["value"]) + unit for side in ("plugin", "sound"))
    interval = _range(row["sound"])
    if interval:
        interval = f"{interval} ({_SPREADS[row['sound']['kind']]})"
    return {"quantity": printable(row["quantity"]), "plugin": plugin, "sound": sound, "interval": interval}


def number(value: float) -> str:
    """A number to four digits, from 100 on to five, and whole numbers whole; zero to round-off only as small."""
    if value == int(value) and abs(value) < 1e7:
        return f"{int(value):,}"
    if abs(value) < 1e-9:
        return "<1e-9"
    if abs(value) >= 1e4:
        return f"{value:,.0f}"
    return f"{value:,.5g}" if abs(value) >= 100 else f"{value:.4g}"


def _signed(value: float) -> str:
    if abs(value) < 1e-9:
        return "0"
    return f"{value:+,.0f}" if value == int(value) or abs(value) >= 1e4 else f"{value:+.3g}"


def _range(estimate: Mapping[str, Any] | None) -> str:
    if estimate is None or estimate["low"] is None:
        return ""
    low, high = number(estimate["low"]), number(estimate["high"])
    return "" if low == high else f"{low} to {high}"


def _stated(paper: Mapping[str, Any]) -> str:
    unit = f" {paper['unit']}" if paper["unit"] and paper["value"] is not None else ""
    return printable(paper["text"]) + unit


def csv_text(document: Mapping[str, Any]) -> str:
    """Every row of every item, the paper's convention and the sound version, as CSV."""
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, _CSV_COLUMNS, restval="")
    writer.writeheader()
    for item in document["items"]:
        for row in item["rows"]:
            paper = row["paper"] or {"text": "", "section": ""}
            fields = {"item": item["name"], "kind": "paper", "quantity": row["quantity"], "unit": row["unit"]}
            fields |= {"paper": paper["text"], "section": paper["section"] or "", "verdict": row["verdict"]}
            fields |= {"difference": _blank(row["difference"])} | _estimate_fields(row["ours"])
            writer.writerow(fields)
        for row in item["sound"]:
            fields = {"item": item["name"], "kind": "sound", "quantity": row["quantity"], "unit": row["unit"]}
            if row["plugin"] is not None:
                fields |= {"plugin": row["plugin"]["value"], "plugin_low": _blank(row["plugin"]["low"])}
                fields |= {"plugin_high": _blank(row["plugin"]["high"])}
            writer.writerow(fields | _estimate_fields(row["sound"]))
    return stream.getvalue()


def _estimate_fields(estimate: Mapping[str, Any] | None) -> dict[str, Any]:
    if estimate is None:
        return {}
    low, high = _blank(estimate["low"]), _blank(estimate["high"])
    return {"ours": estimate["value"], "low": low, "high": high, "spread": estimate["kind"]}


def _blank(value: float | None) -> float | str:
    return "" if value is None else value
