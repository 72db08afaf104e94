"""Datasets through the library of that name: local directories in the hub's form, configurations, splits, refusals."""

import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import datasets
import huggingface_hub.utils
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import posgeom
from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.sources import resolve_sources, total_bytes
from posgeom.options import ReadOptions
from tests.corpus.helpers import read_documents
from tests.corpus.test_readers_parquet import strings_of
from tests.counts.helpers import check_same_counts

Batches = Callable[..., list[DocumentBatch]]
Refusal = Callable[..., str]
Texts = Callable[..., list[str]]

LINES = [f"line {i}" for i in range(2500)]
CARD = """---
configs:
- config_name: alpha
  data_files:
  - {split: train, path: a/train.jsonl}
  - {split: test, path: a/test.jsonl}
- config_name: beta
  data_files:
  - {split: validation, path: b/*.jsonl}
---
"""


@pytest.fixture(autouse=True)
def _in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)


def directory(name: str, **tables: Any) -> str:
    """Write one Parquet file for each split."""
    Path(name).mkdir()
    for split, table in tables.items():
        pq.write_table(pa.table(table), f"{name}/{split}.parquet", row_group_size=700)
    return f"hf:{name}"


@pytest.fixture
def two_configs() -> str:
    files: dict[str, list[str | None]] = {"a/train": ["a", None], "a/test": ["t"], "b/x": ["x"], "b/y": ["y"]}
    for name, texts in files.items():
        path = Path("hub", f"{name}.jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    Path("hub/README.md").write_text(CARD)
    return "hf:hub"


def test_parquet_directory(batches: Batches) -> None:
    name = directory("d", train={"n": list(range(2500)), "sentence": LINES})
    found = batches(name, batch_size=300, fold_by="n")
    assert [text for batch in found for text in batch.texts] == LINES
    assert [group for batch in found for group in batch.groups or []] == [str(i) for i in range(2500)]
    assert max(len(batch.texts) for batch in found) == 300
    assert {(batch.column, batch.source) for batch in found} == {("sentence", "hf:d")}
    assert [batch.first_row for batch in found][:3] == [1, 301, 601]


def test_counts_are_those_of_the_file() -> None:
    name = directory("d", train={"text": LINES})
    there, local = posgeom.count(name, n_positions=4), posgeom.count("d/train.parquet", n_positions=4)
    check_same_counts(there, local)
    assert there.sources == (name,)


def test_configs_and_splits(two_configs: str, texts: Texts, refusal: Refusal) -> None:
    assert texts("hf:hub:alpha") == texts("hf:hub:alpha:train") == ["a", ""]
    assert texts("hf:hub:alpha:test") == ["t"]
    assert texts("hf:hub:beta") == texts("hf:hub:beta:validation") == ["x", "y"]
    assert "several configs, 'alpha', 'beta': expected one; choose it with hf:NAME:CONFIG" in refusal("hf:hub")
    assert "no config 'gamma': the configs are 'alpha', 'beta'" in refusal("hf:hub:gamma")
    assert "no config 'gamma': the configs are 'alpha', 'beta'" in refusal("hf:hub:gamma:train")
    assert "no split 'dev': the splits are 'train', 'test'" in refusal("hf:hub:alpha:dev")


def test_lone_part_may_be_a_split(texts: Texts, refusal: Refusal) -> None:
    name = directory("d", train={"text": ["a"]}, test={"text": ["t"]})
    assert texts(name) == ["a"]
    assert texts(f"{name}:test") == texts(f"{name}::test") == texts(f"{name}:default:test") == ["t"]
    message = refusal(f"{name}:dev")
    assert "no config or split 'dev': the configs are 'default', the splits 'train', 'test'" in message


def test_columns(texts: Texts, refusal: Refusal) -> None:
    name = directory("d", train={"many": [["x"]], "a": ["a"], "b": ["b"], "n": [1]})
    assert "text columns 'a', 'b': expected one; choose it with --column NAME" in refusal(name)
    assert texts(name, column="b") == ["b"]
    assert "column 'many' holds 'list<element: string>': expected strings" in refusal(name, column="many")
    assert "column 'n' holds 'int64'" in refusal(name, column="n")
    assert "the columns are" in refusal(name, column="z")
    assert "expected one value a row" in refusal(name, column="a", fold_by="many")


def test_images_are_no_text(refusal: Refusal) -> None:
    image = pa.array([{"bytes": b"\x89PNG", "path": None}])
    assert "no text column among 'image'" in refusal(directory("d", train={"image": image}))


def test_invalid_utf8(texts: Texts, refusal: Refusal) -> None:
    name = directory("d", train={"text": strings_of(b"fine", b"ba\xff")})
    assert "'hf:d', row 2: invalid UTF-8 at byte offset 2" in refusal(name)
    assert texts(name, utf8_errors="replace") == ["fine", "ba\ufffd"]


def test_empty_group(refusal: Refusal) -> None:
    name = directory("d", train={"text": ["a", "b"], "g": ["u", None]})
    assert "'hf:d', row 2: column 'g' is empty" in refusal(name, column="text", fold_by="g")


def test_files_that_differ_in_their_columns(refusal: Refusal) -> None:
    Path("d").mkdir()
    Path("d/train-0.jsonl").write_text('{"text": "a"}\n')
    Path("d/train-1.jsonl").write_text('{"body": "b"}\n')
    assert "'hf:d': " in refusal("hf:d")


def test_rows_none(texts: Texts) -> None:
    Path("d").mkdir()
    Path("d/train.csv").write_text("text\n")
    assert texts("hf:d") == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"d.py": "raise SystemExit"}, "a dataset that is a script, which is never run"),
        ({}, "no data files in this dataset"),
        ({"train.parquet": "PAR1 no"}, "'hf:d': cannot read (ArrowInvalid"),
        ({"train.jsonl": '{"text": "a"}\n{"text: \n'}, "'hf:d': cannot read ("),
    ],
)
def test_what_cannot_be_read(refusal: Refusal, files: dict[str, str], expected: str) -> None:
    Path("d").mkdir()
    for name, content in files.items():
        Path("d", name).write_text(content)
    assert expected in refusal("hf:d")


