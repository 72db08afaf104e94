"""`posgeom reproduce`."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.helpers import Run, refused, visible
from tests.models.raw import bert_tensors, save_bert

ITEM_KEYS = ["name", "title", "section", "rows", "sound", "change", "panels", "missing", "notes", "status"]
ROW_KEYS = ["quantity", "unit", "ours", "paper", "difference", "verdict"]
DOCUMENT_KEYS = ["schema_version", "software", "paper", "seed", "n_seeds", "verdicts", "corpora", "models", "items"]


@pytest.mark.slow
def test_without_data(run: Run, tmp_path: Path) -> None:
    done = run("reproduce", "--seeds", 2, "--out", "paper")
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 100
    text = " ".join(done.stdout.split())
    assert re.match(r"\d+ of the 18 numbers that can be compared agree with the paper: ", text)
    assert "67 were not run (give --sst2 PATH; --imdb PATH; " in text
    assert "--model PATH" in text
    assert "differs" in text
    assert "Table 4:" not in text
    found = visible(tmp_path / "paper")
    assert {"reproduce.html", "reproduce.json", "reproduce.csv", "figures", "fig1-1.svg", "fig2-3.pdf"} <= set(found)
    document = json.loads((tmp_path / "paper" / "reproduce.json").read_text())
    assert list(document) == DOCUMENT_KEYS
    for item in document["items"]:
        assert list(item) == ITEM_KEYS
        assert [list(row) for row in item["rows"]] == [ROW_KEYS] * len(item["rows"])
        if item["status"] == "not run":
            assert item["missing"]
            assert all(row["ours"] is None for row in item["rows"])
    assert [item["name"] for item in document["items"] if item["status"] == "not run"] == [
        "table4",
        "fig4",
        "fig7",
        "fig8",
    ]


def test_what_was_not_run_is_listed_on_request(run: Run) -> None:
    assert "Table 4:" not in run("reproduce", "table4", "--seeds", 2).stdout
    text = " ".join(run("reproduce", "table4", "--seeds", 2, "--full").stdout.split())
    assert text.startswith("No number of ours can be compared with one of the paper. Beside these, ")
    assert "Table 4: encodings on SST-2 and IMDB, d = 768 (Section 6.3), not run" in text
    assert "give --sst2 PATH" in text


def test_json_of_some_items(run: Run) -> None:
    done = run("reproduce", "fig2", "table3", "--seeds", 2, "--seed", 5, "--json", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert [item["name"] for item in document["items"]] == ["table3", "fig2"]
    assert (document["seed"], document["n_seeds"]) == (5, 2)
    row = document["items"][0]["rows"][0]
    assert row["ours"]["kind"] == "seeds"
    assert row["paper"]["section"] == "6.2"


def test_corpora_and_a_model(run: Run, corpus: Path, tmp_path: Path) -> None:
    save_bert(tmp_path / "bert", bert_tensors(n_positions=128), max_position_embeddings=128)
    done = run(
        "reproduce", "fig7", "fig8", "--sst2", corpus, "-t", "whitespace", "--model", "bert", "--seeds", 2, "--json"
    )
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["models"] == {"pretrained": "bert", "scratch": None}
    assert document["corpora"]["sst2"]["documents"] == 300
    verdicts = {row["quantity"]: row["verdict"] for row in document["items"][0]["rows"]}
    assert verdicts["Pearson, pretrained"] == "not comparable"
    assert verdicts["Pearson, scratch"] == "not run"


def test_refusals(run: Run, run_process: Run, corpus: Path, tmp_path: Path) -> None:
    offline = {"env": os.environ | {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(tmp_path / "cache")}}
    (tmp_path / "file").write_text("")
    refused(run("reproduce", "fig3", "--out", "o"), "no item 'fig3'", "expected table2")
    refused(run("reproduce", "--sst2", "gone.parquet", "-t", "chars", "--out", "o"), "gone.parquet")
    done = run_process("reproduce", "--sst2", corpus, "--out", "o", **offline)
    refused(done, "no tokenizer 'bert-base-uncased'", "-t takes")
    refused(run_process("reproduce", "--model", "gone/gone", "--out", "o", **offline), "no model 'gone/gone'")
    refused(run("reproduce", "--seeds", 1, "--out", "o"), "at least 2 seeds")
    refused(run("reproduce", "--seed", -1, "--out", "o"), "seed -1")
    refused(run("reproduce", "table2", "--out", "file"), "it is a file")
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("name", ["fig6", "fig8"])
def test_a_model_without_the_corpus(run: Run, tmp_path: Path, name: str) -> None:
    save_bert(tmp_path / "bert", bert_tensors(n_positions=128), max_position_embeddings=128)
    done = run("reproduce", name, "--model", "bert", "--seeds", 2, "--json")
    document = json.loads(done.stdout)
    (item,) = document["items"]
    assert "SST-2" in {entry["what"] for entry in item["missing"]}
