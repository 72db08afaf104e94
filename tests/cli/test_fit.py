"""``posgeom fit``."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import posgeom as pg
from posgeom.report.files import save_counts
from posgeom.simulation.scenarios import scenarios
from tests.cli.helpers import Run, refused, visible


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    """Counts of 24 positions that lie on three axes."""
    file = tmp_path / "counts.parquet"
    save_counts(scenarios()["rank 3"].draw(np.random.default_rng(0)), file)
    return file


def test_from_counts(run: Run, counts: Path, tmp_path: Path) -> None:
    done = run("fit", "--counts", counts.name, "-d", 32, "-n", 30, "-o", "mds.safetensors")
    assert (done.returncode, done.stderr) == (0, "")
    stored = pg.read_counts(counts)
    expected = pg.fit_encoding(pg.geometry(stored), 32, n_positions=30, counts=stored)
    tensors = load_file(tmp_path / "mds.safetensors")
    np.testing.assert_array_equal(tensors["table"], np.float32(expected.coordinates()))
    np.testing.assert_array_equal(tensors["coordinates"], np.float32(expected.factors["coordinates"]))
    share = expected.fit["explained"]
    value, low, high = (100 * share[key] for key in ("value", "low", "high"))
    for part in (
        "'mds.safetensors'  table 30 x 32 = coordinates 30 x 3 times axes 32 x 3, rows as-is",
        "rank               3, significant: p = 0.00195, 0.00195, 0.00195, 0.93 at level 0.05, 512 patterns of signs",
        f"explained          {value:.1f} % ({low:.1f} to {high:.1f}) of |B|^2, on folds it was not fitted to, 10 folds",
        "parameters         186 as factors, r (n + d); 960 as a table, n d",
        "positions          0-23 fitted",
        "                   24-29 without data, with the row of the nearest position",
        "A faithful geometry is not a better model.",
        "posgeom.training.apply_encoding(model, 'mds.safetensors')",
    ):
        assert part in done.stdout


def test_json_is_the_metadata(run: Run, counts: Path, tmp_path: Path) -> None:
    command = ["fit", "--counts", counts.name, "-d", 32, "--rank", 2, "--rows", "unit", "-o", "mds.safetensors"]
    done = run(*command, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    metadata = json.loads(done.stdout)
    assert metadata["what"] == "table"
    assert (metadata["fit"]["rank"], metadata["fit"]["rank_chosen"], metadata["fit"]["rows"]) == (2, "given", "unit")
    assert pg.build_encoding(str(tmp_path / "mds.safetensors"), n_positions=24, n_dims=32).fit == metadata["fit"]
    assert np.linalg.norm(load_file(tmp_path / "mds.safetensors")["table"], axis=1) == pytest.approx(np.ones(24))
    assert "given; 3 are significant" in run(*command).stdout


def test_from_a_corpus_and_scored(run: Run, corpus: Path, tmp_path: Path) -> None:
    """The file is an encoding like any other: on the same text it has the stress of the MDS that it is."""
    done = run("fit", corpus, "-n", 12, "-d", 16, "--rank", 3, "--estimator", "plugin", "-o", "m.safetensors")
    assert (done.returncode, done.stderr) == (0, "")
    assert "3, given; the axes were not tested against noise" in done.stdout
    assert "in sample" in done.stdout
    noise = run("fit", corpus, "-n", 12, "-d", 16, "--rank", 1, "--folds", 3, "-o", "three.safetensors")
    assert "undefined: its noise is not told from its structure" in noise.stdout
    scored = run(
        *("analyze", corpus, "-n", 12, "-d", 16, "--estimator", "plugin", "--only", "--json", "--no-intervals"),
        *("--encoding", "m.safetensors", "--encoding", "mds:rank=3"),
    )
    assert scored.returncode == 0, scored.stderr
    rows = {row["name"]: row for row in json.loads(scored.stdout)["encodings"]}
    for score in ("alignment", "stress_raw", "min_separation"):
        assert rows["m.safetensors"][score] == pytest.approx(rows["mds:rank=3"][score], rel=1e-5)


def test_compared(run: Run, counts: Path, tmp_path: Path) -> None:
    assert run("fit", "--counts", counts.name, "-d", 32, "--rank", 1, "-o", "m.safetensors", "-q").returncode == 0
    options = ["--only", "--encoding", "m.safetensors", "--encoding", "sinusoidal", "--out", "run", "--no-report"]
    assert run("analyze", "--counts", counts.name, "-d", 32, *options).returncode == 0
    assert "m.safetensors" in run("compare", "run").stdout
    notes = json.loads((tmp_path / "run" / "scores.json").read_text())["notes"]
    assert any("m.safetensors was fitted to this corpus: its scores are in-sample" in note for note in notes)


def test_refusals_leave_nothing(run: Run, counts: Path, corpus: Path, tmp_path: Path) -> None:
    before = visible(tmp_path)
    given = ["fit", "--counts", counts.name, "-d", 32]
    refused(run("fit", "-o", "m.safetensors"), "no corpus", "--counts FILE")
    refused(run(*given, corpus, "-o", "m.safetensors"), "both a corpus and --counts: expected one of them")
    refused(run(*given, "-o", "m.npy"), "cannot write 'm.npy': the table and its factors need a .safetensors file")
    refused(run(*given, "-o", "m.txt"), "expected a name that ends in .safetensors or .npy")
    refused(run(*given, "--rank", "all", "-o", "m.safetensors"), "--rank 'all': expected auto or a whole number")
    refused(run(*given, "--rank", 30, "-o", "m.safetensors"), "rank 30: expected auto, or 1 to")
    refused(run(*given, "--estimator", "plugin", "-o", "m.safetensors"), "the significant rank is not known")
    refused(run(*given, "--folds", 3, "-o", "m.safetensors"), "--folds was fixed when the counts were made")
    refused(run("fit", corpus, "-n", 1, "-o", "m.safetensors"), "n = 1")
    refused(run("fit", corpus, "-d", 0, "-o", "m.safetensors"), "d = 0: expected 1 to")
    refused(run(*given, "-o", "none/m.safetensors"), "none")
    assert visible(tmp_path) == before
