"""posgeom theory necessity, separation and ntk."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.helpers import posgeom
from tests.models.small import build, save


def corpus(directory: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 4, (300, 6)) + np.arange(6)
    path = directory / "a.txt"
    path.write_text("\n".join(" ".join(map(str, row)) for row in rows))
    return path


def test_ntk(tmp_path: Path) -> None:
    done = posgeom("theory", "ntk", str(corpus(tmp_path)), "-n", "8", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert [one["verdict"] for one in result["statements"][:4]] == [
        "holds",
        "holds",
        "holds under a convention",
        "false",
    ]
    table = posgeom("theory", "ntk", str(corpus(tmp_path)), "-n", "8", "--kernel", "1+d", cwd=tmp_path)
    assert "the minor of" in " ".join(table.stdout.split())
    wrong = posgeom("theory", "ntk", str(corpus(tmp_path)), "-n", "8", "--kernel", "exp", cwd=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.count("\n") == 1


@pytest.mark.models
def test_necessity(tmp_path: Path) -> None:
    path = str(save(build("bert"), tmp_path))
    done = posgeom("theory", "necessity", path, "-n", "8", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["verdict"] == "holds"
    kept = posgeom("theory", "necessity", path, "-n", "8", "--encoding", "kept", cwd=tmp_path)
    assert "false" in kept.stdout


@pytest.mark.models
def test_separation(tmp_path: Path) -> None:
    from tests.theory.test_model_run import checkpoint, texts

    model = str(checkpoint("bert-masked", tmp_path / "model"))
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(texts()))
    done = posgeom("theory", "separation", model, str(path), "-n", "12", "--examples", "20", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["h1"]["verdict"] == "holds"
    assert result["h2"]["n_examples"] == 20
    table = posgeom("theory", "separation", model, str(path), "-n", "12", "--examples", "20", cwd=tmp_path)
    assert "H2 swaps raise the loss" in table.stdout
    kernel = posgeom(
        "theory", "ntk", str(path), "--model", model, "-n", "10", "--examples", "6", "--json", cwd=tmp_path
    )
    assert kernel.returncode == 0, kernel.stderr
    assert 0 <= json.loads(kernel.stdout)["explained"] < 1
    lone = posgeom("theory", "ntk", "--model", model, cwd=tmp_path)
    assert "name a corpus" in lone.stderr
    wrong = posgeom("theory", "separation", model, str(path), "--examples", "1", cwd=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")


@pytest.mark.models
@pytest.mark.slow
def test_separation_without_a_model(tmp_path: Path) -> None:
    done = posgeom("theory", "separation", cwd=tmp_path)
    assert "bag of words" in done.stdout
    assert "holds: rows collapse in 'stationary', 'bag of words', 'M = 0'" in " ".join(done.stdout.split())
