"""`posgeom report`, `posgeom plot`, and what `analyze --out` and `layers --out` draw."""

import csv
import json
import os
import re
import sys
from pathlib import Path

import pytest

from posgeom.report.figures import KINDS
from tests.cli.helpers import Run, refused, visible
from tests.models.raw import save_bert

SMALL = ("-n", 12, "-d", 8, "--ranks", "1,2")


@pytest.fixture
def stored(run: Run, corpus: Path) -> str:
    assert run("analyze", corpus, *SMALL, "--out", "stored", "--no-report").returncode == 0
    return "stored"


@pytest.mark.slow
def test_one_command_gives_numbers_page_and_figures(run: Run, corpus: Path, tmp_path: Path) -> None:
    done = run("analyze", corpus, *SMALL, "--out", "out", "--verbose")
    assert done.returncode == 0, done.stderr
    assert "report.html, figures" in " ".join(done.stdout.split())
    lines = done.stderr.splitlines()
    assert all(re.fullmatch(r"posgeom: \d\d:\d\d:\d\d [\w -]+: (begins|done).*", line) for line in lines), lines
    for stage in ("counting", "scoring", "report", "figures"):
        assert f" {stage}: done" in done.stderr
    kinds = ("scorecard", "matrix", "lag", "spectrum", "map", "depth", "depth-curve", "density", "violations", "width")
    expected = {f"{kind}{suffix}" for kind in kinds for suffix in (".svg", ".pdf", ".png", ".csv")}
    assert set(visible(tmp_path / "out" / "figures")) == expected
    first = (tmp_path / "out" / "report.html").read_bytes()
    # The page is made from the stored numbers alone: the same again, to the byte.
    for name in ("counts.parquet", "distances.npz", "mds.safetensors", "replicates.npz", "scores.csv"):
        (tmp_path / "out" / name).unlink()
    corpus.unlink()
    again = run("report", "out")
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout == "written to 'out/report.html'\n"
    assert (tmp_path / "out" / "report.html").read_bytes() == first


def test_without_a_report(run: Run, stored: str, tmp_path: Path) -> None:
    assert visible(tmp_path / stored) == [
        *("charts.json", "counts.parquet", "distances.npz", "mds.safetensors", "replicates.npz"),
        *("scores.csv", "scores.json"),
    ]


@pytest.mark.slow
def test_runs_side_by_side(run: Run, stored: str, tmp_path: Path) -> None:
    done = run("report", stored, stored)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Runs side by side" in (tmp_path / "report.html").read_text()
    assert run("report", stored, stored, "-o", "both.html").stdout == "written to 'both.html'\n"


def test_layers(run: Run, corpus: Path, tmp_path: Path) -> None:
    save_bert(tmp_path / "m")
    done = run("layers", "m", corpus, "-n", 12, "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "Layers and heads of" in (tmp_path / "out" / "report.html").read_text()
    with (tmp_path / "out" / "figures" / "heatmap.csv").open(newline="") as stream:
        cells = list(csv.DictReader(stream))
    rows = json.loads((tmp_path / "out" / "layers.json").read_text())["rows"]
    scores = {
        (r["layer"], r["head"]): r["alignment"] for r in rows if r["weights"] == "trained" and r["head"] is not None
    }
    assert {(int(c["layer"]), int(c["head"])): float(c["value"]) for c in cells} == scores
    assert run("plot", "layers", "out", "-o", "heat.png").returncode == 0


def test_one_chart(run: Run, stored: str, tmp_path: Path) -> None:
    assert run("plot", "lag", stored).stdout == "written to 'lag.svg'\n"
    assert (tmp_path / "lag.svg").read_text().startswith("<svg")
    done = run("plot", "matrix", stored, "-o", "new/m.pdf", "-o", "new/m.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert visible(tmp_path / "new") == ["m.csv", "m.pdf"]


def test_refusals(run: Run, stored: str, tmp_path: Path) -> None:
    refused(run("plot", "pie", stored), "no chart 'pie': expected one of scorecard, matrix")
    refused(run("plot", "layers", stored), "'stored' has no numbers for layers: it has those for scorecard")
    refused(run("plot", "lag", stored, "-o", "a.gif"), "'a.gif': expected a name that ends in .svg, .pdf, .png, .csv")
    refused(run("plot", "lag", "none"), "'none' is missing: expected a directory")
    refused(run("report", "none"), "'none' is missing: expected a directory")
    refused(run("report", stored, "-o", "none/x.html"), "cannot write 'none/x.html'")
    (tmp_path / stored / "scores.json").write_text("{}")
    refused(run("report", stored), "scores.json' has no schema_version")
    assert "report.html" not in visible(tmp_path)


@pytest.mark.slow
def test_without_the_extra(run_process: Run, corpus: Path, stored: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'altair' else find(name, *a)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = run_process("analyze", corpus, *SMALL, "--out", "plain", env=environment)
    assert done.returncode == 0, done.stderr
    assert "no report.html and no figures: pip install 'posgeom[report]', then posgeom report" in done.stdout
    assert "figures" not in visible(tmp_path / "plain")
    refused(run_process("report", stored, env=environment), "pip install 'posgeom[report]'")
    refused(run_process("plot", "lag", stored, env=environment), "pip install 'posgeom[report]'")


def test_the_kinds_of_charts_are_listed(run: Run) -> None:
    done = run("plot")
    assert done.returncode == 0
    listed = [line.split()[0] for line in done.stdout.splitlines()]
    assert listed == list(KINDS)
    assert "Alignment of every encoding" in done.stdout
    refused(run("plot", "matrix"), "no directory of a run", "posgeom plot 'matrix' RUN_DIR")
