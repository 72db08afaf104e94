"""Sources on the web, in memory and behind ``file://``."""

import base64
import gzip
import io
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import posgeom
from posgeom.corpus import filesystems, remote
from posgeom.corpus.sources import resolve_sources, total_bytes
from posgeom.options import ReadOptions
from tests.corpus.helpers import read_documents
from tests.corpus.web import Page, Server, running

Refusal = Callable[..., str]
Texts = Callable[..., list[str]]

LINES = [f"line {i} of {i * 7919 % 1_000_003}" for i in range(20_000)]
CONTENT = "\n".join(LINES).encode()


def parquet() -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table({"text": LINES}), buffer, row_group_size=3000)
    return buffer.getvalue()


@pytest.fixture
def web() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.mark.parametrize("ranges", [True, False])
def test_text_is_read_in_one_request(web: Server, texts: Texts, ranges: bool) -> None:
    web.pages["/a.txt"] = Page(CONTENT, ranges=ranges)
    assert texts(f"{web.url}/a.txt") == LINES
    assert [entry for entry in web.log if entry.startswith("GET")] == ["GET /a.txt"]
    (source,) = resolve_sources([f"{web.url}/a.txt"], ReadOptions())
    assert total_bytes([source]) == len(CONTENT)
    assert source.suffix == ".txt"


def test_compressed_text(web: Server, texts: Texts) -> None:
    packed = gzip.compress(CONTENT)
    web.pages["/a.txt.gz"] = Page(packed)
    web.pages["/encoded.txt.gz"] = Page(packed, headers={"Content-Encoding": "gzip"})
    web.pages["/encoded.txt"] = Page(packed, headers={"Content-Encoding": "gzip"})
    for name in web.pages:
        assert texts(web.url + name) == LINES


def test_extension_before_a_query(web: Server, texts: Texts) -> None:
    web.pages["/a.csv.gz?download=true"] = Page(gzip.compress(b"n,text\n1,a b\n"))
    assert texts(f"{web.url}/a.csv.gz?download=true") == ["a b"]


