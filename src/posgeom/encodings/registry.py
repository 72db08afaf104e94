"""Encodings by name: ``NAME[:option=value[,option=value...]]``, or a matrix file."""

import inspect
import re
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from posgeom.encodings.alibi import alibi
from posgeom.encodings.base import Encoding
from posgeom.encodings.fire import fire
from posgeom.encodings.fourier import fourier
from posgeom.encodings.kerple import kerple
from posgeom.encodings.learned import learned, learned_table
from posgeom.encodings.line import brownian, line
from posgeom.encodings.mds import mds
from posgeom.encodings.nope import nope
from posgeom.encodings.options import CONTEXT, Option, options_of, parse_options
from posgeom.encodings.plugins import load_plugin, plugin_names
from posgeom.encodings.random import random
from posgeom.encodings.relative import relative, swin
from posgeom.encodings.rope import rope
from posgeom.encodings.rope_config import rope_from_config
from posgeom.encodings.rope_grid import rope_grid
from posgeom.encodings.sandwich import sandwich
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.encodings.t5 import t5
from posgeom.encodings.tables import MATRIX_SUFFIXES, load_fit, load_matrix, split_tensor
from posgeom.encodings.warp_fits import corpus_warp
from posgeom.encodings.warps import CorpusWarp
from posgeom.encodings.xpos import xpos
from posgeom.errors import EncodingError, PosgeomError
from posgeom.estimation.build import Geometry
from posgeom.messages import one_line, printable, shown, shown_list

Builder = Callable[..., Any]
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class Scheme:
    """A named way to build an encoding."""

    name: str
    build: Builder
    """Called with those of `n_positions`, `n_dims`, `geometry` and `seed` that it has parameters for, and with its
    options, which are its other parameters. Returns an `Encoding`, or a matrix with one row per position."""
    source: str
    """Publication or package that it comes from."""
    is_own: bool = False
    """Whether it is one of posgeom's."""

    @property
    def summary(self) -> str:
        """First sentence of its docstring."""
        return (inspect.getdoc(self.build) or "").split("\n\n")[0].replace("\n", " ")

    @property
    def options(self) -> dict[str, Option]:
        """Its options, by name."""
        return options_of(self.build)

    @property
    def context(self) -> set[str]:
        """Parameters that come from the analysis."""
        return {*CONTEXT, "seed"} & set(inspect.signature(self.build).parameters)


def _own(*entries: tuple[str, Builder, str]) -> Mapping[str, Scheme]:
    return MappingProxyType({name: Scheme(name, build, source, is_own=True) for name, build, source in entries})


SCHEMES = _own(
    ("sinusoidal", sinusoidal, "Vaswani et al. 2017"),
    ("rope", rope, "Su et al. 2021"),
    ("rope-grid", rope_grid, "Heo et al. 2024; Wang et al. 2024"),
    ("rope-config", rope_from_config, "Su et al. 2021; options as in Hugging Face configs"),
    ("xpos", xpos, "Sun et al. 2023"),
    ("alibi", alibi, "Press et al. 2022"),
    ("t5", t5, "Raffel et al. 2020"),
    ("relative", relative, "Shaw et al. 2018; Dai et al. 2019; He et al. 2021"),
    ("swin", swin, "Liu et al. 2021"),
    ("kerple", kerple, "Chi et al. 2022"),
    ("sandwich", sandwich, "Chi et al. 2023"),
    ("fire", fire, "Li et al. 2024"),
    ("line", line, "ALiBi's bias as a distance, Press et al. 2022"),
    ("brownian", brownian, "ALiBi's bias as a kernel, Press et al. 2022"),
    ("learned", learned_table, "Gehring et al. 2017"),
    ("fourier", fourier, "Li et al. 2021"),
    ("random", random, "initialisation of BERT, Devlin et al. 2019"),
    ("nope", nope, "Haviv et al. 2022; Kazemnejad et al. 2023"),
    ("mds", mds, "Cirrincione 2026, Algorithm 1"),
)
"""posgeom's own schemes, by name."""
_REGISTERED: dict[str, Scheme] = {}


