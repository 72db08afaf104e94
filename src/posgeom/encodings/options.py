"""Options of a scheme: read off its signature and docstring, and parsed from ``option=value,...``."""

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from posgeom.encodings.documentation import ENTRY, sections_of
from posgeom.encodings.rotary_scaling import Scaling
from posgeom.encodings.warps import EXPECTED, Warp, parse_warp
from posgeom.errors import EncodingError
from posgeom.messages import shown

CONTEXT = ("n_positions", "n_dims", "geometry")
"""Parameters that come from the analysis, as `seed` does where the spec gives none."""
_REQUIRED = inspect.Parameter.empty
_SPLIT = ":"
_NO_WARP = {
    "swin": "offsets of a window have two coordinates, and no line that a warp could space",
    "learned": "rows of a table lie on no line that a warp could space",
    "random": "rows of a table lie on no line that a warp could space",
    "nope": "it has no positions",
    "mds": "it has the places of the corpus already",
    "model": "a checkpoint has positions of its own; name its scheme instead, such as rope-config",
}
"""Why own schemes without the option `warp` have none."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a scheme."""

    name: str
    kind: Any
    """Its type."""
    default: Any
    """`inspect.Parameter.empty` where it must be given."""
    help: str
    """What the docstring says of it."""

    @property
    def is_required(self) -> bool:
        """Whether it has no default."""
        return self.default is _REQUIRED

    @property
    def is_choice(self) -> bool:
        """Whether its values have options of their own."""
        return any(isinstance(part, type) and issubclass(part, Scaling) for part in (self.kind, *get_args(self.kind)))

    @property
    def expected(self) -> str:
        """What its value looks like on the command line."""
        return describe(self.kind)


def options_of(build: Callable[..., Any]) -> dict[str, Option]:
    """Options of a function or class: its parameters but those of the analysis."""
    parameters = inspect.signature(build).parameters.values()
    hints = _hints(build)
    helps = parameter_helps(inspect.getdoc(build) or "")
    return {
        p.name: Option(p.name, hints.get(p.name, _kind_of(p.default)), p.default, helps.get(p.name, ""))
        for p in parameters
        if p.name not in CONTEXT
        and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        and _parsers(hints.get(p.name, _kind_of(p.default)))
    }


def suboptions_of(choice: type[Scaling]) -> dict[str, Option]:
    """Options that come with a choice, such as those of one scaling."""
    hints, helps = get_type_hints(choice), parameter_helps(inspect.getdoc(choice) or "")
    return {
        f.name: Option(f.name, hints[f.name], _REQUIRED if f.default is MISSING else f.default, helps.get(f.name, ""))
        for f in fields(choice)
    }


def parse_options(spec: str, text: str, known: Mapping[str, Option]) -> dict[str, Any]:
    """Parse ``option=value,option=value``; the first item may be the value alone of the only required option."""
    given: dict[str, str] = {}
    required = [option.name for option in known.values() if option.is_required]
    for number, item in enumerate(text.split(",") if text else []):
        key, equals, value = item.partition("=")
        if not equals and number == 0 and len(required) == 1:
            key, equals, value = required[0], "=", item
        if not equals:
            raise EncodingError(f"encoding {shown(spec)}: got {shown(item)}, expected option=value{_listed(known)}")
        if key in given:
            raise EncodingError(f"encoding {shown(spec)}: option {key} is given twice")
        given[key] = value
    options = {key: _convert(spec, known[key], value) for key, value in given.items() if key in known}
    rest = {key: value for key, value in given.items() if key not in known}
    for key, value in options.items():
        if isinstance(value, type):
            own = suboptions_of(value)
            parts = {name: _convert(spec, own[name], rest.pop(name)) for name in list(rest) if name in own}
            _check_complete(f"{spec}", f"{key}={given[key]}", own, parts)
            options[key] = value(**parts)
    if "warp" in rest and (why := _NO_WARP.get(spec.partition(":")[0])):
        raise EncodingError(f"encoding {shown(spec)} takes no warp: {why}")
    if rest:
        raise EncodingError(
            f"encoding {shown(spec)}: no option {shown(next(iter(rest)))} here{_listed(known, options)}"
        )
    _check_complete(spec, spec.partition(":")[0], known, options)
    return options


