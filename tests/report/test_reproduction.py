"""Tables, CSV, figures and page of ``posgeom reproduce``, from its JSON alone."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from posgeom.report.charts.figure import draw
from posgeom.report.reproduction import agreement, csv_text, not_compared, number, print_reproduction, row_cells
from posgeom.report.reproduction_figures import item_figures
from posgeom.report.reproduction_files import write_reproduction
from posgeom.report.reproduction_page import reproduction_page

MARKUP = "<script>alert(1)</script>"
EVIL = f"{MARKUP}\x1b[2J"


def estimate(value: float, low: float | None = None, high: float | None = None, kind: str = "exact") -> dict[str, Any]:
    return {"value": value, "low": low, "high": high, "kind": kind}


def paper(text: str, value: float | None, unit: str = "") -> dict[str, Any]:
    read_as = None if value is not None else "at most 3"
    return {"text": text, "unit": unit, "section": "6", "value": value, "low": 0, "high": 1, "read_as": read_as}


def row(quantity: str, **fields: Any) -> dict[str, Any]:
    empty = {"unit": "", "ours": None, "paper": None, "difference": None, "verdict": "not run"}
    return {"quantity": quantity} | empty | fields


@pytest.fixture
def document() -> dict[str, Any]:
    """One of every kind of row, panel and thing that is missing, with text that must not act."""
    panels = [
        {"kind": "matrix", "title": MARKUP, "caption": MARKUP, "labels": [0, 1], "depth": [9, 9]}
        | {"estimates": {"plug-in": [[0.0, 1.0], [1.0, 0.0]], "cross-validated": [[0.0, 0.5], [0.5, 0.0]]}},
        {"kind": "lines", "title": "lines", "caption": "c", "x_title": "d", "y_title": "stress", "x_log": True}
        | {"y_log": True, "series": [{"name": MARKUP, "x": [2, 4], "y": [0.5, 50.0]}]},
        {"kind": "bars", "title": "bars", "caption": "c", "y_title": "stress", "y_log": False}
        | {"bars": [{"group": "a", "name": "x", "value": 1.0, "low": 0.5, "high": 1.5}]},
        {"kind": "bars", "title": "points", "caption": "c", "y_title": "stress", "y_log": True}
        | {
            "bars": [
                {"group": g, "name": "x", "value": v, "low": None, "high": None} for g, v in (("a", 0.01), ("b", 9))
            ]
        },
        {"kind": "points", "title": "map", "caption": "c", "x_title": "1", "y_title": "2", "is_map": True}
        | {"points": [{"x": float(k), "y": 0.5 * k, "group": "abc"[k % 3], "label": str(k)} for k in range(5)]},
    ]
    rows = [
        row("rank", ours=estimate(31), paper=paper("31", 31), difference=0.0, verdict="agrees"),
        row("stress", ours=estimate(1127.507, 1e-3, 2e4, "seeds"), unit="%", verdict="within spread")
        | {"paper": paper("within 3 %", None, "%")},
        row(EVIL, paper=paper("5000", 5000)),
        row("undefined", paper=paper("0.1", 0.1), verdict="differs"),
    ]
    sound = [
        {"quantity": "scaled", "unit": "", "plugin": estimate(0.25), "sound": estimate(0.5, 0.4, 0.6, "jackknife")},
        {"quantity": "truth", "unit": "", "plugin": None, "sound": None},
    ]
    missing = [{"what": "IMDB", "reason": EVIL, "way_out": "--imdb PATH"}]
    item = {"name": "fig1", "title": f"Figure 1 {EVIL}", "section": "6", "rows": rows, "sound": sound, "change": "So."}
    item |= {"panels": panels, "missing": missing, "notes": ["a note"], "status": "partly run"}
    corpus = {"sources": [EVIL], "tokenizer": EVIL, "documents": 5, "vocab_size": 3, "n_positions": 2}
    return {
        "software": {"name": "posgeom", "version": "0"},
        "paper": "A paper",
        "seed": 0,
        "n_seeds": 2,
        "verdicts": {"agrees": "yes", "within spread": "nearly", "differs": "no", "not run": "missing"},
        "corpora": {"sst2": corpus | {"is_the_papers": False}},
        "models": {"pretrained": EVIL, "scratch": None},
        "items": [item, item | {"name": "fig2", "panels": [], "sound": [], "section": None, "missing": []}],
    }


def printed(document: dict[str, Any], width: int = 100, *, full: bool = False) -> str:
    stream = io.StringIO()
    print_reproduction(document, Console(file=stream, width=width, highlight=False, markup=False), full=full)
    return stream.getvalue()


@pytest.mark.parametrize("width", [100, 80])
def test_the_terminal(document: dict[str, Any], width: int) -> None:
    text = printed(document, width, full=True)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text
    assert "\u2026" not in text
    assert "not run: IMDB" in text
    assert text.count("is read as at most 3.") == 1
    assert text.count("a note") == 1  # said once, though two items have it
    assert " ".join(text.split()).startswith(agreement(document) + " " + not_compared(document) + " Figure 1")


def test_what_has_no_number_is_counted_and_hidden(document: dict[str, Any]) -> None:
    document["items"].append(document["items"][0] | {"title": "Table 9", "rows": [row("x"), row("y")], "sound": []})
    text = " ".join(printed(document).split())
    assert "With --full they are listed." in text
    assert "Table 9" not in text
    assert "- not run:" not in text
    assert "Table 9" in printed(document, full=True)
    assert "5000" in printed(document, full=True)
    assert "5000" not in text


def test_cells() -> None:
    cells = row_cells(row("x", ours=estimate(0.5, 0.25, 0.75, "seeds"), unit="%", paper=paper("0.5", 0.5, "%")))
    assert list(cells.values()) == ["x", "0.5 %", "0.25 to 0.75", "0.5 %", "-", "not run"]
    assert row_cells(row("x"))["ours"] == "-"
    assert row_cells(row("x", verdict="differs"))["ours"] == "undef"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (31, "31"),
        (57344.0, "57,344"),
        (1127.507, "1,127.5"),
        (0.05095, "0.05095"),
        (1e-30, "<1e-9"),
        (271.034, "271.03"),
    ],
)
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


def test_csv(document: dict[str, Any]) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(document))))
    assert len(rows) == 4 + 2 + 4
    assert (rows[0]["item"], rows[0]["kind"], rows[0]["ours"], rows[0]["paper"]) == ("fig1", "paper", "31", "31")
    assert (rows[4]["plugin"], rows[4]["low"], rows[4]["spread"]) == ("0.25", "0.4", "jackknife")
    assert rows[2]["ours"] == rows[2]["difference"] == ""


def test_every_kind_of_panel_is_drawn(document: dict[str, Any], tmp_path: Path) -> None:
    figures = item_figures(document["items"][0])
    assert [figure.name for figure in figures] == [f"fig1-{k}" for k in range(1, 6)]
    assert item_figures(document["items"][1]) == []
    for figure in figures:
        draw(figure, tmp_path / f"{figure.name}.svg")
        svg = (tmp_path / f"{figure.name}.svg").read_text()
        assert "<script>" not in svg
        assert figure.table


def test_the_page_escapes_what_it_shows(document: dict[str, Any]) -> None:
    figures = {item["name"]: item_figures(item) for item in document["items"]}
    page = reproduction_page(document, figures)
    body = page[: page.index('<script type="application/json"')]
    assert "<script" not in body
    assert "&lt;script&gt;alert(1)" in body
    assert "\x1b" not in page
    assert "<script>alert" not in page
    assert body.count('class="chart') == 5
    assert "Not run: IMDB" in body
    assert "Figure 1" in body
    assert not re.search(r"src=|href=[^#]{2}", body)


def test_the_files(document: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = write_reproduction(document, tmp_path, tmp_path)
    assert names == ["reproduce.csv", "reproduce.html", "reproduce.json", "figures"]
    assert len(list((tmp_path / "figures").iterdir())) == 5 * 4
    bare = tmp_path / "bare"
    bare.mkdir()
    monkeypatch.setattr("posgeom.report.reproduction_files.can_draw", lambda: False)
    assert write_reproduction(document, bare, bare) == ["reproduce.csv", "reproduce.json"]


def test_how_many_agree(document: dict[str, Any]) -> None:
    assert agreement(document) == (
        "4 of the 6 numbers that can be compared agree with the paper: 2 to the digits or the bound that it prints, "
        "2 within our own spread over seeds. Of the others 0 are within 2 % of its number, and 2 differ."
    )
    assert not_compared(document) == "Beside these, 2 were not run (give --imdb PATH)."
    assert agreement(document | {"items": []}) == "No number of ours can be compared with one of the paper."
    assert not_compared(document | {"items": []}) == ""
