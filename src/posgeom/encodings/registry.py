"""Encodings by name: ``NAME[:option=value[,option=value...]]``, or a matrix file."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from posgeom.encodings.alibi import alibi
from posgeom.encodings.base import Encoding
from posgeom.encodings.learned import MATRIX_SUFFIXES, learned, load_matrix
from posgeom.encodings.mds import mds
from posgeom.encodings.random import random
from posgeom.encodings.rope import rope
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import EncodingError
from posgeom.geometry.build import Geometry
from posgeom.messages import printable, shown


@dataclass(frozen=True, slots=True)
class Scheme:
    """A named way to build an encoding.

    Attributes
    ----------
    name : str
    build : callable
        Called with those of `n_positions`, `n_dims`, `geometry` and `seed` that it has parameters for, and its
        own options, which are its other keyword-only parameters.
    """

    name: str
    build: Callable[..., Encoding]

    @property
    def options(self) -> dict[str, Any]:
        """Types of the options, by name."""
        hints = get_type_hints(self.build)
        parameters = inspect.signature(self.build).parameters.values()
        return {p.name: hints[p.name] for p in parameters if p.kind is p.KEYWORD_ONLY}

    @property
    def context(self) -> set[str]:
        """Parameters that come from the analysis."""
        return {"n_positions", "n_dims", "geometry", "seed"} & set(inspect.signature(self.build).parameters)


SCHEMES: dict[str, Scheme] = {
    name: Scheme(name, build)
    for name, build in (
        ("sinusoidal", sinusoidal),
        ("rope", rope),
        ("alibi", alibi),
        ("random", random),
        ("mds", mds),
    )
}


def build_encoding(
    spec: str, *, n_positions: int, n_dims: int, geometry: Geometry | None = None, seed: int = 0
) -> Encoding:
    """Build an encoding from its spec.

    Parameters
    ----------
    spec : str
        ``"sinusoidal"``, ``"rope:reference=gaussian,base=500000"``, ``"mds:rank=4"``, ``"table.npy"``,
        ``"model.safetensors:tensor=wpe.weight"``.
    n_positions, n_dims : int
        Context length n, and width d of the schemes that have one.
    geometry : Geometry, optional
        What ``mds`` is fitted to.
    seed : int
        Seed of the schemes that draw random numbers, unless the spec gives one.

    Returns
    -------
    Encoding
        Its name is the spec, made printable.

    Raises
    ------
    EncodingError
        When the spec names no scheme or file, or an option is unknown or out of range.

    Examples
    --------
    >>> build_encoding("alibi:form=kernel,heads=8", n_positions=16, n_dims=64)
    <Encoding alibi:form=kernel,heads=8: n = 16, d = None>
    """
    if (encoding := _from_file(spec, n_positions)) is not None:
        return encoding
    name, _, text = spec.partition(":")
    if name not in SCHEMES:
        raise EncodingError(
            f"no encoding {shown(spec)}: expected one of {', '.join(SCHEMES)}, with options as NAME:option=value, or a "
            f"matrix file ({', '.join(MATRIX_SUFFIXES)}) that exists"
        )
    scheme = SCHEMES[name]
    context = {"n_positions": n_positions, "n_dims": n_dims, "geometry": geometry, "seed": seed}
    arguments = {key: context[key] for key in scheme.context}
    if "geometry" in arguments and geometry is None:
        raise EncodingError(f"encoding {printable(spec)} is fitted to a corpus geometry: give one")
    encoding = scheme.build(**arguments | _parse_options(spec, text, scheme))
    encoding.name = printable(spec)
    return encoding


def check_spec(spec: str, *, n_positions: int, n_dims: int) -> None:
    """Find out before long work whether `build_encoding` will take a spec.

    Parameters
    ----------
    spec : str
    n_positions, n_dims : int

    Raises
    ------
    EncodingError
        As `build_encoding` would; of a scheme that is fitted to a geometry, only the options are checked.
    """
    name, _, text = spec.partition(":")
    if name in SCHEMES and "geometry" in SCHEMES[name].context:
        _parse_options(spec, text, SCHEMES[name])
    else:
        build_encoding(spec, n_positions=n_positions, n_dims=n_dims)


def _from_file(spec: str, n_positions: int) -> Encoding | None:
    """The encoding of a spec that names a matrix file, or None."""
    path, _, text = spec.rpartition(":tensor=")
    if Path(spec).suffix in MATRIX_SUFFIXES and Path(spec).is_file():
        path, text = spec, ""
    if Path(path).suffix not in MATRIX_SUFFIXES:
        if Path(spec).suffix in MATRIX_SUFFIXES:
            raise EncodingError(f"no file {shown(spec)}: expected a matrix of {n_positions} rows, one per position")
        return None
    return learned(load_matrix(path, text or None), n_positions=n_positions, name=printable(spec))


def _parse_options(spec: str, text: str, scheme: Scheme) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for item in text.split(",") if text else []:
        key, equals, value = item.partition("=")
        if not equals or key not in scheme.options:
            known = ", ".join(f"{k} ({_describe(t)})" for k, t in scheme.options.items())
            raise EncodingError(f"encoding {shown(spec)}: got {shown(item)}, expected option=value with one of {known}")
        if key in options:
            raise EncodingError(f"encoding {shown(spec)}: option {key} is given twice")
        try:
            options[key] = _convert(value, scheme.options[key])
        except ValueError:
            raise EncodingError(
                f"encoding {shown(spec)}: {key} is {shown(value)}, expected {_describe(scheme.options[key])}"
            ) from None
    return options


def _convert(value: str, kind: Any) -> Any:
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ValueError(value)
        return value
    if isinstance(kind, UnionType):
        kind = next(k for k in get_args(kind) if k is not type(None))
    return kind(value)


def _describe(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return " or ".join(get_args(kind))
    if isinstance(kind, UnionType):
        kind = next(k for k in get_args(kind) if k is not type(None))
    return {int: "a whole number", float: "a number", str: "text"}[kind]