def test_parquet_by_ranges(web: Server, texts: Texts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_BLOCK_BYTES", 32 * 1024)
    web.pages["/a.parquet"] = Page(parquet(), ranges=True)
    assert texts(f"{web.url}/a.parquet") == LINES
    assert any("bytes=" in entry for entry in web.log)


def test_parquet_without_ranges_is_refused(web: Server, refusal: Refusal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_BLOCK_BYTES", 32 * 1024)
    web.pages["/a.parquet"] = Page(parquet())
    assert "the server sends whole files only: this format is read from its end" in refusal(f"{web.url}/a.parquet")
    web.pages["/b.parquet"] = Page(parquet(), headers={"Accept-Ranges": "none"})
    assert "the server sends whole files only" in refusal(f"{web.url}/b.parquet")


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (Page(status=404), "not found (HTTP 404)"),
        (Page(status=403), "permission denied (HTTP 403)"),
        (Page(status=401), "permission denied (HTTP 401)"),
        (Page(status=429), "the server wants fewer requests (HTTP 429)"),
        (Page(status=503), "the server failed (HTTP 503)"),
        (Page(CONTENT, cut=1000), "the connection ended early"),
        (Page(gzip.compress(CONTENT), cut=10), "the connection ended early"),
        (Page(b"<html>", headers={"Content-Type": "text/html; charset=utf-8"}), "the server sends a web page"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_one_line(web: Server, refusal: Refusal, page: Page, expected: str) -> None:
    web.pages["/a.txt"] = page
    message = refusal(f"{web.url}/a.txt")
    assert message.startswith(f"'{web.url}/a.txt': ")
    assert expected in message


def test_server_that_does_not_answer(web: Server, refusal: Refusal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filesystems, "_READ_SECONDS", 0.2)
    fsspec.filesystem("http").clear_instance_cache()
    web.pages["/a.txt"] = Page(CONTENT, delay=2)
    start = time.monotonic()
    assert "no answer in time: check the address" in refusal(f"{web.url}/a.txt")
    assert time.monotonic() - start < 20


def test_nobody_listens(refusal: Refusal) -> None:
    assert "'http://127.0.0.1:9/a.txt': cannot connect: check the address" in refusal("http://127.0.0.1:9/a.txt")


def test_password_is_used_and_never_shown(web: Server, texts: Texts, refusal: Refusal) -> None:
    secret = base64.b64encode(b"user:hunter2").decode()
    web.pages["/a.txt"] = Page(b"one two\n", password=secret)
    url = web.url.replace("http://", "http://user:hunter2@")
    assert texts(f"{url}/a.txt") == ["one two"]
    counts = posgeom.count(f"{url}/a.txt", n_positions=4)
    assert counts.sources == (f"{url.replace('user:hunter2', '***')}/a.txt",)
    (source,) = resolve_sources([f"{url}/a.txt"], ReadOptions())
    assert "hunter2" not in repr(source)
    web.pages["/b.txt"] = Page(b"bad\xff\n", password=secret)
    web.pages["/c.txt"] = Page(b"one\n" * 9, password=secret, cut=3)
    for name in ("b.txt", "c.txt", "missing.txt"):
        assert "hunter2" not in refusal(f"{url}/{name}")
    assert "permission denied" in refusal(url.replace("hunter2", "other") + "/a.txt")


def test_signature_is_never_shown(web: Server, refusal: Refusal) -> None:
    web.pages["/a.txt?X-Amz-Signature=hunter2"] = Page(status=403)
    message = refusal(f"{web.url}/a.txt?X-Amz-Signature=hunter2")
    assert "a.txt?X-Amz-Signature=***': permission denied" in message


def test_file_that_changes(web: Server) -> None:
    web.pages["/a.parquet"] = Page(parquet(), ranges=True, headers={"ETag": '"1"'})
    reading = read_documents([f"{web.url}/a.parquet"], ReadOptions(batch_size=10))
    next(reading)
    web.pages["/a.parquet"].headers["ETag"] = '"2"'
    with pytest.raises(posgeom.CorpusError, match=r"a\.parquet': it changed while it was read"):
        list(reading)


def test_memory(texts: Texts, refusal: Refusal) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe("/d/b.txt", b"two\n")
    memory.pipe("/d/a.txt.gz", gzip.compress(b"one\n"))
    try:
        assert texts("memory://d") == texts("memory://d/*") == ["one", "two"]
        assert "'memory://d/c.txt': not found" in refusal("memory://d/c.txt")
    finally:
        memory.rm("/d", recursive=True)


def test_file_urls_are_local_names(tmp_path: Path, texts: Texts, refusal: Refusal) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    assert texts(f"file://{tmp_path}/a.txt", tmp_path / "a.txt") == ["one"]
    assert texts(f"file://{tmp_path}/*.txt") == ["one"]
    assert "no such file or directory" in refusal(f"file://{tmp_path}/b.txt")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("foo://bar/a.txt", "unknown scheme 'foo': expected s3, gs, hf, http"),
        ("S3://bar/a.txt", "expected the scheme in lower case, s3"),
        ("gs://bucket/a.txt", "not installed: expected the package gcsfs; pip install gcsfs"),
        ("abfs://c@account/a.txt", "not installed: expected the package adlfs; pip install adlfs"),
        ("sftp://host/a.txt", "not installed: expected the package paramiko"),
    ],
)
def test_unknown_and_missing_filesystems(refusal: Refusal, spec: str, expected: str) -> None:
    assert expected in refusal(spec)


@pytest.mark.parametrize(("spec", "package"), [("s3://b/a.txt", "s3fs"), ("https://h/a.txt", "aiohttp")])
def test_missing_package_of_the_extra(
    refusal: Refusal, monkeypatch: pytest.MonkeyPatch, spec: str, package: str
) -> None:
    def missing(*args: object, **kwargs: object) -> object:
        raise ImportError(f"Install {package} to access it")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    assert f"expected the package {package}; pip install 'posgeom[datasets]'" in refusal(spec)


def test_path_object_has_lost_a_slash(refusal: Refusal) -> None:
    assert "write a URL as a string, not a Path" in refusal(Path("s3://bucket/a.txt"))
    assert os.fspath(Path("s3://bucket/a.txt")) == "s3:/bucket/a.txt"
