"""`posgeom inspect`, `layers` and `order`."""

import importlib.util
import json
import os
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.cli.helpers import Run, refused, visible
from tests.models.raw import bert_tensors, save_bert


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save_bert(tmp_path / "m")


@pytest.fixture
def counts(run: Run, corpus: Path, tmp_path: Path) -> Path:
    assert run("count", corpus, "-n", 12, "-o", "c.parquet").returncode == 0
    return tmp_path / "c.parquet"


def test_inspect(run: Run, model: Path) -> None:
    done = run("inspect", model, "-n", 10)
    assert done.returncode == 0, done.stderr
    for part in ("bert", "learned table", "24 x 128, F32", "min. separ.", "effective rank", "by lag", "12,288 bytes"):
        assert part in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    document = json.loads(run("inspect", model, "--json").stdout)
    assert document["stacks"][0]["table"]["shape"] == [24, 128]
    assert len(document["stacks"][0]["measures"]["lags"]["mean"]) == 23


def test_inspect_refusals(run: Run, run_process: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.safetensors").write_bytes((model / "model.safetensors").read_bytes()[:-5])
    (tmp_path / "a.pt").write_bytes(b"\x80\x02}q\x00.")
    (tmp_path / "nothing").mkdir()
    offline = {"env": os.environ | {"HF_HUB_OFFLINE": "1"}}
    refused(run("inspect", "cut.safetensors"), "cut.safetensors", "truncated")
    refused(run("inspect", "a.pt"), "a.pt")
    refused(run("inspect", "nothing"), "has no config.json and none of model.safetensors")
    refused(run_process("inspect", "gone/gone", **offline), "'gone/gone'")
    refused(run("inspect", model / "model.safetensors", "--tensor", "x"), "no tensor 'x'")
    refused(run("inspect", model, "-n", 99), "has 24 positions")
    refused(run("inspect"), "MODEL")


def test_a_model_of_the_hub_cache(run_process: Run, tmp_path: Path) -> None:
    repository = tmp_path / "hub" / "models--owner--name"
    snapshot = repository / "snapshots" / "0123456789012345678901234567890123456789"
    for directory in (repository / "refs", snapshot):
        directory.mkdir(parents=True)
    (repository / "refs" / "main").write_text(snapshot.name)
    save_bert(repository / "blobs")
    for name in ("config.json", "model.safetensors"):
        (snapshot / name).symlink_to(f"../../blobs/{name}")
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(tmp_path / "hub")}
    done = run_process("inspect", "owner/name", env=environment)
    assert done.returncode == 0, done.stderr
    assert "'owner/name': bert" in done.stdout


def test_layers(run: Run, model: Path, counts: Path, tmp_path: Path) -> None:
    done = run("layers", model, "--counts", counts, "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "fresh copy" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert visible(tmp_path / "out") == [
        *("figures", "heatmap.csv", "heatmap.csv", "heatmap.pdf", "heatmap.png", "heatmap.svg"),
        *("layers.json", "layers.parquet", "report.html"),
    ]
    rows = pq.read_table(tmp_path / "out" / "layers.parquet").to_pylist()
    assert len(rows) == 20
    heat = (tmp_path / "out" / "heatmap.csv").read_text().splitlines()
    assert heat[0] == "layer,head 0,head 1,head 2,head 3"
    assert len(heat) == 3
    document = json.loads(run("layers", model, "--counts", counts, "--json").stdout)
    assert document == json.loads((tmp_path / "out" / "layers.json").read_text())
    by_head = run("layers", model, "--counts", counts, "--heads", "--no-initial").stdout
    assert by_head.count("head 3") == 2
    assert "fresh copy" not in by_head.split("\n-")[0]


def test_layers_of_a_corpus(run: Run, model: Path, corpus: Path, counts: Path) -> None:
    direct = json.loads(run("layers", model, corpus, "-n", 12, "--json", "--convention", "paper").stdout)
    assert direct["input"] == "sinusoidal"
    assert direct["estimator"] == "plugin"
    stored = json.loads(run("layers", model, "--counts", counts, "--json", "--convention", "paper").stdout)
    assert direct["rows"] == stored["rows"]


def test_layers_refusals(run: Run, model: Path, counts: Path, tmp_path: Path) -> None:
    refused(run("layers", model), "no corpus", "--counts FILE")
    refused(run("layers", model, "a.txt", "--counts", counts), "both a corpus and --counts")
    refused(run("layers", model, "x.txt", "--counts", counts), "one of them")
    refused(run("layers", model, "--counts", counts, "-n", 9), "-n was fixed when the counts were made")
    refused(run("layers", model, "--counts", counts, "--input", "nonsense", "--out", "o"), "no encoding 'nonsense'")
    refused(run("layers", model, "--counts", counts, "--stack", "decoder"), "no stack 'decoder'")
    refused(run("layers", model, "--counts", tmp_path / "gone.parquet"), "gone.parquet")
    tensors = bert_tensors()
    del tensors["encoder.layer.1.attention.self.key.weight"]
    partial = save_bert(tmp_path / "partial", tensors)
    refused(
        run("layers", partial, "--counts", counts, "--out", "o"),
        "no tensor 'encoder.layer.1.attention.self.key.weight'",
    )
    assert not (tmp_path / "o").exists()


def test_a_model_in_analyze(run: Run, model: Path, counts: Path) -> None:
    done = run("analyze", "--counts", counts, "--only", "--encoding", f"model:{model}", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["encodings"][0]["name"] == f"model:{model}"
    refused(
        run("analyze", "--counts", counts, "--encoding", "model:gone.safetensors"), "no model at 'gone.safetensors'"
    )


def test_an_untrained_tail_is_shown(run: Run, tmp_path: Path) -> None:
    tensors = bert_tensors()
    tensors["embeddings.position_embeddings.weight"][20:] = np.random.default_rng(0).normal(scale=0.02, size=(4, 128))
    done = run("inspect", save_bert(tmp_path / "m", tensors))
    assert "positions 20 to 23" in done.stdout
    assert "left out below" in done.stdout


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="torch is installed")
def test_order_without_torch(run: Run, model: Path) -> None:
    refused(run("order", model), "install posgeom[models]")
