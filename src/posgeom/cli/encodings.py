"""``posgeom encodings``: the schemes there are, with their options and sources."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console

from posgeom.cli import options as o
from posgeom.cli.console import stdout_console
from posgeom.encodings.catalog import catalog, catalog_entry
from posgeom.messages import printable
from posgeom.report.terminal import print_paragraph, print_table
from posgeom.tables import Table

EPILOG = """Examples:

posgeom encodings

posgeom encodings rope

posgeom encodings --json"""


def command(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Show this one, with all its options.")] = None,
    as_json: o.JsonOption = False,
) -> None:
    """List positional encodings: what --encoding and `posgeom export` take."""
    entries = catalog() if name is None else [catalog_entry(name)]
    if as_json:
        typer.echo(json.dumps(entries if name is None else entries[0], indent=1, allow_nan=False))
        return
    console = stdout_console()
    if name is None:
        _print_list(entries, console)
    else:
        _print_one(entries[0], console)


def _print_list(entries: list[dict[str, Any]], console: Console) -> None:
    rows = []
    for entry in entries:
        names = "not loaded" if "error" in entry else ", ".join(o["name"] for o in entry["options"]) or "-"
        rows.append((entry["name"], names, entry.get("error") or entry["source"]))
    print_table(Table.of("", ("name", "options", "source"), rows), console)
    print_paragraph(
        "Use as NAME or NAME:option=value,option=value, or name a matrix file: table.npy, "
        "model.safetensors:tensor=NAME. posgeom encodings NAME explains the options.",
        console,
    )


def _print_one(entry: dict[str, Any], console: Console) -> None:
    print_paragraph(f"{printable(entry['name'])}: {printable(entry['summary'])}", console)
    print_paragraph(f"Source: {printable(entry['source'])}", console)
    if "geometry" in entry["needs"]:
        print_paragraph("It is fitted to the geometry of a corpus.", console)
    for title, options in [("", entry["options"])] + [(c["name"], c["options"]) for c in entry["choices"]]:
        console.print()
        if title:
            source = next(c["source"] for c in entry["choices"] if c["name"] == title)
            print_paragraph(f"With {title} ({source}):", console)
        if not options:
            print_paragraph("It has no options.", console)
            continue
        rows = [
            (o["name"], o["type"], "required" if o["required"] else _shown_default(o["default"]), o["help"])
            for o in options
        ]
        print_table(Table.of("", ("option", "value", "default", "meaning"), rows), console)


def _shown_default(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return ":".join(map(_shown_default, value))
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
