"""Filesystems of fsspec by URL: set up to give up soon, a missing package or a wrong form told in one line.

Credentials and endpoints come from where the filesystems take them: the environment (``AWS_ACCESS_KEY_ID``,
``AWS_ENDPOINT_URL``, ``HF_TOKEN``, ...), their own files, and fsspec's configuration (``FSSPEC_S3_ANON=true``).
"""

import re
from typing import Any

from posgeom.corpus.failures import remote_failure
from posgeom.corpus.urls import public_name, scheme_of
from posgeom.errors import CorpusError
from posgeom.messages import one_line, shown

_CONNECT_SECONDS = 5
_READ_SECONDS = 12
_PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "http": "aiohttp", "https": "aiohttp"}


def open_filesystem(spec: str) -> tuple[Any, str]:
    """The filesystem a URL or chain of them belongs to, set up to give up soon, and the path in it."""
    import fsspec  # here, because only URLs need it

    _refuse_user(spec)
    try:
        filesystem, path = fsspec.core.url_to_fs(spec, **_options(spec))
    except ImportError as error:
        raise _not_installed(error, spec) from None
    except ValueError as error:
        if "rotocol not known" not in str(error):
            raise remote_failure(error, spec, public_name(spec)) from None
        mixed = [scheme_of(link) for link in spec.split("::") if not link.startswith(scheme_of(link))]
        if mixed:
            raise CorpusError(f"{shown(public_name(spec))}: expected the scheme in lower case, {mixed[0]}") from None
        raise CorpusError(
            f"{shown(public_name(spec))}: unknown scheme {shown(scheme_of(spec), 60)}:"
            " expected s3, gs, hf, http, https, file or another that fsspec knows"
        ) from None
    except Exception as error:  # noqa: BLE001  an archive in a chain is read at once
        raise remote_failure(error, spec, public_name(spec)) from None
    return filesystem, path


def set_tries(filesystem: Any, tries: int) -> None:
    """Set how often s3fs tries, on top of the retries of the client below it; other filesystems are left alone."""
    if "s3" in filesystem.protocol and hasattr(filesystem, "retries"):
        filesystem.retries = tries


def _options(spec: str) -> dict[str, dict[str, Any]]:
    """Timeouts, where the user's configuration of fsspec does not set its own."""
    from fsspec.config import conf

    options: dict[str, dict[str, Any]] = {}
    for scheme in {scheme_of(link) for link in spec.split("::")}:
        if scheme in {"s3", "s3a"} and "config_kwargs" not in conf.get("s3", {}):
            options[scheme] = {
                "config_kwargs": {
                    "connect_timeout": _CONNECT_SECONDS,
                    "read_timeout": _READ_SECONDS,
                    "retries": {"max_attempts": 1},
                }
            }
        if scheme in {"http", "https"} and "client_kwargs" not in conf.get("http", {}):
            options[scheme] = {"client_kwargs": _http_settings()}
    return options


def _http_settings() -> dict[str, Any]:
    try:
        from aiohttp import ClientTimeout
    except ImportError:
        return {}  # opening the filesystem says what is missing
    return {
        "timeout": ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS, sock_read=_READ_SECONDS),
        "trust_env": True,
        "auto_decompress": False,
    }


def _refuse_user(spec: str) -> None:
    for link in spec.split("::"):
        if scheme_of(link) in {"s3", "s3a", "gs", "gcs"} and re.match(r"\w+://[^/]*@", public_name(link)):
            raise CorpusError(
                f"{shown(public_name(spec))}: credentials inside a bucket's URL: expected {scheme_of(link)}://BUCKET/KEY;"
                " set them in the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for s3)"
            )


def _not_installed(error: ImportError, spec: str) -> CorpusError:
    scheme = next((s for s in (scheme_of(link) for link in spec.split("::")) if s in _PACKAGES), None)
    if scheme is not None and _PACKAGES[scheme] in f"{error} {error.__cause__}":
        expected = f"expected the package {_PACKAGES[scheme]}; pip install 'posgeom[datasets]'"
    else:
        missing = getattr(error.__cause__ or error, "name", None)
        expected = f"expected the package {missing}; pip install {missing}" if missing else one_line(error)
    return CorpusError(f"{shown(public_name(spec))}: this filesystem is not installed: {expected}")
