"""``posgeom axes``: the same numbers as an analysis, without its distances."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

import posgeom as pg
from tests.cli.helpers import Run, refused
from tests.cli.test_tokens import write_corpus

GIVEN = ["-n", 5, "--fold-by", "row"]


def test_it_says_what_a_geometry_of_all_distances_says(run: Run, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "a.txt")
    done = run("axes", corpus, *GIVEN, "-k", 3, "--score", "sinusoidal", "--score", "alibi", "-d", 16, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    counts = pg.count(corpus, n_positions=5, options=pg.ReadOptions(fold_by="row"))
    shape = pg.geometry(counts)
    got = [one["eigenvalue"] for one in document["axes"]]
    np.testing.assert_allclose(got, shape.spectrum.eigenvalues[:3], rtol=1e-6, atol=1e-12)
    assert document["method"] == "dense"
    assert document["mean_squared_distance"] == pytest.approx(shape.distances.mean_squared)
    for one in document["encodings"]:
        encoding = pg.build_encoding(one["name"], n_positions=5, n_dims=16)
        assert one["alignment"] == pytest.approx(pg.alignment(encoding, shape))
        assert one["sampling_error"] is None


def test_the_table_and_the_file(run: Run, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "a.txt")
    done = run("axes", corpus, *GIVEN, "-k", 2, "-o", "mds.safetensors", "--score", "sinusoidal")
    assert done.returncode == 0, done.stderr
    assert "error bound" in done.stdout
    assert "not a better model" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    counts = pg.count(corpus, n_positions=5, options=pg.ReadOptions(fold_by="row"))
    with safe_open(tmp_path / "mds.safetensors", "np") as file:
        table, positions = file.get_tensor("table"), file.get_tensor("positions")
        assert json.loads(file.metadata()["posgeom"])["fitted_to"]["method"] == "dense"
    known = pg.geometry(counts).mds(2).coordinates  # the two eigenvalues are equal: axes are known up to rotation
    np.testing.assert_allclose(table @ table.T, known @ known.T, atol=1e-9)
    assert positions.tolist() == list(range(5))


def test_refusals_leave_nothing(run: Run, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "a.txt")
    refused(run("axes"), "no corpus")
    refused(run("axes", corpus, "-k", 0), "--axes", "expected at least 1")
    refused(run("axes", corpus, *GIVEN, "--metric", "fisher-rao", "-o", "a.npy"), "use hellinger")
    refused(run("axes", corpus, *GIVEN, "--score", "nothing"), "nothing")
    refused(run("axes", corpus, *GIVEN, "-o", "a.txt.gz"), ".safetensors")
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
