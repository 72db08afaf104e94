"""``posgeom export``."""

import json
import resource
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.encodings.tables import load_matrix
from tests.cli.helpers import Run, refused, visible


def read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, object]]:
    with safe_open(str(path), framework="numpy") as file:
        arrays = {name: file.get_tensor(name) for name in sorted(file.keys())}
        return arrays, json.loads(file.metadata()["posgeom"])


def test_a_table(run: Run, tmp_path: Path) -> None:
    done = run("export", "sinusoidal:layout=halves", "-n", 50, "-d", 6, "-o", "t.npy", "--dtype", "float64")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "'t.npy': table of sinusoidal:layout=halves, table (50, 6), float64\n"
    np.testing.assert_array_equal(np.load(tmp_path / "t.npy"), sinusoidal(50, 6, layout="halves").coordinates())


def test_angles_and_biases(run: Run, tmp_path: Path) -> None:
    spec = "rope:base=500000,pairing=halves,scaling=llama3,factor=32"
    assert run("export", spec, "-n", 40, "-d", 8, "-o", "a.safetensors").returncode == 0
    arrays, metadata = read(tmp_path / "a.safetensors")
    assert {name: (a.shape, a.dtype.name) for name, a in arrays.items()} == {
        "cos": ((40, 8), "float32"),
        "sin": ((40, 8), "float32"),
    }
    assert metadata["spec"] == spec
    command = ["export", "alibi:heads=4", "-n", 9, "-o", "b.safetensors", "--what", "bias-matrix", "--dtype", "float16"]
    assert run(*command).returncode == 0
    arrays, _ = read(tmp_path / "b.safetensors")
    assert arrays["bias"].shape == (4, 9, 9)
    assert arrays["bias"][0, 5, 1] == -4 * 2**-2


def test_an_encoding_fitted_to_counts(run: Run, corpus: Path, tmp_path: Path) -> None:
    assert run("count", corpus, "-n", 12, "-o", "counts.parquet").returncode == 0
    refused(run("export", "mds:rank=3", "-d", 8, "-o", "m.npy"), "fitted to a corpus geometry", "--counts FILE")
    done = run("export", "mds:rank=3,missing=linear", "--counts", "counts.parquet", "-d", 8, "-o", "m.safetensors")
    assert (done.returncode, done.stderr) == (0, "")
    arrays, metadata = read(tmp_path / "m.safetensors")
    assert arrays["table"].shape == (12, 8)
    assert (np.abs(arrays["table"]).max(axis=0) > 0).sum() == 3
    assert metadata["options"] == {"rank": 3, "columns": "first", "missing": "linear", "seed": 0}
    assert metadata["fitted_to"] == {"metric": "hellinger", "estimator": "crossval", "convention": "sound", "seed": 0}
    scored = run("analyze", "--counts", "counts.parquet", "-d", 8, "--encoding", "m.safetensors", "--json")
    rows = {row["name"]: row for row in json.loads(scored.stdout)["encodings"]}
    # A table is scored as it is, on the corpus it was fitted to; a spec is fitted on one half and scored on the other.
    assert rows["m.safetensors"]["min_separation"] == pytest.approx(rows["mds:rank=3"]["min_separation"], rel=1e-5)
    assert (rows["m.safetensors"]["sample"], rows["mds:rank=3"]["sample"]) == ("exact", "out")
    assert rows["m.safetensors"]["stress_raw"] < rows["mds:rank=3"]["stress_raw"]


def test_a_matrix_file_in_another_type(run: Run, tmp_path: Path) -> None:
    table = np.random.default_rng(0).normal(size=(40, 3))
    np.save(tmp_path / "t.npy", table)
    assert run("export", "t.npy", "-n", 20, "-o", "t.safetensors", "--dtype", "bfloat16").returncode == 0
    np.testing.assert_allclose(load_matrix(tmp_path / "t.safetensors"), table[:20], rtol=2**-8)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["rope", "-o", "x.safetensors"], ["say pairing=interleaved"]),
        (["spiral", "-o", "x.npy"], ["no encoding 'spiral'"]),
        (["rope:colour=red", "-o", "x.npy"], ["no option 'colour'", "base (a number)"]),
        (["sinusoidal", "-o", "x.bin"], ["'x.bin'", ".safetensors or .npy"]),
        (["sinusoidal", "-o", "x.npy", "--dtype", "bfloat16"], ["no bfloat16"]),
        (["sinusoidal", "-o", "x.npy", "--what", "angles"], ["rotates nothing"]),
        (["rope:pairing=halves", "-o", "x.npy"], ["cos and sin", ".safetensors"]),
        (["sinusoidal", "-o", "none/x.npy"], ["cannot write 'none/x.npy'"]),
        (["sinusoidal", "-o", "x.npy", "-n", "1"], ["n = 1", "at least 2"]),
        (["sinusoidal", "-o", "x.npy", "-d", "0"], ["d = 0"]),
        (["none.npy", "-o", "x.npy"], ["no file 'none.npy'"]),
        (["t5:table=none.npy", "-o", "x.npy"], ["cannot read 'none.npy'"]),
        (["alibi", "-o", "x.npy", "-n", "1000000", "--what", "bias-matrix"], ["GB", "smaller -n"]),
        (["mds", "--counts", "none.parquet", "-o", "x.npy"], ["'none.parquet'"]),
        (["sinusoidal"], ["-o"]),
        ([], ["NAME"]),
    ],
)
def test_bad_input(run: Run, tmp_path: Path, arguments: list[str], parts: list[str]) -> None:
    refused(run("export", *arguments), *parts)
    assert visible(tmp_path) == []


def test_a_disk_that_fills_up(run_process: Run, tmp_path: Path) -> None:
    (tmp_path / "x.safetensors").write_text("before")

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

    done = run_process("export", "sinusoidal", "-o", "x.safetensors", preexec_fn=small_files)
    refused(done, "cannot write 'x.safetensors'")
    assert (tmp_path / "x.safetensors").read_text() == "before"
    assert visible(tmp_path) == ["x.safetensors"]


def test_help(run: Run) -> None:
    done = run("export", "--help")
    assert done.returncode == 0
    assert "Examples" in done.stdout
