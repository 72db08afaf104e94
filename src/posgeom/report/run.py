"""A stored run, read back: what charts and pages are made of, with no need of the corpus or the model."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from posgeom.chart_data import CROSSVAL, PLUGIN, geometry_chart_data
from posgeom.errors import RunError
from posgeom.messages import one_line, printable, shown
from posgeom.report.run_shapes import CHARTS_SHAPE, LAYERS_SHAPE, SCORES_SHAPE, TRAINING_SHAPE, WARP_SHAPE
from posgeom.report.shapes import check

SCORES, CHARTS, LAYERS, TRAINING = "scores.json", "charts.json", "layers.json", "run.json"
WARP = "warp.json"
DISTANCES, MDS = "distances.npz", "mds.safetensors"
SCHEMA_VERSION = 2


@dataclass(frozen=True, eq=False, slots=True)
class Run:
    """A directory that ``posgeom analyze``, ``layers``, ``warp`` or ``train`` wrote."""

    name: str
    """The directory, as named, made printable."""
    scores: dict[str, Any] | None
    """``scores.json``."""
    charts: dict[str, Any] | None
    """``charts.json``; where there is none, its part that distances and MDS give."""
    layers: dict[str, Any] | None
    """``layers.json``."""
    training: dict[str, Any] | None = None
    """``run.json``."""
    warp: dict[str, Any] | None = None
    """``warp.json``."""


def metric_of(scores: dict[str, Any]) -> str:
    """How axes name the distance of a run."""
    return str(scores["metric"]).replace("_", " ").title()


def level_of(scores: dict[str, Any]) -> float | None:
    """The level of the intervals of a run, or None where it has none."""
    uncertainty = scores.get("uncertainty")
    return None if uncertainty is None else float(uncertainty["level"])


def basis(scores: dict[str, Any]) -> str:
    """Estimator and sample size in a few words, for captions."""
    estimator = CROSSVAL if scores["estimator"] == "crossval" else PLUGIN
    documents = scores["corpus"]["documents"]
    depth = scores.get("common_depth")
    samples = "" if depth is None else f", of samples of {depth:,}"
    positions = len(scores["positions_used"])
    return f"{estimator.capitalize()} estimate, {documents:,} documents{samples}, {positions:,} positions"


def read_run(directory: str | Path, name: str | None = None) -> Run:
    """Read a run."""
    place = Path(directory)
    if not place.is_dir():
        found = "a file" if place.exists() else "missing"
        raise RunError(f"{shown(directory)} is {found}: expected a directory that posgeom analyze --out wrote")
    scores, layers = _document(place / SCORES, SCORES_SHAPE), _document(place / LAYERS, LAYERS_SHAPE)
    training, warp = _document(place / TRAINING, TRAINING_SHAPE), _document(place / WARP, WARP_SHAPE)
    if training is not None and not training["records"]:
        raise RunError(f"{shown(place / TRAINING)} has no records: run posgeom train again")
    if scores is None and layers is None and training is None and warp is None:
        raise RunError(
            f"{shown(directory)} has no {SCORES}, {LAYERS}, {WARP} or {TRAINING}: write them with posgeom analyze --out"
        )
    charts = None
    if scores is not None:
        charts = _document(place / CHARTS, CHARTS_SHAPE) or _from_arrays(place)
        _check_sizes(charts, place / CHARTS)
    return Run(printable(name or str(directory)), scores, charts, layers, training, warp)


def _document(path: Path, shape: Any) -> dict[str, Any] | None:
    """A JSON file of the wanted shape, or None where there is no such file."""
    where = shown(path)
    try:
        document = json.loads(path.read_bytes(), parse_constant=_refuse_constant)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(f"cannot read {where}: {error.strerror or one_line(error)}") from None
    except (ValueError, RecursionError) as error:
        raise RunError(f"{where} is no JSON: {one_line(error)}") from None
    check(document, {"schema_version": int}, where)
    version = document["schema_version"]
    if version == SCHEMA_VERSION:
        check(document, shape, where)
    else:
        raise RunError(
            f"{where} has schema_version {version}: this posgeom reads {SCHEMA_VERSION}; run posgeom analyze again"
        )
    return dict(document)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _check_sizes(charts: dict[str, Any], path: Path) -> None:
    """Refuse columns of unequal length, which would be drawn wrongly or not at all."""
    matrix, positions = charts["matrix"], charts["map"]["positions"]
    k = len(matrix["first"])
    groups = [[matrix["first"], matrix["last"], matrix["depth"]], [positions, *charts["map"]["axes"]]]
    groups += [[matrix["first"], square, *square] for square in matrix["distances"].values()]
    groups += [[lags[key] for key in ("first", "last", "pairs", "low", "median", "high")] for lags in charts["lags"]]
    groups += [[density[key] for key in ("x", "y", "pairs")] for density in charts["densities"]]
    violations = charts["violations"] or {"lags": [], "series": []}
    groups += [[violations["lags"], series["rates"]] for series in violations["series"]]
    if not k or len(charts["map"]["axes"]) < 2 or any(len({len(column) for column in group}) > 1 for group in groups):
        raise RunError(f"{shown(path)} has columns of unequal length: run posgeom analyze again")


def _from_arrays(place: Path) -> dict[str, Any]:
    """The charts of a run without ``charts.json``: those of the geometry alone."""
    arrays = _arrays(place)
    positions, plugin = arrays["positions"], arrays["plugin_squared"]
    squared = {PLUGIN: plugin} | ({CROSSVAL: arrays["crossval_squared"]} if "crossval_squared" in arrays else {})
    m = positions.size
    shapes = {name: array.shape for name, array in arrays.items()}
    fits = positions.shape == arrays["depth"].shape == (m,) and m > 1 and arrays["coordinates"].shape[:1] == (m,)
    if not fits or arrays["coordinates"].ndim != 2 or any(matrix.shape != (m, m) for matrix in squared.values()):
        raise RunError(f"{shown(place)}: its arrays do not fit each other, {shapes}: run posgeom analyze again")
    return geometry_chart_data(positions, arrays["depth"], squared, arrays["coordinates"])


def _arrays(place: Path) -> dict[str, NDArray[Any]]:
    path = place / DISTANCES
    try:
        with np.load(path, allow_pickle=False) as stored:
            names = ("positions", "depth", "plugin_squared", "crossval_squared")
            arrays: dict[str, NDArray[Any]] = {name: stored[name] for name in names if name in stored}
        path = place / MDS
        arrays["coordinates"] = load_file(path)["coordinates"]
    except FileNotFoundError:
        raise RunError(f"{shown(place)} has no {CHARTS} and no {path.name}: run posgeom analyze --out again") from None
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, SafetensorError, AttributeError) as error:
        raise RunError(f"cannot read {shown(path)}: {one_line(error)}") from None
    for name in ("positions", "depth", "plugin_squared"):
        if name not in arrays:
            raise RunError(f"{shown(place / DISTANCES)} has no {name}: run posgeom analyze --out again")
    for name, array in arrays.items():
        if array.dtype.kind not in "if" or not np.isfinite(array).all():
            raise RunError(f"{shown(place)}: its {name} are not all finite numbers: run posgeom analyze --out again")
    return arrays
