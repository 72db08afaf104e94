"""Parquet."""

import base64
import gzip
import io
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
import pytest

from posgeom.corpus import documents
from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.readers.parquet import row_group_bytes
from posgeom.corpus.sources import resolve_sources
from posgeom.options import ReadOptions
from tests.corpus.helpers import read_documents

Batches = Callable[..., list[DocumentBatch]]
Refusal = Callable[..., str]
Texts = Callable[..., list[str]]

STRING_TYPES = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
BINARY_TYPES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(1)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.parquet"


def write(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def strings_of(*values: bytes) -> Any:
    """Build a string array without any check of its UTF-8."""
    offsets = [0]
    for value in values:
        offsets.append(offsets[-1] + len(value))
    buffers = [pa.py_buffer(struct.pack(f"<{len(offsets)}i", *offsets)), pa.py_buffer(b"".join(values))]
    return pa.StringArray.from_buffers(len(values), *buffers)


@pytest.mark.parametrize("kind", STRING_TYPES, ids=str)
def test_string_types(path: Path, batches: Batches, kind: Any) -> None:
    (batch,) = batches(write(path, n=[1, 2, 3], sentence=pa.array(["a", None, "é"]).cast(kind)))
    assert (batch.texts, batch.column, batch.first_row) == (["a", "", "é"], "sentence", 1)


@pytest.mark.parametrize("kind", BINARY_TYPES, ids=str)
def test_binary_types(path: Path, texts: Texts, kind: Any) -> None:
    assert texts(write(path, n=[1, 2, 3], b=pa.array([b"a", None, b"c"], kind))) == ["a", "", "c"]


def test_strings_come_before_binaries(path: Path, texts: Texts) -> None:
    write(path, image=pa.array([b"\xff"]), caption=["a"])
    assert texts(path) == ["a"]


def test_a_binary_column_is_found_beside_the_group_or_by_its_name(path: Path, batches: Batches) -> None:
    write(path, body=pa.array([b"a"]), author=["x"])
    assert batches(path, fold_by="author")[0].column == "body"
    write(path, text=pa.array([b"a"]), title=["x"])
    assert batches(path)[0].texts == ["a"]


def test_column_rules(path: Path, batches: Batches, refusal: Refusal) -> None:
    write(path, title=["x"], text=["a"], body=["b"], n=[1])
    assert batches(path)[0].column == "text"
    assert batches(path, column="body")[0].texts == ["b"]
    assert "the columns are 'title', 'text', 'body', 'n'" in refusal(path, column="z")
    assert "column 'n' holds 'int64': expected strings" in refusal(path, column="n")
    assert "text columns 'title', 'body'" in refusal(write(path, title=["x"], body=["b"]))
    assert batches(path, fold_by="title")[0].column == "body"
    assert "no text column among 'n'" in refusal(write(path, n=[1]))


def test_name_with_a_dot(path: Path, texts: Texts) -> None:
    write(path, **{"meta.text": ["a"], "meta": pa.array([{"text": 1}])})
    assert texts(path) == ["a"]


def test_repeated_column_name(path: Path, refusal: Refusal) -> None:
    pq.write_table(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"]), path)
    assert "several columns named 'text'" in refusal(path)


def test_groups(path: Path, groups: Texts, refusal: Refusal) -> None:
    write(
        path,
        text=["a", "b"],
        s=pa.array(["u", "v"]).dictionary_encode(),
        i=[1, 2],
        f=[0.5, 1.5],
        d=[date(2024, 1, 2), date(2024, 1, 3)],
        b=[True, False],
        none=["u", None],
        many=[[1], [2]],
    )
    assert groups(path, fold_by="s", column="text") == ["u", "v"]
    assert groups(path, fold_by="i", column="text", batch_size=1) == ["1", "2"]
    assert groups(path, fold_by="f", column="text") == ["0.5", "1.5"]
    assert groups(path, fold_by="d", column="text") == ["2024-01-02", "2024-01-03"]
    assert groups(path, fold_by="b", column="text") == ["True", "False"]
    assert groups(path, fold_by="column:text", column="text") == ["a", "b"]
    assert "row 2: column 'none' is empty" in refusal(path, fold_by="none", column="text")
    assert "expected one value a row" in refusal(path, fold_by="many", column="text")
    assert "choose one with --fold-by NAME" in refusal(path, fold_by="z", column="text")


def test_invalid_utf8_in_a_string_column(path: Path, refusal: Refusal, texts: Texts) -> None:
    write(path, text=strings_of(b"fine", b"", b"ba\xff"))
    assert "a.parquet', row 3: invalid UTF-8 at byte offset 2" in refusal(path)
    assert "row 3: invalid UTF-8" in refusal(path, batch_size=2)
    assert texts(path, utf8_errors="replace") == ["fine", "", "ba\ufffd"]


def test_invalid_utf8_in_binary_and_group_columns(path: Path, refusal: Refusal, groups: Texts) -> None:
    assert "row 2: invalid UTF-8" in refusal(write(path, b=pa.array([b"a", b"\xff"])))
    write(path, text=["a", "b"], g=strings_of(b"u", b"\xff"))
    assert "row 2: invalid UTF-8" in refusal(path, column="text", fold_by="g")
    assert groups(path, column="text", fold_by="g", utf8_errors="replace") == ["u", "\ufffd"]


def test_row_groups_and_batches(path: Path, batches: Batches) -> None:
    table = pa.table({"text": [str(i) for i in range(10)]})
    pq.write_table(table, path, row_group_size=4)
    found = batches(path, batch_size=3)
    assert [text for batch in found for text in batch.texts] == [str(i) for i in range(10)]
    assert max(len(batch.texts) for batch in found) == 3
    assert [batch.first_row for batch in found] == [1, 4, 7, 10]


def test_long_documents_make_small_batches(path: Path, batches: Batches, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_BATCH_CHARACTERS", 1000)
    write(path, text=[f"{i}" * 400 for i in range(7)])
    found = batches(path)
    assert [text for batch in found for text in batch.texts] == [f"{i}" * 400 for i in range(7)]
    assert max(sum(map(len, batch.texts)) for batch in found) <= 1000


def test_document_beyond_the_limit(path: Path, refusal: Refusal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 10)
    assert "row 2: a document longer than 10 bytes" in refusal(write(path, text=["x" * 10, "x" * 11]))


def test_no_rows(path: Path, texts: Texts, refusal: Refusal) -> None:
    write(path, text=pa.array([], pa.string()))
    assert texts(path) == []
    assert "no column 'z'" in refusal(path, column="z")


@pytest.mark.parametrize("keep", ["nothing", "4 bytes", "half", "all but 1"])
def test_truncated_file_is_named(path: Path, refusal: Refusal, keep: str) -> None:
    content = write(path, text=["abc" * 100]).read_bytes()
    n = {"nothing": 0, "4 bytes": 4, "half": len(content) // 2}.get(keep, len(content) - 1)
    path.write_bytes(content[:n])
    message = refusal(path)
    assert "a.parquet': truncated, corrupt or not Parquet (" in message


def test_corrupt_page_is_named(path: Path, refusal: Refusal) -> None:
    table = pa.table({"text": [f"word {i * 7919 % 10007}" for i in range(5000)]})
    pq.write_table(table, path, write_page_checksum=True, use_dictionary=False, compression="none")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert "a.parquet': truncated, corrupt" in refusal(path)


def test_known_by_its_first_bytes(tmp_path: Path, texts: Texts) -> None:
    assert texts(write(tmp_path / "a.data", text=["a"])) == ["a"]
    assert texts(write(tmp_path / "a.txt", text=["a"])) == ["a"]
    assert texts(write(tmp_path / "b.pq", text=["a"])) == ["a"]


def test_other_content_under_a_parquet_name(path: Path, refusal: Refusal) -> None:
    path.write_text("just text\n")
    assert "truncated, corrupt or not Parquet" in refusal(path)


def test_parquet_read_as_text(path: Path, refusal: Refusal) -> None:
    assert "looks binary" in refusal(write(path, text=["a"]), format="text")


def test_compressed_parquet_is_refused(tmp_path: Path, path: Path, refusal: Refusal) -> None:
    compressed = tmp_path / "a.parquet.gz"
    compressed.write_bytes(gzip.compress(write(path, text=["a"]).read_bytes()))
    assert "Parquet inside gzip: expected the Parquet file itself; decompress it first" in refusal(compressed)


def test_parquet_from_standard_input_and_pipe_is_refused(
    tmp_path: Path, path: Path, refusal: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = write(path, text=["a"]).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert "Parquet from a pipe: expected a file" in refusal("-")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(content))
    writer.start()
    assert "Parquet from a pipe: expected a file" in refusal(pipe)
    writer.join()


def test_progress_follows_the_rows(path: Path) -> None:
    table = pa.table({"text": [f"{i * 7919 % 1_000_003:040d}" for i in range(100_000)]})
    pq.write_table(table, path)
    calls: list[int] = []
    for _ in read_documents([path], ReadOptions(), on_progress=calls.append):
        pass
    assert calls == sorted(calls)
    assert len(set(calls)) > 10
    assert calls[-1] == path.stat().st_size


def encrypted(path: Path, column: str, *, plain_footer: bool) -> Path:
    class Keys(pe.KmsClient):
        def __init__(self, _: object) -> None:
            super().__init__()

        def wrap_key(self, key: bytes, _: str) -> bytes:
            return base64.b64encode(key)

        def unwrap_key(self, key: bytes, _: str) -> bytes:
            return base64.b64decode(key)

    table = pa.table({"text": ["a b", "c"] * 5, "secret": ["x", "y"] * 5})
    settings = pe.EncryptionConfiguration(
        footer_key="f", column_keys={"c": [column]}, plaintext_footer=plain_footer, double_wrapping=False
    )
    factory = pe.CryptoFactory(Keys)
    properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), settings)
    with pq.ParquetWriter(path, table.schema, encryption_properties=properties) as writer:
        writer.write_table(table, row_group_size=5)
    return path


def test_an_encrypted_column_is_refused_and_a_plain_one_beside_it_read(
    path: Path, texts: Texts, refusal: Refusal
) -> None:
    # In a process of its own at first: to look at an encrypted chunk would end it.
    encrypted(path, "secret", plain_footer=True)
    code = (
        "import sys; from tests.corpus.helpers import read_documents; from posgeom.options import ReadOptions;"
        "print(sum(len(b.texts) for b in read_documents([sys.argv[1]], ReadOptions(column='text'))))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, env=dict(os.environ))
    assert (done.returncode, done.stdout) == (0, "10\n"), done.stderr
    assert texts(path, column="text") == ["a b", "c"] * 5
    assert len(row_group_bytes(resolve_sources([path], ReadOptions())[0], ReadOptions(column="text"))) == 2
    assert "encrypted, the whole file or the column to be read" in refusal(path, column="secret")
    assert "encrypted" in refusal(path, column="text", fold_by="secret")
    assert "encrypted" in refusal(encrypted(path, "text", plain_footer=True))
    assert "starts like an encrypted Parquet file" in refusal(encrypted(path, "secret", plain_footer=False))


def test_a_list_column_says_how_to_join_it(path: Path, refusal: Refusal) -> None:
    pq.write_table(pa.table({"paragraphs": [["a", "b"]]}), path)
    message = refusal(path, column="paragraphs")
    assert "column 'paragraphs' holds 'list<element: string>': expected strings" in message
    assert "join each list into one string first" in message


def test_a_column_name_that_is_no_utf8(path: Path, refusal: Refusal) -> None:
    pq.write_table(pa.table({"paragraphs": ["a"]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"paragraphs", b"para\xffaphs"[:10]))
    assert "not Parquet" in refusal(path)


def test_sst2(data_dir: Path, batches: Batches) -> None:
    found = batches(data_dir / "sst2.parquet")
    assert {batch.column for batch in found} == {"sentence"}
    assert sum(len(batch.texts) for batch in found) == 67_349


def test_imdb(data_dir: Path, batches: Batches) -> None:
    found = batches(data_dir / "imdb.parquet", fold_by="label")
    assert {batch.column for batch in found} == {"text"}
    assert sum(len(batch.texts) for batch in found) == 25_000
    assert {group for batch in found for group in batch.groups or []} == {"0", "1"}
