"""Names that are URLs: telling them from files, and showing them without what they keep secret."""

import re

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(::|://)")
_LINK = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
# A password may hold a slash, so it ends at the last @; digits up to a slash are a port instead.
_USER = re.compile(r"[^/?#@:]*(:(?!\d+(?:/|$))[^?#]*)?@")
_PARAMETER = re.compile(r"([?&;])([^=&;]*)=([^&;]*)")
# In these the part before the @ names a container.
_CONTAINER_SCHEMES = frozenset({"abfs", "abfss", "az", "adl", "wasb", "wasbs"})
_PLAIN_PARAMETERS = frozenset({"dl", "download", "format", "raw", "ref", "rev", "revision", "version", "versionId"})
HIDDEN = "***"


def is_url(name: str) -> bool:
    """Whether a name is a URL (``s3://bucket/key``) or a chain of them (``zip://*.txt::s3://bucket/key``)."""
    return "://" in name and _URL.match(name) is not None


def scheme_of(url: str) -> str:
    """The scheme of a URL in lower case, of the first one in a chain."""
    return re.split(r"::|://", url, maxsplit=1)[0].lower()


def local_path(url: str) -> str | None:
    """The path that a ``file://`` URL names, None for any other URL."""
    scheme, _, path = url.partition("://")
    return path if scheme.lower() in {"file", "local"} and "::" not in url else None


def public_name(name: str) -> str:
    """A name fit to be shown and stored: a URL without user, password and the values of its parameters."""
    return "::".join(_public_link(link) for link in name.split("::")) if is_url(name) else name


def scrubbed(text: str, url: str) -> str:
    """Take the secrets of a URL out of a text that may quote it or its parts."""
    for link in url.split("::"):
        text = text.replace(link, _public_link(link))
        for secret in sorted(_secrets(link), key=len, reverse=True):
            text = text.replace(secret, HIDDEN)
    return _PARAMETER.sub(_hide_parameter, text)


def _public_link(link: str) -> str:
    match = _LINK.match(link)
    if match is None:
        return link
    scheme, rest = match.groups()
    if scheme.lower() not in _CONTAINER_SCHEMES:
        rest = _USER.sub(f"{HIDDEN}@", rest, count=1) if _USER.match(rest) else rest
    path, mark, query = rest.partition("?")
    if mark and "=" not in query and scheme.lower() in {"http", "https"}:  # elsewhere the ? may be a pattern's
        query = HIDDEN
    return f"{scheme}://{path}" + _PARAMETER.sub(_hide_parameter, mark + query)


def _secrets(link: str) -> set[str]:
    match = _LINK.match(link)
    if match is None:
        return set()
    scheme, rest = match.groups()
    user = None if scheme.lower() in _CONTAINER_SCHEMES else _USER.match(rest)
    secrets = set() if user is None else {user.group()[:-1], *user.group()[:-1].split(":", 1)}
    secrets |= {m[3] for m in _PARAMETER.finditer(rest) if m[2] not in _PLAIN_PARAMETERS}
    if scheme.lower() in {"http", "https"} and "=" not in rest:
        secrets.add(rest.partition("?")[2])
    return {secret for secret in secrets if len(secret) > 3}  # shorter ones would tear the text apart


def _hide_parameter(match: re.Match[str]) -> str:
    separator, key, value = match.groups()
    return f"{separator}{key}={value if key in _PLAIN_PARAMETERS else HIDDEN}"