def register(name: str, build: Builder, *, source: str = "registered") -> None:
    """Make a scheme of your own available by name, in this process.

    A package can offer one to every process by an entry point in the group ``posgeom.encodings``.

    Parameters
    ----------
    name : str
        Letters, digits, ``.``, ``_`` and ``-``. A name registered before is replaced; posgeom's own are refused.
    build : callable
        Function or class; called with those of `n_positions`, `n_dims`, `geometry` and `seed` that it has parameters
        for. Its other parameters are its options: their annotations say how values are parsed, its docstring is shown.
        It returns an `Encoding`, or a matrix with one row per position.
    source : str
        What to show as its source.

    Raises
    ------
    EncodingError
        When the name is posgeom's own or no name, or `build` cannot be called.

    Examples
    --------
    >>> import numpy as np
    >>> def steps(n_positions: int, *, size: int = 4) -> np.ndarray:
    ...     "Positions in blocks."
    ...     return np.arange(n_positions)[:, None] // size
    >>> register("steps", steps)
    >>> build_encoding("steps:size=8", n_positions=16, n_dims=64)
    <Encoding steps:size=8: n = 16, d = 1>
    """
    if not _NAME.fullmatch(name):
        raise EncodingError(f"encoding name {shown(name)}: expected a letter, then letters, digits, '.', '_' or '-'")
    if name in SCHEMES:
        raise EncodingError(f"encoding {name} is posgeom's own: choose another name")
    if not callable(build):
        raise EncodingError(f"encoding {name}: got {type(build).__name__}, expected a function or a class")
    _REGISTERED[name] = Scheme(name, build, source)


def scheme_names() -> list[str]:
    """Names of all schemes: posgeom's own, registered ones, those of other packages."""
    return list(dict.fromkeys([*SCHEMES, *_REGISTERED, *plugin_names()]))


def find_scheme(name: str) -> Scheme | None:
    """The scheme of a name, or None; of another package that cannot be loaded it says so."""
    if (scheme := SCHEMES.get(name) or _REGISTERED.get(name)) is not None:
        return scheme
    plugin = load_plugin(name) if name else None
    return Scheme(name, plugin[0], f"package {plugin[1]}") if plugin else None


