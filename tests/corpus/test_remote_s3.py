"""Sources in S3, spoken with a real server on the loopback: found, read as local files are, refused in one line."""

import bz2
import gzip
import io
import json
import pickle
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import posgeom
from posgeom.corpus import remote
from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.sources import resolve_sources, total_bytes
from posgeom.errors import CorpusError
from posgeom.options import ReadOptions
from tests.corpus.helpers import read_documents
from tests.counts.helpers import check_same_counts

Batches = Callable[..., list[DocumentBatch]]
Refusal = Callable[..., str]
Texts = Callable[..., list[str]]

LINES = [f"line {i} of {i * 7919 % 1_000_003}" for i in range(5000)]


def put(s3: Any, key: str, content: bytes) -> None:
    s3.put_object(Bucket="corpus", Key=key, Body=content)


def parquet(row_group_size: int = 1000) -> bytes:
    buffer = io.BytesIO()
    table = pa.table({"text": LINES, "g": [i % 7 for i in range(len(LINES))], "junk": ["x" * 100 + t for t in LINES]})
    pq.write_table(table, buffer, row_group_size=row_group_size)
    return buffer.getvalue()


FILES: dict[str, bytes] = {
    "a.txt": "\n".join(LINES).encode(),
    "a.txt.gz": gzip.compress("\n".join(LINES).encode()),
    "a.txt.bz2": bz2.compress("\n".join(LINES).encode()),
    "a.txt.zst": bytes(pa.Codec("zstd").compress("\n".join(LINES).encode(), asbytes=True)),
    "a.jsonl": "\n".join(json.dumps({"n": i, "text": line}) for i, line in enumerate(LINES)).encode(),
    "a.csv": ("n,text\n" + "\n".join(f"{i},{line}" for i, line in enumerate(LINES))).encode(),
    "a.parquet": parquet(),
    "a.fasta": b">x\nACGT\n>y\nGG\n",
    "noextension": parquet(),
    "empty.txt": b"",
}


def names(*specs: str, **options: str) -> list[str]:
    return [source.name for source in resolve_sources(specs, ReadOptions(**options))]  # type: ignore[arg-type]


@pytest.fixture
def tree(s3: Any) -> Any:
    for key in (
        "b.txt",
        "a.csv",
        "sub/c.jsonl.gz",
        "sub/D.TXT.zst",
        "sub/e.json",
        "readme.md",
        ".hidden.txt",
        ".git/f.txt",
    ):
        put(s3, key, b"x\n")
    put(s3, "marker/", b"")
    return s3


@pytest.mark.parametrize("name", FILES)
def test_reading_equals_local_reading(s3: Any, tmp_path: Path, batches: Batches, name: str) -> None:
    (tmp_path / name).write_bytes(FILES[name])
    put(s3, f"dir/{name}", FILES[name])
    local = batches(tmp_path / name, batch_size=700)
    there = batches(f"s3://corpus/dir/{name}", batch_size=700)
    assert [(b.texts, b.first_row, b.column) for b in there] == [(b.texts, b.first_row, b.column) for b in local]
    assert {b.source for b in there} <= {f"s3://corpus/dir/{name}"}


def test_group_column_of_remote_parquet(s3: Any, groups: Texts) -> None:
    put(s3, "a.parquet", FILES["a.parquet"])
    assert groups("s3://corpus/a.parquet", fold_by="g", column="text")[:8] == ["0", "1", "2", "3", "4", "5", "6", "0"]


