"""Tokenizer engines, null corpora and URLs on a cluster; its tasks run here where a test changes what they use."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from posgeom.counts.counting import count
from posgeom.errors import CorpusError, CountsError
from posgeom.tokenize.engines import choice
from posgeom.tokenize.tokenizer_files import FastTokenizer
from tests.counts.cluster.helpers import Count, assert_identical, words
from tests.tokenize.engines.helpers import make
from tests.tokenize.engines.test_choice import ODD, Liar


def test_null_corpora_are_the_local_engines(on_cluster: Count, corpus: Path) -> None:
    settings: dict[str, Any] = {"tokenizer": make("bert"), "n_positions": 12, "null_replicates": 2, "seed": 4}
    whole = count(corpus, **settings)
    found = on_cluster(corpus, **settings, partition_size=4000)
    assert_identical(found, whole)
    assert found.checksum == whole.checksum
    assert len(found.null) == 2
    assert found.engines == whole.engines


def test_a_wrong_engine_throws_all_partitions_away(
    in_process: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(choice._ENGINES, "nanotoken", lambda _, reference: Liar(reference, "ids"))
    lines = words(400).splitlines()
    lines[300] = f"word {ODD}"
    (tmp_path / "a.txt").write_text("\n".join(lines))
    settings: dict[str, Any] = {"tokenizer": make("bert"), "n_positions": 12, "options": None}
    expected = count(tmp_path / "a.txt", **settings, tokenizer_engine="reference")
    run = {"engine": "dask", "run_dir": tmp_path / "run", "partition_size": 300}
    # Only the partition with the odd line notices, and it is not the first.
    monkeypatch.setattr("posgeom.counts.tallying._CHECKED_AT_FIRST", 10**6)
    found = count(tmp_path / "a.txt", **settings, **run)  # type: ignore[arg-type]
    assert found.checksum == expected.checksum
    assert found.engines == expected.engines
    [note] = found.engine_notes
    assert "liar 1 differs from tokenizers" in note
    assert "bytes" in note
    assert note.endswith("; counted again")
    again = count(tmp_path / "a.txt", **settings, **run)  # type: ignore[arg-type]
    assert again.engine_notes == found.engine_notes
    assert again.checksum == expected.checksum


def test_workers_need_the_same_engine(in_process: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text(words(50))
    from_definition = FastTokenizer.from_definition

    def without_the_extra(definition: str, name: str, engine: str) -> Any:
        return from_definition(definition, name, "chunks")

    monkeypatch.setattr(FastTokenizer, "from_definition", without_the_extra)
    with pytest.raises(
        CountsError, match=r"has tokenizer engine chunks, .*, this client nanotoken .*: install the same"
    ):
        count(tmp_path / "a.txt", make("bert"), engine="dask", run_dir=tmp_path / "run")


@pytest.fixture
def bucket(s3: Any, tmp_path: Path) -> Any:
    lines = words(600).splitlines()
    text = "\n".join(lines).encode()
    s3.put_object(Bucket="corpus", Key="a/lines.txt", Body=text)
    pq.write_table(pa.table({"n": range(len(lines)), "body": lines}), tmp_path / "t.parquet", row_group_size=50)
    s3.put_object(Bucket="corpus", Key="a/table.parquet", Body=(tmp_path / "t.parquet").read_bytes())
    pq.write_table(pa.table({"body": lines[::-1]}), tmp_path / "other.parquet", row_group_size=50)
    return s3


@pytest.mark.parametrize("key", ["lines.txt", "table.parquet"])
def test_files_in_s3_are_divided_too(
    in_process: None, bucket: Any, fresh_filesystem: Callable[[], None], tmp_path: Path, key: str
) -> None:
    fresh_filesystem()
    url = f"s3://corpus/a/{key}"
    settings: dict[str, Any] = {"tokenizer": "whitespace", "n_positions": 8}
    run: dict[str, Any] = {"engine": "dask", "run_dir": tmp_path / "run", "partition_size": 2000}
    found = count(url, **settings, **run)
    assert_identical(found, count(url, **settings))
    partials = list((tmp_path / "run" / "partials").iterdir())
    assert len(partials) > 4
    before = {p: p.stat().st_mtime_ns for p in partials}
    assert_identical(count(url, **settings, **run), found)
    assert {p: p.stat().st_mtime_ns for p in partials} == before
    assert "test-secret" not in (tmp_path / "run" / "manifest.json").read_text()
    body = (tmp_path / "other.parquet").read_bytes() if key.endswith("parquet") else b"other\n" * 700
    bucket.put_object(Bucket="corpus", Key=f"a/{key}", Body=body)
    with pytest.raises(CountsError, match="holds counts of another corpus"):
        count(url, **settings, **run)


def test_partial_counts_in_s3(
    in_process: None, bucket: Any, fresh_filesystem: Callable[[], None], tmp_path: Path
) -> None:
    fresh_filesystem()
    run: dict[str, Any] = {"engine": "dask", "run_dir": "s3://corpus/run", "partition_size": 4000}
    found = count("s3://corpus/a/lines.txt", n_positions=8, **run)
    assert_identical(found, count("s3://corpus/a/lines.txt", n_positions=8))
    listed = bucket.list_objects_v2(Bucket="corpus", Prefix="run/")["Contents"]
    assert len([entry for entry in listed if "partials/" in entry["Key"]]) > 1


def test_a_dataset_cannot_be_divided(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "train.jsonl").write_text('{"text": "a b"}\n')
    with pytest.raises(CorpusError, match="cannot be divided or read again"):
        count(f"hf:{tmp_path / 'd'}", engine="dask", run_dir=tmp_path / "run")
