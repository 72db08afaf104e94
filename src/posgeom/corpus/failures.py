"""Why a remote file or dataset cannot be read, from the errors of the many libraries that may stand between."""

from collections.abc import Iterator
from dataclasses import dataclass

from posgeom.corpus.urls import scheme_of, scrubbed
from posgeom.errors import CorpusError
from posgeom.messages import one_line, shown


@dataclass(frozen=True, slots=True)
class _Cause:
    """A kind of failure: the classes and HTTP statuses it shows itself by, and what to say."""

    classes: frozenset[str]
    statuses: frozenset[int]
    reason: str
    way_out: str


# Known by the names of their classes, so that no client library is imported to ask. The order matters: HTTP's
# "not found" may hide any other failure, and a timeout is also a failed connection.
_CAUSES = (
    _Cause(
        frozenset({"OfflineModeIsEnabled"}),
        frozenset(),
        "offline, and not in the cache",
        "unset HF_HUB_OFFLINE and HF_DATASETS_OFFLINE, or name a local copy",
    ),
    _Cause(
        frozenset({"NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "ProfileNotFound"}),
        frozenset(),
        "no credentials",
        "{credentials}",
    ),
    _Cause(
        frozenset({"PermissionError", "GatedRepoError"}),
        frozenset({401, 403}),
        "permission denied",
        "check the credentials and what they may read: {credentials}",
    ),
    _Cause(
        frozenset({"FileExpired"}),
        frozenset({412}),
        "it changed while it was read",
        "expected a file that stays as it is; read it again",
    ),
    _Cause(
        frozenset({"TimeoutError", "ConnectTimeoutError", "ReadTimeoutError", "FSTimeoutError", "TimeoutException"}),
        frozenset({408, 504}),
        "no answer in time",
        "check {endpoint} and the network, or try again later",
    ),
    _Cause(
        frozenset({"ClientPayloadError", "IncompleteRead", "IncompleteReadError", "ServerDisconnectedError"}),
        frozenset(),
        "the connection ended early",
        "try again; if it stays so, the server's file is damaged",
    ),
    _Cause(
        frozenset({"gaierror"}),
        frozenset(),
        "no host of this name can be reached",
        "check {endpoint} and the network",
    ),
    _Cause(
        frozenset({"ConnectionError", "ClientConnectorError", "ClientConnectionError", "EndpointConnectionError"})
        | {"ConnectError", "NetworkError"},
        frozenset(),
        "cannot connect",
        "check {endpoint} and the network",
    ),
    _Cause(frozenset(), frozenset({429}), "the server wants fewer requests", "try again later"),
    _Cause(frozenset(), frozenset(range(500, 600)), "the server failed", "try again later"),
    _Cause(
        frozenset({"FileNotFoundError", "DatasetNotFoundError", "RepositoryNotFoundError", "EntryNotFoundError"}),
        frozenset({404, 410}),
        "not found",
        "check the name, upper and lower case too",
    ),
)
_CREDENTIALS = {
    "s3": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or FSSPEC_S3_ANON=true for a public bucket",
    "gs": "set GOOGLE_APPLICATION_CREDENTIALS, or FSSPEC_GS_TOKEN=anon for a public bucket",
    "hf": "set HF_TOKEN, or accept the terms of a gated dataset on its page",
    "http": "the address may have expired, or need a user and password",
}
_ENDPOINTS = {"s3": "AWS_ENDPOINT_URL", "hf": "HF_ENDPOINT"}
_ALIASES = {"s3a": "s3", "gcs": "gs", "https": "http"}


def remote_failure(error: BaseException, spec: str, name: str) -> CorpusError:
    """Say in one line, without the credentials of `spec`, why something remote cannot be read."""
    scheme = scheme_of(spec.rsplit("::", maxsplit=1)[-1])
    scheme = _ALIASES.get(scheme, scheme)
    chain = list(_chain(error))
    for cause in _CAUSES:
        status = next((s for e in chain if (s := _status(e)) in cause.statuses), None)
        if status is None and not any(cause.classes & _class_names(e) for e in chain):
            continue
        way_out = cause.way_out.format(
            credentials=_CREDENTIALS.get(scheme, "set what this filesystem asks for"),
            endpoint=_ENDPOINTS.get(scheme, "the address"),
        )
        detail = "" if status is None else f" (HTTP {status})"
        return CorpusError(f"{shown(name)}: {cause.reason}{detail}: {way_out}")
    reason = one_line(RuntimeError(scrubbed(str(error), spec)))
    if "range requests" in reason or "Cannot seek streaming" in reason:
        return CorpusError(
            f"{shown(name)}: the server sends whole files only: this format is read from its end; download it first"
        )
    kind = type(error).__name__ + (f": {reason}" if str(error) else "")
    return CorpusError(f"{shown(name)}: cannot read ({kind}): check its name and content")


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _class_names(error: BaseException) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}


def _status(error: BaseException) -> int | None:
    """The HTTP status in an error of aiohttp, requests, httpx or botocore."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    else:
        status = getattr(response, "status_code", None) or getattr(error, "status", None)
    return status if isinstance(status, int) else None