def describe(kind: Any) -> str:
    """What a value of a type looks like on the command line."""
    return " or ".join(dict.fromkeys(text for text, _ in _parsers(kind)))


def parameter_helps(doc: str) -> dict[str, str]:
    """First sentences of the parameters in a NumPy-style docstring, by name."""
    helps: dict[str, str] = {}
    for names, body in ENTRY.findall(sections_of(doc)[1].get("Parameters", "")):
        helps |= dict.fromkeys(names.split(", "), " ".join(body.replace("`", "").split()))
    return helps


def _hints(build: Callable[..., Any]) -> dict[str, Any]:
    """Annotations of a function or of a class's constructor; none where they do not resolve."""
    try:
        return get_type_hints(getattr(build, "__init__", build) if isinstance(build, type) else build)
    except (NameError, TypeError, AttributeError):
        return {}


def _kind_of(default: Any) -> Any:
    return str if default is _REQUIRED or default is None else type(default)


def _listed(known: Mapping[str, Option], options: Mapping[str, Any] | None = None) -> str:
    """The options there are, those of the choices made included."""
    every = dict(known)
    for value in (options or {}).values():
        if isinstance(value, Scaling):
            every |= suboptions_of(type(value))
    if not every:
        return "; it takes no options"
    return "; known: " + ", ".join(f"{o.name} ({o.expected})" for o in every.values())


def _check_complete(spec: str, what: str, known: Mapping[str, Option], options: Mapping[str, Any]) -> None:
    for option in known.values():
        if option.is_required and option.name not in options:
            raise EncodingError(f"encoding {shown(spec)}: {what} needs {option.name} ({option.expected})")


def _convert(spec: str, option: Option, value: str) -> Any:
    for _, parse in _parsers(option.kind):
        try:
            return parse(value)
        except ValueError:
            continue
    raise EncodingError(f"encoding {shown(spec)}: {option.name} is {shown(value)}, expected {option.expected}")


_Parser = tuple[str, Callable[[str], Any]]


def _parsers(kind: Any) -> list[_Parser]:
    """Ways to read a value of a type, with what each expects; none for a type that Python alone can give."""
    if get_origin(kind) in (Union, types.UnionType):
        parts = get_args(kind)
        return [parser for part in parts if part is not str or Path not in parts for parser in _parsers(part)]
    if get_origin(kind) is Literal:
        names = get_args(kind)
        return [(" or ".join(names), lambda value: _one_of(value, names))]
    if get_origin(kind) is tuple:
        text, parse = _SCALARS[get_args(kind)[0]]
        plural = {"a whole number": "whole numbers", "a number": "numbers"}[text]
        return [(f"{plural} separated by {_SPLIT}", lambda value: tuple(parse(v) for v in value.split(_SPLIT)))]
    if isinstance(kind, type) and issubclass(kind, Scaling):
        return [(" or ".join(Scaling.choices), lambda value: Scaling.choices[_one_of(value, tuple(Scaling.choices))])]
    if kind is Warp:
        return [(EXPECTED, parse_warp)]
    return [_SCALARS[kind]] if kind in _SCALARS else []


def _one_of(value: str, names: tuple[str, ...]) -> str:
    if value not in names:
        raise ValueError(value)
    return value


def _file(value: str) -> Path:
    if not Path(value).suffix:  # rather a misspelt choice than a file
        raise ValueError(value)
    return Path(value)


_SCALARS: dict[Any, _Parser] = {
    bool: ("true or false", lambda value: {"true": True, "false": False}[_one_of(value, ("true", "false"))]),
    int: ("a whole number", int),
    float: ("a number", float),
    Path: ("a file", _file),
    str: ("text", str),
}
