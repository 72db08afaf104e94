"""What a model's own positions look like: its scheme, its table row by row, distance by lag."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.bias_encoding import BiasEncoding
from posgeom.errors import CheckpointError, EncodingError
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.messages import shown
from posgeom.models.by_hand import ByHand
from posgeom.models.encoding import model_encoding
from posgeom.models.family import LearnedBias, PositionTable, Stack
from posgeom.models.layer_types import layer_parts
from posgeom.models.model import Model, open_model
from posgeom.models.position_rows import PositionRows, read_positions
from posgeom.models.relative_kinds import WindowBias
from posgeom.models.schemes import describe
from posgeom.scores.effective_rank import effective_rank
from posgeom.scores.separation import Separation, minimum_separation

DEFAULT_LENGTH = 512
"""Positions looked at of a scheme that has no table, or fewer where its config has fewer."""


@dataclass(frozen=True)
class LagProfile:
    """Distance as a function of the lag.

    Attributes
    ----------
    mean : tuple of float
        Mean distance of the pairs at lag 1, 2, ...
    std : tuple of float
        Standard deviation over those pairs: 0 where distance is a function of the lag.
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]


@dataclass(frozen=True)
class Measures:
    """Measures of the vectors of some positions.

    Attributes
    ----------
    first, last : int
        The positions measured.
    norm_min, norm_median, norm_max : float
        Of |p_i|.
    separation : Separation
        Smallest distance between two of them, and the pair.
    singular_values : tuple of float
        Of the centred vectors, in decreasing order.
    effective_rank : float
        Exponential of their entropy.
    smoothness : float or None
        Mean distance of neighbours over the mean distance of all pairs; near 1 without order. None where all coincide.
    neighbour_cosine : float or None
        Mean cosine of neighbours after centring; near 0 without order. None where one lies at the mean.
    lags : LagProfile
        On a grid, pairs in the same row of it.
    column_lags : LagProfile or None
        On a grid, pairs in the same column.
    """

    first: int
    last: int
    norm_min: float
    norm_median: float
    norm_max: float
    separation: Separation
    singular_values: tuple[float, ...]
    effective_rank: float
    smoothness: float | None
    neighbour_cosine: float | None
    lags: LagProfile
    column_lags: LagProfile | None


@dataclass(frozen=True, eq=False)
class StackReport:
    """What is known of one stack's positions.

    Attributes
    ----------
    name, scheme : str
        Scheme: learned, sinusoidal, rotary, alibi, t5, deberta, transformer-xl, swin or none.
    details : mapping
        Settings of the scheme; JSON-serialisable.
    also : tuple of mapping
        Further schemes beside it.
    rows : PositionRows or None
        Where there is a table.
    measures : Measures or None
        Of its trained positions, None where fewer than two are; or of a window, from its bias.
    lag_distances : tuple of float or None
        Distance at lag 1, 2, ... of a scheme that is a function of the lag, of the form in `details`.
    negative_mass : float or None
        Share of the spectrum of a bias that no distances can have.
    sizes : mapping
        Layers, width, heads.
    layer_type : str or None
        Layers that it is about, where a stack has several types of them.
    layers : tuple of int or None
        Their numbers, where the config tells.
    """

    name: str
    scheme: str
    details: Mapping[str, Any]
    also: tuple[Mapping[str, Any], ...]
    rows: PositionRows | None
    measures: Measures | None
    lag_distances: tuple[float, ...] | None
    negative_mass: float | None
    sizes: Mapping[str, int | None]
    layer_type: str | None = None
    layers: tuple[int, ...] | None = None


@dataclass(frozen=True, eq=False)
class Inspection:
    """What a model's checkpoint says of position.

    Attributes
    ----------
    name : str
    model_type : str or None
    architectures : tuple of str
    stacks : tuple of StackReport
        One for each type of layers.
    bytes_read : int
        Bytes of tensors that this took.
    notes : tuple of str
        What the checkpoint's own words leave in doubt.
    """

    name: str
    model_type: str | None
    architectures: tuple[str, ...]
    stacks: tuple[StackReport, ...]
    bytes_read: int
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Inspection {self.name}: {', '.join(f'{s.name} {s.scheme}' for s in self.stacks)}>"


def inspect_model(model: str | Path, *, n_positions: int | None = None, by_hand: ByHand | None = None) -> Inspection:
    """Look at a model's positions; only the tensors that hold them are read.

    Parameters
    ----------
    model : str or Path
        A directory, a .safetensors file, or the name of a model on the hub.
    n_positions : int, optional
        Measure the first n positions. By default all trained ones of a table, and `DEFAULT_LENGTH` of a scheme without
        one.
    by_hand : ByHand, optional
        Position table of a model whose family is not known.

    Returns
    -------
    Inspection

    Raises
    ------
    PosgeomError
        When the checkpoint cannot be read, its family is not known, or it has fewer positions.
    """
    if n_positions is not None and n_positions < 2:
        raise CheckpointError(f"n = {n_positions}: expected at least 2 positions")
    opened = open_model(model, by_hand)
    parts = [(part, layers) for stack in opened.stacks for part, layers in layer_parts(stack, opened.checkpoint.name)]
    reports = tuple(_report(opened, part, layers, n_positions) for part, layers in parts)
    config = opened.checkpoint.config or {}
    given = config.get("architectures")
    names = tuple(str(name) for name in given) if isinstance(given, list) else ()
    notes = (*_config_notes(config), *(note for report in reports if report.rows for note in report.rows.notes))
    checkpoint = opened.checkpoint
    return Inspection(checkpoint.name, opened.model_type, names, reports, checkpoint.bytes_read, notes)


