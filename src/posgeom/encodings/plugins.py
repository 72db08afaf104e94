"""Schemes of other packages, through the entry-point group ``posgeom.encodings``; loaded only when asked for."""

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from posgeom.errors import EncodingError
from posgeom.messages import one_line, shown

GROUP = "posgeom.encodings"


def plugin_names() -> list[str]:
    """Names of the schemes that installed packages offer, sorted."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def load_plugin(name: str) -> tuple[Callable[..., Any], str] | None:
    """The function or class of a scheme, and the package that it comes from; None where no package offers it."""
    found = list(dict.fromkeys(entry_points(group=GROUP, name=name)))
    if not found:
        return None
    packages = [package_of(entry) for entry in found]
    if len(found) > 1:
        raise EncodingError(f"encoding {shown(name)} is offered by {' and by '.join(packages)}: uninstall one of them")
    try:
        build = found[0].load()
    except Exception as error:
        cause = f"{type(error).__name__}: {one_line(error)}"
        raise EncodingError(f"encoding {shown(name)} of package {packages[0]} cannot be loaded: {cause}") from error
    if not callable(build):
        raise EncodingError(f"encoding {shown(name)} of package {packages[0]} is no function or class")
    return build, packages[0]


def package_of(entry: EntryPoint) -> str:
    """Name and version of the package that offers an entry point."""
    return shown(f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value)
