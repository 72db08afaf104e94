"""Arrow IPC files."""

import gzip
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from posgeom.corpus import documents
from posgeom.corpus.documents import DocumentBatch
from posgeom.options import ReadOptions
from tests.corpus.helpers import read_documents
from tests.corpus.test_readers_parquet import BINARY_TYPES, STRING_TYPES, strings_of

Batches = Callable[..., list[DocumentBatch]]
Refusal = Callable[..., str]
Texts = Callable[..., list[str]]
MAKERS: dict[str, Any] = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}

each_form = pytest.mark.parametrize("form", MAKERS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.arrow"


def write(path: Path, form: str = "stream", rows_at_once: int = 1000, **columns: Any) -> Path:
    table = pa.table(columns)
    with path.open("wb") as file, MAKERS[form](file, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows_at_once)
    return path


@each_form
@pytest.mark.parametrize("kind", STRING_TYPES + BINARY_TYPES, ids=str)
def test_types(path: Path, batches: Batches, form: str, kind: Any) -> None:
    values = pa.array(["a", None, "c"]).cast(kind) if kind in STRING_TYPES else pa.array([b"a", None, b"c"], kind)
    (batch,) = batches(write(path, form, n=[1, 2, 3], sentence=values))
    assert (batch.texts, batch.column, batch.first_row) == (["a", "", "c"], "sentence", 1)


@each_form
def test_record_batches_of_any_size(path: Path, batches: Batches, form: str) -> None:
    lines = [f"line {i}" for i in range(100)]
    for rows_at_once in (1, 7, 1000):
        found = batches(write(path, form, rows_at_once, text=lines, g=list(range(100))), batch_size=30, fold_by="g")
        assert [text for batch in found for text in batch.texts] == lines
        assert len(found) == 4
        assert max(len(batch.texts) for batch in found) <= 30
        assert [batch.first_row for batch in found] == [1 + lines.index(batch.texts[0]) for batch in found]
        assert [group for batch in found for group in batch.groups or []] == [str(i) for i in range(100)]


@each_form
def test_known_by_its_first_bytes(tmp_path: Path, texts: Texts, form: str) -> None:
    assert texts(write(tmp_path / "a.data", form, text=["a"])) == ["a"]


def test_column_rules_are_those_of_parquet(path: Path, refusal: Refusal) -> None:
    write(path, a=["x"], b=["y"], many=[["x"]])
    assert "text columns 'a', 'b'" in refusal(path)
    assert "column 'many' holds 'list<item: string>': expected strings" in refusal(path, column="many")
    assert "no column 'z'" in refusal(path, column="z")
    assert "expected one value a row" in refusal(path, column="a", fold_by="many")
    assert "no text column among 'n'" in refusal(write(path, n=[1]))


def test_invalid_utf8(path: Path, refusal: Refusal, texts: Texts) -> None:
    write(path, text=strings_of(b"fine", b"", b"ba\xff"))
    assert "a.arrow', row 3: invalid UTF-8 at byte offset 2" in refusal(path)
    assert texts(path, utf8_errors="replace") == ["fine", "", "ba\ufffd"]


def test_documents_too_long(path: Path, refusal: Refusal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 10)
    assert "row 2: a document longer than 10 bytes" in refusal(write(path, text=["x" * 10, "x" * 11]))


def test_long_documents_make_small_batches(path: Path, batches: Batches, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_BATCH_CHARACTERS", 1000)
    found = batches(write(path, text=[f"{i}" * 400 for i in range(7)]))
    assert [len(batch.texts) for batch in found] == [2, 2, 2, 1]


@each_form
@pytest.mark.parametrize("keep", [0, 4, 100, 0.5])
def test_truncated_file_is_named(path: Path, refusal: Refusal, form: str, keep: float) -> None:
    content = write(path, form, text=["abc" * 1000]).read_bytes()
    path.write_bytes(content[: int(keep if keep != 0.5 else len(content) / 2)])
    assert "a.arrow': truncated, corrupt or not Arrow (" in refusal(path)


def test_offsets_outside_the_data_are_refused(path: Path, refusal: Refusal) -> None:
    content = write(path, text=["hello", "w" * 40, "end"]).read_bytes()
    offsets = b"".join(n.to_bytes(4, "little") for n in (0, 5, 45, 48))
    assert content.count(offsets) == 1
    path.write_bytes(content.replace(offsets[8:], (10_000_000).to_bytes(4, "little") + offsets[12:]))
    assert "truncated, corrupt or not Arrow" in refusal(path)


def test_no_rows(path: Path, texts: Texts) -> None:
    assert texts(write(path, text=pa.array([], pa.string()))) == []


def test_compressed_and_piped_arrow_is_refused(tmp_path: Path, path: Path, refusal: Refusal) -> None:
    content = write(path, text=["a"]).read_bytes()
    (tmp_path / "a.arrow.gz").write_bytes(gzip.compress(content))
    assert "Arrow inside gzip: expected the Arrow file itself" in refusal(tmp_path / "a.arrow.gz")
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(content))
    writer.start()
    assert "Arrow from a pipe: expected a file" in refusal(tmp_path / "pipe")
    writer.join()


@each_form
def test_progress_ends_at_the_size(path: Path, form: str) -> None:
    write(path, form, text=[f"line {i}" for i in range(5000)])
    calls: list[int] = []
    for _ in read_documents([path], ReadOptions(), on_progress=calls.append):
        pass
    assert calls == sorted(calls)
    assert calls[-1] == path.stat().st_size
