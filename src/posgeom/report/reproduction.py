"""The paper's tables and figures redone, as text for a terminal and as rows of a CSV file."""

import csv
import io
from collections.abc import Mapping, Sequence
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
_COMPARED = ("agrees", "within spread", "within 2 %", "differs")
_WITHOUT_NUMBERS = ("no number", "not run")


def print_reproduction(document: Mapping[str, Any], console: Console, *, full: bool = False) -> None:
    """Print how many numbers agree, then every item beside the paper's numbers, with its sound version.

    What the paper has no number for, or was not run, is printed where `full`, and else counted.
    """
    print_paragraph(agreement(document), console)
    hidden = not_compared(document)
    if hidden:
        print_paragraph(hidden + ("" if full else " With --full they are listed."), console)
    console.print()
    told: set[str] = set()
    for item in document["items"]:
        rows = [row for row in item["rows"] if full or row["verdict"] not in _WITHOUT_NUMBERS]
        if not rows and not full:
            continue
        section = "" if item["section"] is None else f" (Section {item['section']})"
        status = "" if item["status"] == "run" else f", {item['status']}"
        console.print(Text(printable(f"{item['title']}{section}{status}"), style="bold"))
        console.print()
        print_table(_rows_table(rows, console.width), console)
        if item["sound"]:
            console.print()
            print_table(_sound_table(item["sound"], console.width), console)
        console.print()
        if item["change"]:
            print_paragraph(printable(item["change"]), console)
        for text in missing_lines(item) if full else ():
            print_paragraph(f"not run: {text}", console, bullet="- ")
        for note in [*reading_lines(rows), *item["notes"]]:
            if note not in told:  # several items have the same corpus
                print_paragraph(printable(note), console, bullet="- ")
        told |= {*reading_lines(rows), *item["notes"]}
        console.print()
    shown = {row["verdict"] for item in document["items"] for row in item["rows"]}
    for verdict, meaning in document["verdicts"].items():
        if verdict in shown and (full or verdict not in _WITHOUT_NUMBERS):
            print_paragraph(f"{verdict}: {meaning}", console, bullet="- ")


def agreement(document: Mapping[str, Any]) -> str:
    """How many of the numbers that can be compared agree, by the digits that are printed or by our own spread."""
    agree, spread, close, differ = (_count(document, name) for name in _COMPARED)
    n = agree + spread + close + differ
    if not n:
        return "No number of ours can be compared with one of the paper."
    return (
        f"{agree + spread} of the {n} numbers that can be compared agree with the paper: {agree} to the digits or the "
        f"bound that it prints, {spread} within our own spread over seeds. Of the others {close} are within 2 % of its "
        f"number, and {differ} differ."
    )


def not_compared(document: Mapping[str, Any]) -> str:
    """How many quantities have nothing to be compared with, or were not run, and what would run them; else empty."""
    counts = [
        (_count(document, "no number"), "have no number in the paper"),
        (_count(document, "not comparable"), "are of another corpus or model than the paper's"),
        (_count(document, "not run"), "were not run"),
    ]
    told = ", ".join(f"{n} {what}" for n, what in counts if n)
    missing = (entry["way_out"] for item in document["items"] for entry in item["missing"])
    ways_out = list(dict.fromkeys(printable(one) for one in missing if one is not None))
    give = f" (give {'; '.join(ways_out)})" if ways_out else ""
    return f"Beside these, {told}{give}." if told else ""


def _count(document: Mapping[str, Any], verdict: str) -> int:
    return sum(row["verdict"] == verdict for item in document["items"] for row in item["rows"])


def missing_lines(item: Mapping[str, Any]) -> list[str]:
    """What of an item was not run, why, and the way out."""
    lines = []
    for entry in item["missing"]:
        way_out = "" if entry["way_out"] is None else f"; give {entry['way_out']}"
        lines.append(printable(f"{entry['what']}: {entry['reason']}{way_out}"))
    return lines


def reading_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """How words of the paper were read as bounds."""
    papers = [row["paper"] for row in rows if row["paper"] is not None and row["paper"]["read_as"]]
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
