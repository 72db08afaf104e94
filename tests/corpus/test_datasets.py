"""Names of datasets, and what `save_to_disk` wrote."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest

from posgeom.corpus.datasets import DatasetName, choose_split, parse_dataset, saved_shards
from posgeom.corpus.sources import resolve_sources
from posgeom.errors import CorpusError
from posgeom.options import ReadOptions

Refusal = Callable[..., str]
Texts = Callable[..., list[str]]

LINES = [f"line {i}" for i in range(2500)]


@pytest.fixture(autouse=True)
def _in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.fixture
def saved() -> None:
    """Save a Dataset of three files, with another file beside them, and a DatasetDict."""
    datasets.disable_progress_bars()
    whole = datasets.Dataset.from_dict({"text": LINES, "n": list(range(len(LINES)))})
    whole.save_to_disk("one", num_shards=3)
    Path("one/cache-0123.arrow").write_bytes(Path("one/data-00000-of-00003.arrow").read_bytes())
    datasets.DatasetDict({"train": whole, "test": whole.select([7, 8])}).save_to_disk("dict")
    datasets.DatasetDict({"a": whole.select([1]), "b": whole.select([2])}).save_to_disk("ab")


@pytest.mark.parametrize("below", [".", "x/..", ".."])
def test_a_directory_without_a_name_of_its_own(
    texts: Texts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    Path("x").mkdir()
    Path("train.jsonl").write_text('{"text": "a"}\n')
    if below == "..":
        monkeypatch.chdir(tmp_path / "x")
    assert texts(f"hf:{below}") == ["a"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hf:imdb", DatasetName("imdb")),
        ("hf:stanfordnlp/imdb", DatasetName("stanfordnlp/imdb")),
        ("hf:nyu-mll/glue:sst2", DatasetName("nyu-mll/glue", "sst2")),
        ("hf:nyu-mll/glue:sst2:test", DatasetName("nyu-mll/glue", "sst2", "test")),
        ("hf:imdb::test", DatasetName("imdb", None, "test")),
        ("hf:here:c:s", DatasetName("here", "c", "s")),
        ("hf:with:colon", DatasetName("with:colon")),
        ("hf:with:colon:c:s", DatasetName("with:colon", "c", "s")),
    ],
)
def test_names(name: str, expected: DatasetName) -> None:
    Path("here").mkdir()
    Path("with:colon").mkdir()
    assert parse_dataset(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hf:", "no name: expected hf:NAME"),
        ("hf:/no/such", "no such directory"),
        ("hf:./no", "no such directory"),
        ("hf:a/b/c", "no such directory"),
        ("hf:a:b:c:d", "3 parts after the name"),
        (r"hf:C:\data", "no such directory"),
        ("hf:C:/data:train", "no such directory"),
        ("hf:s3://bucket/x", "name the URL alone"),
        ("hf:bad\x1bname", "no such directory"),
        ("hf:" + "x" * 5000 + "/", "file name too long"),
    ],
)
def test_names_that_are_none(refusal: Refusal, name: str, expected: str) -> None:
    assert expected in refusal(name)


def test_file_called_like_a_dataset_wins(texts: Texts) -> None:
    Path("hf:a.txt").write_text("one\n")
    assert texts("hf:a.txt") == ["one"]


def test_choice_of_a_split() -> None:
    assert choose_split(["test", "train"], None, "d") == "train"
    assert choose_split(["test"], None, "d") == "test"
    assert choose_split(["test", "train"], "test", "d") == "test"
    with pytest.raises(CorpusError, match="'d': several splits, 'a', 'b': expected one"):
        choose_split(["a", "b"], None, "d")
    with pytest.raises(CorpusError, match="'d': no split: expected one"):
        choose_split([], None, "d")
    with pytest.raises(CorpusError, match="'d': no split 'c': the splits are 'a', 'b'"):
        choose_split(["a", "b"], "c", "d")


@pytest.mark.usefixtures("saved")
def test_saved_datasets_are_their_files(texts: Texts) -> None:
    for name in ("one", "hf:one", "./one/"):
        sources = resolve_sources([name], ReadOptions())
        assert [Path(s.name).name for s in sources] == [f"data-0000{i}-of-00003.arrow" for i in range(3)]
        assert texts(name) == LINES
    assert texts("hf:dict") == texts("dict") == texts("hf:dict:train") == LINES
    assert texts("hf:dict:test") == texts("hf:dict::test") == texts("dict/test") == [LINES[7], LINES[8]]
    assert texts("hf:ab:b") == [LINES[2]]
    assert len(resolve_sources(["one", "hf:one"], ReadOptions())) == 3


@pytest.mark.usefixtures("saved")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hf:one:test", "'hf:one:test': a saved Dataset without splits: leave 'test' out"),
        ("hf:dict:nope", "no split 'nope': the splits are 'train', 'test'"),
        ("hf:dict:a:train", "a saved dataset has no configs"),
        ("ab", "'ab': several splits, 'a', 'b': expected one; choose it with hf:NAME:SPLIT"),
    ],
)
def test_saved_datasets_refused(refusal: Refusal, name: str, expected: str) -> None:
    assert expected in refusal(name)


@pytest.mark.usefixtures("saved")
def test_saved_datasets_in_a_bucket(s3: Any, texts: Texts, refusal: Refusal) -> None:
    for directory in ("one", "dict"):
        for path in Path(directory).rglob("*.*"):
            s3.upload_file(str(path), "corpus", str(path))
    assert texts("s3://corpus/one") == LINES
    assert texts("s3://corpus/dict/") == LINES
    assert texts("s3://corpus/dict/test") == [LINES[7], LINES[8]]
    s3.delete_object(Bucket="corpus", Key="one/data-00001-of-00003.arrow")
    assert "'s3://corpus/one': no 'data-00001-of-00003.arrow' in it" in refusal("s3://corpus/one")


@pytest.mark.usefixtures("saved")
@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        ("one/state.json", "{", "damaged state.json"),
        ("one/state.json", "[]", "damaged state.json"),
        ("one/state.json", '{"_data_files": 3}', "damaged state.json"),
        ("one/state.json", '{"_data_files": [{}]}', "names 'None' as one of its files"),
        ("one/state.json", '{"_data_files": [{"filename": "../x"}]}', "names '../x' as one of its files"),
        ("one/state.json", '{"_data_files": [{"filename": "x.arrow"}]}', "'one/x.arrow': no such file"),
        ("dict/dataset_dict.json", '{"splits": ["train", "/etc"]}', "names '/etc' as one of its files"),
        ("dict/dataset_dict.json", '{"splits": ["gone"]}', "split 'gone' is missing"),
    ],
)
def test_damaged_saved_datasets(refusal: Refusal, file: str, content: str, expected: str) -> None:
    Path(file).write_text(content)
    assert expected in refusal(Path(file).parts[0])


def test_other_directories_are_not_saved_datasets() -> None:
    assert saved_shards(lambda name: None, None, "d") is None
    assert saved_shards({"state.json": json.dumps({}).encode()}.get, None, "d") is None