def build_encoding(
    spec: str | Builder, *, n_positions: int, n_dims: int, geometry: Geometry | None = None, seed: int = 0
) -> Encoding:
    """Build an encoding from its spec.

    Parameters
    ----------
    spec : str or callable
        ``"sinusoidal"``, ``"rope:reference=gaussian,base=500000"``, ``"mds:rank=4"``, ``"table.npy"``,
        ``"model.safetensors:tensor=wpe.weight"``; or a function or class, as `register` takes it.
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
    given: dict[str, Any] = {}
    if isinstance(spec, Encoding):
        raise EncodingError(f"got an encoding already built, {spec.name}: use it as it is")
    if not isinstance(spec, str):
        scheme = _nameless(spec)
        name = printable(scheme.name)
    elif (encoding := _from_file(spec, n_positions)) is not None:
        return encoding
    else:
        scheme, given = _parse(spec)
        name = printable(spec)
    context = {"n_positions": n_positions, "n_dims": n_dims, "geometry": geometry, "seed": seed}
    arguments = {key: context[key] for key in scheme.context}
    if geometry is None and ("geometry" in arguments or _is_fitted(given)):
        raise EncodingError(f"encoding {name} is fitted to a corpus geometry: give one")
    if geometry is not None and isinstance(given.get("warp"), CorpusWarp):
        given = given | {"warp": corpus_warp(geometry, given["warp"].family)}
    encoding = copy(_call(scheme, arguments | given))  # a caller's own object keeps its name
    if encoding.n_positions < n_positions:
        raise EncodingError(
            f"encoding {name} has {encoding.n_positions} positions, n = {n_positions} was asked for: use -n "
            f"{encoding.n_positions}"
        )
    defaults = {o.name: o.default for o in scheme.options.values() if not o.is_required}
    encoding.name, encoding.scheme = name, scheme.name
    if "geometry" in arguments and encoding.refit is None:
        encoding.fitted_to = geometry
        encoding.refit = lambda shape: _call(scheme, arguments | given | {"geometry": shape})
    encoding.options = MappingProxyType(defaults | {k: v for k, v in arguments.items() if k == "seed"} | given)
    return encoding


def check_spec(spec: str | Builder, *, n_positions: int, n_dims: int) -> None:
    """Refuse before long work a spec that `build_encoding` would, but for what depends on the geometry."""
    if isinstance(spec, str) and _file_of(spec):
        build_encoding(spec, n_positions=n_positions, n_dims=n_dims)
        return
    scheme, given = _parse(spec) if isinstance(spec, str) else (_nameless(spec), {})
    if "geometry" not in scheme.context and not _is_fitted(given):
        build_encoding(spec, n_positions=n_positions, n_dims=n_dims)


def _is_fitted(given: Mapping[str, Any]) -> bool:
    """Whether the options of a spec are fitted to a geometry."""
    return isinstance(given.get("warp"), CorpusWarp)


def _nameless(build: Builder) -> Scheme:
    if not callable(build):
        raise EncodingError(
            f"got {type(build).__name__} for an encoding: expected a spec such as 'rope', or a function; "
            "learned(matrix) makes one of a matrix"
        )
    scheme = Scheme(getattr(build, "__name__", type(build).__name__), build, "given")
    required = [option.name for option in scheme.options.values() if option.is_required]
    if required:
        raise EncodingError(f"encoding {scheme.name} needs {shown_list(required)}: give an Encoding that has them")
    return scheme


def _parse(spec: str) -> tuple[Scheme, dict[str, Any]]:
    name, _, text = spec.partition(":")
    scheme = find_scheme(name)
    if scheme is None:
        raise EncodingError(
            f"no encoding {shown(spec)}: expected one of {', '.join(scheme_names())}, with options as "
            f"NAME:option=value, or a matrix file ({', '.join(MATRIX_SUFFIXES)}) that exists"
        )
    return scheme, parse_options(spec, text, scheme.options)


def _call(scheme: Scheme, arguments: dict[str, Any]) -> Encoding:
    """Run a scheme; what foreign code does wrong is told in one line."""
    if scheme.is_own:
        return scheme.build(**arguments)  # type: ignore[no-any-return]
    try:
        result = scheme.build(**arguments)
    except PosgeomError:
        raise
    except Exception as error:
        raise EncodingError(
            f"encoding {scheme.name} ({scheme.source}) failed: {type(error).__name__}: {one_line(error)}"
        ) from error
    return result if isinstance(result, Encoding) else learned(result, name=scheme.name)


def _file_of(spec: str) -> bool:
    """Whether a spec names a matrix file rather than a scheme; a file that exists goes first."""
    path = Path(split_tensor(spec)[0])
    return path.suffix in MATRIX_SUFFIXES and (path.is_file() or spec.partition(":")[0] not in scheme_names())


def _from_file(spec: str, n_positions: int) -> Encoding | None:
    """The encoding of a spec that names a matrix file, or None."""
    if not _file_of(spec):
        return None
    path, tensor = split_tensor(spec)
    if tensor is None and not Path(path).is_file():
        raise EncodingError(f"no file {shown(spec)}: expected a matrix of {n_positions} rows, one per position")
    encoding = learned(load_matrix(path, tensor), n_positions=n_positions, name=printable(spec))
    encoding.fit = MappingProxyType(load_fit(path))
    return encoding