def test_counts_are_those_of_the_local_file(s3: Any, tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(FILES["a.parquet"])
    put(s3, "a.parquet", FILES["a.parquet"])
    local = posgeom.count(tmp_path / "a.parquet", n_positions=8, column="text")
    there = posgeom.count("s3://corpus/a.parquet", n_positions=8, column="text")
    check_same_counts(there, local)
    assert there.sources == ("s3://corpus/a.parquet",)


def test_only_the_columns_needed_are_fetched(s3: Any, texts: Texts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_BLOCK_BYTES", 16 * 1024)
    buffer = io.BytesIO()
    junk = [f"{i * 7919 % 1_000_003:09d}" * 30 for i in range(len(LINES))]
    table = pa.table({"junk": junk, "text": LINES})
    pq.write_table(table, buffer, row_group_size=1000, use_dictionary=False, compression="none")
    put(s3, "a.parquet", buffer.getvalue())
    fetched: list[int] = []
    from s3fs import S3File

    fetch = S3File._fetch_range

    def spy(self: Any, start: int, end: int) -> bytes:
        fetched.append(end - start)
        return bytes(fetch(self, start, end))

    monkeypatch.setattr(S3File, "_fetch_range", spy)
    assert texts("s3://corpus/a.parquet", column="text") == LINES
    assert sum(fetched) < len(buffer.getvalue()) / 2


def test_directory_and_prefix_behave_as_local_ones(tree: Any) -> None:
    expected = [f"s3://corpus/{n}" for n in ("a.csv", "b.txt", "sub/D.TXT.zst", "sub/c.jsonl.gz")]
    assert names("s3://corpus") == names("s3://corpus/") == expected
    assert names("s3://corpus/sub") == names("s3://corpus/sub/") == expected[2:]
    assert "s3://corpus/readme.md" in names("s3://corpus", format="text")
    assert not any("hidden" in n or ".git" in n or "marker" in n for n in names("s3://corpus", format="text"))


def test_patterns_behave_as_local_ones(tree: Any) -> None:
    assert names("s3://corpus/*") == [f"s3://corpus/{n}" for n in ("a.csv", "b.txt", "readme.md")]
    assert names("s3://corpus/**/*.j*") == ["s3://corpus/sub/c.jsonl.gz", "s3://corpus/sub/e.json"]
    assert names("s3://corpus/[ab].*") == ["s3://corpus/a.csv", "s3://corpus/b.txt"]
    assert names("s3://corpus/?.txt") == ["s3://corpus/b.txt"]
    assert names("s3://corpus/.h*") == ["s3://corpus/.hidden.txt"]


def test_literal_key_wins_over_the_pattern(tree: Any) -> None:
    put(tree, "[ab].txt", b"x\n")
    assert names("s3://corpus/[ab].txt") == ["s3://corpus/[ab].txt"]


def test_key_reached_twice_is_read_once(tree: Any) -> None:
    assert names("s3://corpus/*.txt", "s3a://corpus/b.txt", "s3://corpus/b.txt") == ["s3://corpus/b.txt"]


def test_new_files_are_seen_in_the_same_process(tree: Any) -> None:
    assert names("s3://corpus/sub/*.gz") == ["s3://corpus/sub/c.jsonl.gz"]
    put(tree, "sub/d.jsonl.gz", b"x\n")
    assert len(names("s3://corpus/sub/*.gz")) == 2


def test_sizes_and_progress(s3: Any) -> None:
    put(s3, "a.txt", FILES["a.txt"])
    put(s3, "b.parquet", FILES["a.parquet"])
    options = ReadOptions(column=None)
    sources = resolve_sources(["s3://corpus/a.txt"], options)
    assert total_bytes(sources) == len(FILES["a.txt"])
    for key in ("a.txt", "b.parquet"):
        calls: list[int] = []
        options = ReadOptions(batch_size=100, column="text" if key == "b.parquet" else None)
        for _ in read_documents([f"s3://corpus/{key}"], options, on_progress=calls.append):
            pass
        assert calls == sorted(calls)
        assert calls[-1] == total_bytes(resolve_sources([f"s3://corpus/{key}"], options))


def test_archive_in_a_bucket(s3: Any, texts: Texts) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("d/b.txt", "three\n")
        archive.writestr("d/a.txt.gz", gzip.compress(b"one\ntwo\n"))
    put(s3, "x.zip", buffer.getvalue())
    assert texts("zip://d/*::s3://corpus/x.zip") == ["one", "two", "three"]
    assert names("zip://d/*.txt::s3://corpus/x.zip") == ["zip://d/b.txt::s3://corpus/x.zip"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("s3://corpus/missing.txt", "'s3://corpus/missing.txt': not found"),
        ("s3://nobucket/a.txt", "'s3://nobucket/a.txt': not found (HTTP 404)"),
        ("s3://corpus/*.nothing", "no file matches it as a pattern: expected at least one file"),
        ("s3://corpus/only", "no data file in this directory: expected the extensions"),
        ("s3://key:hunter2@corpus/a.txt", "'s3://***@corpus/a.txt': credentials inside a bucket's URL"),
        ("zip://x::s3://corpus/only/a.md", "cannot read ("),
        ("s3://", "cannot read"),
    ],
)
def test_what_cannot_be_found_is_named(s3: Any, refusal: Refusal, spec: str, expected: str) -> None:
    put(s3, "only/a.md", b"x\n")
    message = refusal(spec)
    assert expected in message
    assert "hunter2" not in message


def test_broken_content_is_refused_as_in_local_files(s3: Any, refusal: Refusal) -> None:
    put(s3, "a.txt.gz", FILES["a.txt.gz"][:-20])
    assert "'s3://corpus/a.txt.gz': truncated or corrupt gzip data" in refusal("s3://corpus/a.txt.gz")
    put(s3, "a.parquet", FILES["a.parquet"][:-20])
    assert "'s3://corpus/a.parquet': truncated, corrupt or not Parquet" in refusal("s3://corpus/a.parquet")
    put(s3, "a.txt", b"fine\nba\xff\n")
    assert "'s3://corpus/a.txt', line 2: invalid UTF-8" in refusal("s3://corpus/a.txt")


@pytest.fixture
def strict(s3: Any, s3_endpoint: str) -> Iterator[Any]:
    """The server checks credentials, as Amazon's does."""
    put(s3, "a.txt", b"x\n")
    address, headers = f"{s3_endpoint}/moto-api/reset-auth", {"Content-Type": "text/plain"}
    urlopen(Request(address, b"0", headers)).close()
    yield s3
    urlopen(Request(address, b"inf", headers)).close()


def test_wrong_credentials(strict: Any, refusal: Refusal) -> None:
    message = refusal("s3://corpus/a.txt")
    assert "'s3://corpus/a.txt': permission denied" in message
    assert "AWS_ACCESS_KEY_ID" in message
    assert "permission denied" in refusal("s3://corpus/*.txt")


def test_no_credentials(
    s3: Any, refusal: Refusal, monkeypatch: pytest.MonkeyPatch, fresh_filesystem: Callable[[], None]
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    fresh_filesystem()
    assert "no credentials: set AWS_ACCESS_KEY_ID" in refusal("s3://corpus/a.txt")


def test_nobody_listens(
    s3: Any, refusal: Refusal, monkeypatch: pytest.MonkeyPatch, fresh_filesystem: Callable[[], None]
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    fresh_filesystem()
    start = time.monotonic()
    assert "cannot connect: check AWS_ENDPOINT_URL and the network" in refusal("s3://corpus/a.txt")
    assert time.monotonic() - start < 30


def test_settings_of_fsspec_are_kept(
    s3: Any, s3_endpoint: str, texts: Texts, monkeypatch: pytest.MonkeyPatch, fresh_filesystem: Callable[[], None]
) -> None:
    from fsspec.config import conf

    put(s3, "a.txt", b"x\n")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setitem(conf, "s3", {"endpoint_url": s3_endpoint, "config_kwargs": {"read_timeout": 3}})
    fresh_filesystem()
    assert texts("s3://corpus/a.txt") == ["x"]


@pytest.mark.parametrize("change", [b"other\n" * 3000, b"short\n", b"long\n" * 30_000])
def test_object_replaced_while_it_is_read(s3: Any, monkeypatch: pytest.MonkeyPatch, change: bytes) -> None:
    monkeypatch.setattr(remote, "_BLOCK_BYTES", 64 * 1024)
    put(s3, "a.txt", FILES["a.txt"])
    reading = read_documents(["s3://corpus/a.txt"], ReadOptions(batch_size=10))
    next(reading)
    put(s3, "a.txt", change)
    with pytest.raises(CorpusError, match=r"'s3://corpus/a.txt': it changed while it was read"):
        list(reading)


def test_object_replaced_between_listing_and_reading(s3: Any) -> None:
    put(s3, "a.txt", b"one\n")
    options = ReadOptions()
    (source,) = resolve_sources(["s3://corpus/a.txt"], options)
    put(s3, "a.txt", b"one\ntwo\n")
    from posgeom.corpus.reading import read_sources

    with pytest.raises(CorpusError, match=r"ended after 8 bytes of 4"):
        list(read_sources([source], options))


def test_object_removed_before_it_is_opened(s3: Any) -> None:
    put(s3, "a.txt", b"one\n")
    sources = resolve_sources(["s3://corpus/*.txt"], ReadOptions())
    s3.delete_object(Bucket="corpus", Key="a.txt")
    from posgeom.corpus.reading import read_sources

    with pytest.raises(CorpusError, match=r"'s3://corpus/a.txt': not found"):
        list(read_sources(sources, ReadOptions()))


def test_source_shows_no_secret(s3: Any) -> None:
    put(s3, "a.txt", b"one\n")
    (source,) = resolve_sources(["s3://corpus/a.txt"], ReadOptions())
    assert "RemoteFile()" in repr(source)
    assert pickle.loads(pickle.dumps(source)) == source
