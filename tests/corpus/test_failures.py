"""What the errors of other libraries are said to mean."""

from typing import Any

import pytest

from posgeom.corpus.failures import remote_failure


def named(name: str, *bases: type[Exception], **attributes: Any) -> Exception:
    error: Exception = type(name, bases or (Exception,), {})("detail")
    for key, value in attributes.items():
        setattr(error, key, value)
    return error


def caused(outer: Exception, inner: Exception) -> Exception:
    outer.__cause__ = inner
    return outer


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (named("NoCredentialsError"), "no credentials: set AWS_ACCESS_KEY_ID"),
        (PermissionError("Forbidden"), "permission denied: check the credentials"),
        (named("ClientResponseError", status=403), "permission denied (HTTP 403)"),
        (named("ClientError", response={"ResponseMetadata": {"HTTPStatusCode": 503}}), "the server failed (HTTP 503)"),
        (caused(FileNotFoundError("x"), named("ClientConnectorError", OSError)), "cannot connect"),
        (caused(FileNotFoundError("x"), named("ConnectTimeoutError")), "no answer in time"),
        (caused(FileNotFoundError("x"), named("ClientResponseError", status=404)), "not found (HTTP 404)"),
        (FileNotFoundError("x"), "not found: check the name"),
        (named("FileExpired", OSError), "it changed while it was read"),
        (named("ClientPayloadError"), "the connection ended early"),
        (ValueError("Cannot seek streaming HTTP file"), "the server sends whole files only"),
        (RuntimeError("broken\n\x1b[31m"), "cannot read (RuntimeError: broken \\x1b[31m)"),
        (RuntimeError(), "cannot read (RuntimeError): check"),
    ],
)
def test_causes(error: Exception, expected: str) -> None:
    message = str(remote_failure(error, "s3://bucket/a.txt", "s3://bucket/a.txt"))
    assert message.startswith("'s3://bucket/a.txt': ")
    assert expected in message
    assert message.isprintable()


def test_chain_that_is_a_ring_ends() -> None:
    error = RuntimeError("a")
    other = RuntimeError("b")
    error.__cause__, other.__cause__ = other, error
    assert "RuntimeError: a" in str(remote_failure(error, "s3://b/k", "s3://b/k"))


def test_hints_fit_the_scheme() -> None:
    for scheme, hint in (
        ("s3a", "AWS_"),
        ("gcs", "GOOGLE_"),
        ("hf", "HF_TOKEN"),
        ("https", "expired"),
        ("abfs", "asks for"),
    ):
        assert hint in str(remote_failure(PermissionError(), f"{scheme}://x/y", "x"))
    assert "AWS_" in str(remote_failure(PermissionError(), "zip://*::s3://x/y", "x"))


def test_secrets_in_the_reason_are_hidden() -> None:
    url = "https://user:hunter2@h/a?sig=hunter3"
    assert "hunter" not in str(remote_failure(RuntimeError(f"GET {url} failed, hunter2, hunter3"), url, "h"))