def test_options_that_mean_nothing(refusal: Refusal) -> None:
    name = directory("d", train={"text": ["a"]})
    assert "got --whole-files for a dataset" in refusal(name, whole_files=True)
    assert "got --format for a dataset" in refusal(name, format="text")


def test_offline_is_told_at_once(refusal: Refusal) -> None:
    assert "'hf:owner/name': offline, and not in the cache: unset HF_HUB_OFFLINE" in refusal("hf:owner/name")


def test_size_is_unknown() -> None:
    assert total_bytes(resolve_sources([directory("d", train={"text": ["a"]})], ReadOptions())) is None


def test_library_is_left_as_it_was(capfd: pytest.CaptureFixture[str], refusal: Refusal) -> None:
    directory("d", train={"text": LINES})
    bars: list[Any] = [datasets.utils, huggingface_hub.utils]
    loggers = [logging.getLogger(name) for name in ("datasets", "huggingface_hub")]

    def state() -> list[object]:
        retries = datasets.config.STREAMING_READ_MAX_RETRIES
        return [b.are_progress_bars_disabled() for b in bars] + [x.level for x in loggers] + [retries]

    for module in bars:
        module.enable_progress_bars()
    before = state()
    reading = read_documents(["hf:d"], ReadOptions(batch_size=10))
    next(reading)
    assert state() != before
    reading.close()  # type: ignore[attr-defined]
    assert state() == before
    Path("d/train.parquet").write_bytes(b"PAR1 no")
    refusal("hf:d")
    assert state() == before
    assert capfd.readouterr() == ("", "")


def test_library_that_is_missing_or_old(refusal: Refusal, monkeypatch: pytest.MonkeyPatch) -> None:
    name = directory("d", train={"text": ["a"]})
    monkeypatch.setitem(sys.modules, "datasets", None)
    assert "needs the package datasets: pip install 'posgeom[datasets]'" in refusal(name)
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(__version__="3.6.0"))
    assert "datasets 3.6.0 runs scripts" in refusal(name)
