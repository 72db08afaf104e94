"""What schemes there are, with their options and sources, as plain data."""

from typing import Any

from posgeom.encodings.options import Option, suboptions_of
from posgeom.encodings.registry import Scheme, find_scheme, scheme_names
from posgeom.encodings.rotary_scaling import Scaling
from posgeom.errors import EncodingError
from posgeom.messages import shown


def catalog() -> list[dict[str, Any]]:
    """Every scheme, posgeom's own, registered and of other packages; one that cannot be loaded with its ``error``."""
    entries: list[dict[str, Any]] = []
    for name in scheme_names():
        try:
            entries.append(catalog_entry(name))
        except EncodingError as error:
            entries.append({"name": name, "error": str(error)})
    return entries


def catalog_entry(name: str) -> dict[str, Any]:
    """One scheme for JSON: summary, source, what it takes from an analysis, options, and choices that have options."""
    scheme = find_scheme(name)
    if scheme is None:
        raise EncodingError(f"no encoding {shown(name)}: expected one of {', '.join(scheme_names())}")
    return {
        "name": name,
        "summary": scheme.summary,
        "source": scheme.source,
        "needs": sorted(scheme.context - {"seed"}),
        "options": [_option(option) for option in scheme.options.values()],
        "choices": _choices(scheme),
    }


def _choices(scheme: Scheme) -> list[dict[str, Any]]:
    if not any(option.is_choice for option in scheme.options.values()):
        return []
    return [
        {
            "name": f"scaling={name}",
            "source": choice.source,
            "options": [_option(option) for option in suboptions_of(choice).values()],
        }
        for name, choice in Scaling.choices.items()
    ]


def _option(option: Option) -> dict[str, Any]:
    return {
        "name": option.name,
        "type": option.expected,
        "required": option.is_required,
        "default": None if option.is_required else plain(option.default),
        "help": option.help,
    }


def plain(value: Any) -> Any:
    """A value of an option as JSON can hold it."""
    if isinstance(value, Scaling):
        return {"name": value.name} | {key: plain(part) for key, part in vars(value).items()}
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if hasattr(value, "shape"):
        return f"array of shape {tuple(value.shape)}"
    return value if isinstance(value, bool | int | float | str | None) else str(value)