def _config_notes(config: Mapping[str, Any]) -> list[str]:
    notes = []
    if config.get("auto_map"):
        notes.append("its config names code of its own (auto_map), which is not run and may treat positions otherwise")
    if config.get("quantization_config"):
        notes.append("its config says that weights are quantised; tensors are dequantised by row or refused")
    return notes


def _report(model: Model, stack: Stack, layers: tuple[int, ...] | None, n_positions: int | None) -> StackReport:
    rows = measures = lag_distances = negative_mass = None
    if isinstance(stack.positions, PositionTable):
        rows = read_positions(model.tensors, stack.positions)
        measures = _measure_rows(model, rows, n_positions)
    elif not isinstance(stack.positions, LearnedBias) or model.checkpoint.names:
        length = min(stack.n_positions or DEFAULT_LENGTH, DEFAULT_LENGTH) if n_positions is None else n_positions
        encoding = model_encoding(model, stack, max(length, 2))
        negative_mass = encoding.negative_mass
        if isinstance(stack.positions, WindowBias):
            measures = _measure_window(encoding, stack.positions.window)
        else:
            lag_distances = _by_lag(encoding)
    return StackReport(
        stack.name,
        stack.positions.kind if rows is None else rows.kind,
        describe(stack.positions, model.tensors),
        tuple({"scheme": p.kind} | describe(p, model.tensors) for p in stack.also),
        rows,
        measures,
        lag_distances,
        negative_mass,
        {
            "n_layers": stack.n_layers or None,
            "n_uses": stack.n_uses,
            "width": stack.width,
            "n_heads": stack.n_heads,
            "n_key_heads": stack.n_key_heads,
            "head_dim": stack.head_dim,
            "n_positions": rows.points.shape[0] if rows is not None else stack.n_positions,
        }
        if stack.layout is not None
        else {"width": stack.width, "n_positions": stack.n_positions if rows is None else rows.points.shape[0]},
        getattr(stack.positions, "layer_type", None),
        layers,
    )


def _measure_window(encoding: Encoding, window: int) -> Measures | None:
    """Measures of the coordinates that a window's bias has as distances."""
    points = encoding.coordinates()
    if points is None:
        return None
    return measure(points, grid=(window, window) if points.shape[0] == window**2 else None)


def _by_lag(encoding: Encoding) -> tuple[float, ...] | None:
    """Distance at lag 1, 2, ...; of an MDS of a function of the lag, the mean over pairs."""
    values = encoding.lag_distances()
    if values is not None:
        return tuple(values[1:].tolist())
    if isinstance(encoding, BiasEncoding):
        return lag_profile(encoding.distances()).mean
    return None


def _measure_rows(model: Model, rows: PositionRows, n_positions: int | None) -> Measures | None:
    last = rows.n_trained if n_positions is None else n_positions
    n_rows = rows.points.shape[0]
    if last > n_rows:
        raise EncodingError(f"{shown(model.checkpoint.name)} has {n_rows} positions, n = {last} was asked for")
    last = min(last, rows.n_trained)
    if last - rows.n_special < 2:
        return None
    grid = rows.grid if last == n_rows else None
    return measure(rows.points[rows.n_special : last], first=rows.n_special, grid=grid)


def measure(points: NDArray[np.float64], *, first: int = 0, grid: tuple[int, int] | None = None) -> Measures:
    """Measure the vectors of successive positions.

    Shapes: `points` (m, d).
    """
    norms = np.linalg.norm(points, axis=1)
    distances = euclidean_distances(points)
    positions = np.arange(first, first + points.shape[0])
    centred = points - points.mean(axis=0)
    values = np.linalg.svd(centred, compute_uv=False)
    cells = np.arange(points.shape[0]).reshape(grid or (1, -1))
    return Measures(
        first=first,
        last=int(positions[-1]),
        norm_min=float(norms.min()),
        norm_median=float(np.median(norms)),
        norm_max=float(norms.max()),
        separation=minimum_separation(distances, positions),
        singular_values=tuple(values.tolist()),
        effective_rank=effective_rank(values),
        smoothness=_smoothness(distances),
        neighbour_cosine=_neighbour_cosine(centred),
        lags=lag_profile(distances, cells),
        column_lags=None if grid is None else lag_profile(distances, cells.T),
    )


def lag_profile(distances: NDArray[np.float64], runs: NDArray[np.int64] | None = None) -> LagProfile:
    """Mean and standard deviation of distances at each lag.

    Shapes: `distances` (m, m), `runs` (k, length).
    """
    cells = np.arange(distances.shape[0])[None] if runs is None else runs
    means, stds = [], []
    for lag in range(1, cells.shape[1]):
        values = distances[cells[:, :-lag], cells[:, lag:]]
        means.append(float(values.mean()))
        stds.append(float(values.std()))
    return LagProfile(tuple(means), tuple(stds))


def _smoothness(distances: NDArray[np.float64]) -> float | None:
    m = distances.shape[0]
    mean = float(distances.sum()) / (m * (m - 1))
    return float(np.diagonal(distances, 1).mean()) / mean if mean > 0 else None


def _neighbour_cosine(centred: NDArray[np.float64]) -> float | None:
    norms = np.linalg.norm(centred, axis=1)
    if not (norms > 1e-12 * max(float(norms.max()), 1e-300)).all():
        return None
    return float(((centred[1:] * centred[:-1]).sum(axis=1) / (norms[1:] * norms[:-1])).mean())
