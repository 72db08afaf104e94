"""URLs: told from file names, and shown without their secrets."""

import pytest

from posgeom.corpus.urls import is_url, local_path, public_name, scheme_of, scrubbed


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("s3://bucket/key", True),
        ("S3://bucket/key", True),
        ("hf://datasets/o/n/a.parquet", True),
        ("zip://*.txt::s3://bucket/x.zip", True),
        ("simplecache::s3://bucket/key", True),
        ("a.txt", False),
        ("a::b", False),
        (r"C:\data\a.txt", False),
        ("hf:owner/name", False),
        ("./s3://bucket", False),
        ("", False),
    ],
)
def test_urls_are_told_from_names(name: str, expected: bool) -> None:
    assert is_url(name) is expected


def test_scheme_and_local_path() -> None:
    assert [scheme_of(u) for u in ("S3://b/k", "zip://*::s3://b/k", "simplecache::s3://b/k")] == [
        "s3",
        "zip",
        "simplecache",
    ]
    assert local_path("file:///a/b.txt") == "/a/b.txt"
    assert local_path("s3://a/b.txt") is None
    assert local_path("file://x::s3://a/b.txt") is None


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("s3://key:secret@bucket/a.txt", "s3://***@bucket/a.txt"),
        ("s3://key:sec/r@et@bucket/a.txt", "s3://***@bucket/a.txt"),
        ("https://user:1234@host:8000/a.txt", "https://***@host:8000/a.txt"),
        ("https://token@host/a.txt", "https://***@host/a.txt"),
        ("https://h/a.txt?X-Amz-Credential=AK&X-Amz-Signature=abcd", "https://h/a.txt?X-Amz-Credential=***&X-Amz-Signature=***"),
        ("https://h/a.txt?abcdef", "https://h/a.txt?***"),
        ("zip://*.txt::https://u:p@h/x.zip?sig=abcd", "zip://*.txt::https://***@h/x.zip?sig=***"),
    ],
)  # fmt: skip
def test_secrets_are_hidden(url: str, shown: str) -> None:
    assert public_name(url) == shown
    assert public_name(shown) == shown


@pytest.mark.parametrize(
    "name",
    [
        "s3://bucket/part-?.txt",
        "s3://bucket/key?versionId=abc",
        "http://host:8000/mail@2024.txt",
        "abfs://container@account.dfs.core.windows.net/a.txt",
        "hf://datasets/owner/name@main/a.parquet",
        "a:b@c.txt",
        "https://h/a.csv?raw=true&download=1",
    ],
)
def test_names_without_secrets_stay(name: str) -> None:
    assert public_name(name) == name


def test_secrets_are_taken_out_of_messages() -> None:
    url = "https://user:hunter2@h/a.txt?sig=abcdefg"
    text = f"404 for {url}, auth user:hunter2, GET /a.txt?sig=abcdefg&X-Amz-Signature=zz, password hunter2"
    clean = scrubbed(text, url)
    assert "hunter2" not in clean
    assert "abcdefg" not in clean
    assert "zz" not in clean
    assert "404 for https://***@h/a.txt?sig=***" in clean
