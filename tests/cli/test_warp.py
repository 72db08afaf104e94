"""``posgeom warp`` on a corpus and on counts, and ``--positions`` on the commands that analyse."""

import html
import json
from pathlib import Path

import numpy as np
import pytest

import posgeom as pg
from tests.cli.helpers import Run, refused

N = 16


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Words that give way to others, the sooner the earlier: positions on a line that bends."""
    rng = np.random.default_rng(0)
    late = np.log1p(np.arange(N) / 2) / np.log1p((N - 1) / 2)
    lines = [" ".join("late" if rng.random() < 0.2 + 0.6 * p else "soon" for p in late) for _ in range(1500)]
    path = tmp_path / "a.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.slow
def test_a_corpus_and_its_counts_say_the_same(run: Run, corpus: Path, tmp_path: Path) -> None:
    given = ["-n", N, "--fold-by", "row"]
    done = run("warp", corpus, *given, "--json", "--out", "out", "-q")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert json.loads((tmp_path / "out" / "warp.json").read_text()) == document
    assert {one["name"] for one in document["families"]} == {"log", "power", "reciprocal", "monotone", "smooth"}
    assert document["best"] == document["families"][0]["name"]
    log = next(one for one in document["families"] if one["name"] == "log")
    assert log["low"] < log["parameter"] < log["high"]
    assert log["low"] < 2 < log["high"]
    assert log["alignment_low"] < log["alignment"] < log["alignment_high"]
    assert [point["beyond"] for point in log["curve"]] == [False] * N + [True] * (N - 1)
    assert document["is_line"]
    assert document["documents"] == 1500
    assert [row["first_position"] for row in document["left_out"]] == [0, 1, 2, 4, 8]
    assert run("count", corpus, *given, "-o", "c.parquet").returncode == 0
    again = json.loads(run("warp", "--counts", "c.parquet", "--json").stdout)
    assert again["families"] == document["families"]
    spec = f"line:warp={log['spec']}"
    scored = run(
        "analyze", "--counts", "c.parquet", "--only", "--encoding", spec, "--encoding", "line:warp=corpus:log", "--json"
    )
    assert scored.returncode == 0, scored.stderr
    fixed, fitted = json.loads(scored.stdout)["encodings"]
    assert fitted["alignment"] == pytest.approx(log["alignment"])
    assert (fixed["sample"], fitted["sample"]) == ("exact", "out")


def test_the_table_says_what_was_found(run: Run, corpus: Path) -> None:
    done = run("warp", corpus, "-n", N, "--fold-by", "row", "--family", "log", "--family", "power", "-q")
    assert done.returncode == 0, done.stderr
    assert "log(1 + t / c)" in done.stdout
    assert "it is not known to make a better model" in " ".join(done.stdout.split())
    assert "share of |B|^2" in done.stdout
    assert "monotone" not in done.stdout.split("hellinger")[0]
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_refusals(run: Run, corpus: Path) -> None:
    refused(run("warp"), "no corpus")
    refused(run("warp", corpus, "-n", N, "--family", "cubic"), "warp family 'cubic'", "expected one of log")
    refused(run("warp", corpus, "-n", N, "--level", "1"), "--level 1")
    refused(run("warp", corpus, "-n", N, "--positions", "4"), "--positions '4'", "as in 16-255")
    refused(run("warp", corpus, "-n", N, "--positions", "4-4"), "positions 4-4", "0 to 15")
    refused(run("analyze", corpus, "-n", N, "--encoding", "line:warp=log"), "warp is 'log', expected log:C")


@pytest.mark.slow
def test_positions_by_themselves(run: Run, corpus: Path, tmp_path: Path) -> None:
    given = ["-n", N, "--fold-by", "row", "--positions", "4-11", "--json", "-q"]
    done = run("analyze", corpus, *given, "--out", "run")
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout)
    assert scores["positions_used"] == list(range(4, 12))
    assert scores["positions_shallow"] == scores["positions_empty"] == []
    depth = pg.plots.figure(tmp_path / "run", "depth")
    assert [row["state"] for row in depth.table] == ["not looked at"] * 4 + ["used"] * 8 + ["not looked at"] * 4
    axes = json.loads(run("axes", corpus, *given, "-k", 2).stdout)
    assert [axis["eigenvalue"] for axis in axes["axes"]] == pytest.approx(scores["spectrum"][:2])
    warp = json.loads(run("warp", corpus, *given, "--no-left-out").stdout)
    assert (warp["first_position"], warp["last_position"], warp["left_out"]) == (4, 11, [])
    fitted = run(
        "fit", corpus, "-n", N, "--fold-by", "row", "--positions", "4-11", "-d", 8, "-o", "f.safetensors", "--json"
    )
    assert json.loads(fitted.stdout)["fit"]["positions"]["fitted"] == [[4, 11]]


@pytest.mark.slow
def test_charts(corpus: Path) -> None:
    counts = pg.count(corpus, n_positions=N, fold_by="row")
    fit = pg.fit_warp(pg.geometry(counts), ["log", "monotone"])
    for chart in (pg.plots.warp(fit), pg.plots.left_out(fit)):
        assert chart.to_dict()["layer"]


@pytest.mark.slow
def test_a_run_is_looked_at_and_its_page_has_the_charts(run: Run, corpus: Path, tmp_path: Path) -> None:
    assert run("analyze", corpus, "-n", N, "--fold-by", "row", "--out", "run", "--no-report", "-q").returncode == 0
    families = ["--family", "log", "--family", "monotone"]
    done = run("warp", "run", *families, "--out", "run", "-q")
    assert done.returncode == 0, done.stderr
    assert "posgeom report 'run' makes its page" in done.stdout
    assert {"warp.svg", "left-out.svg", "warp.csv"} <= {path.name for path in (tmp_path / "run" / "figures").iterdir()}
    document = json.loads((tmp_path / "run" / "warp.json").read_text())
    assert document["sources"] == [str(corpus)]
    assert run("report", "run", "-q").returncode == 0
    page = (tmp_path / "run" / "report.html").read_text()
    for text in ("Warp of the position", "Without the first positions", html.escape(document["findings"][0])):
        assert text in page
    warp, left_out = (pg.plots.figure(tmp_path / "run", kind) for kind in ("warp", "left-out"))
    assert {row["warp"] for row in warp.table} == {"log", "monotone"}
    assert {row["line"] for row in left_out.table} == {"log", "sinusoidal", "line", "share of |B|^2"}
    assert run("warp", corpus, "-n", N, "--fold-by", "row", *families, "--out", "alone", "-q").returncode == 0
    assert run("report", "alone").returncode == 0
    assert "Warps of a.txt" in (tmp_path / "alone" / "report.html").read_text()
    (tmp_path / "alone" / "warp.json").write_text(json.dumps(document | {"level": "high"}))
    refused(run("report", "alone"), "warp.json", "level", "expected a number")


@pytest.mark.slow
def test_theory_and_export_look_at_some_positions(run: Run, corpus: Path, tmp_path: Path) -> None:
    given = [corpus, "-n", N, "--fold-by", "row"]
    assert run("count", *given, "-o", "c.parquet", "-q").returncode == 0
    for name in ("stationarity", "parametrisation", "bounds", "monotonicity", "mds", "ntk", "all"):
        part, whole = (run("theory", name, "--counts", "c.parquet", "--json", *more) for more in
                       (["--positions", "4-11"], []))  # fmt: skip
        assert part.returncode == whole.returncode == 0, part.stderr
        assert part.stdout != whole.stdout
    export = ["export", "mds:rank=2", "--counts", "c.parquet", "-o", "m.npy", "-q"]
    refused(run(*export, "--positions", "4-11"), "position")
    assert (
        run("export", "line:warp=corpus:log", "--counts", "c.parquet", "--positions", "4-11", "-o", "l.npy").returncode
        == 0
    )
    fitted = pg.fit_warp(pg.geometry(pg.read_counts(tmp_path / "c.parquet"), positions=(4, 11)), ["log"])
    np.testing.assert_allclose(np.load(tmp_path / "l.npy")[:, 0], fitted.at(np.arange(N)), rtol=1e-5)
    refused(run("export", "rope", "--positions", "4-11", "-o", "r.safetensors"), "--positions without --counts")
