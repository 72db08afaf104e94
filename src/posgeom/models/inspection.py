"""What a model's own positions look like: its scheme, its table row by row, distance by lag."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from posgeom.encodings.base import Encoding
from posgeom.encodings.bias_encoding import BiasEncoding
from posgeom.errors import CheckpointError, EncodingError
from posgeom.messages import shown
from posgeom.models.by_hand import ByHand
from posgeom.models.encoding import model_encoding
from posgeom.models.family import LearnedBias, PositionTable, Stack
from posgeom.models.layer_types import layer_parts
from posgeom.models.model import Model, open_model
from posgeom.models.position_rows import PositionRows, read_positions
from posgeom.models.relative_kinds import WindowBias
from posgeom.models.schemes import describe
from posgeom.models.table_measures import Measures, lag_profile, measure

DEFAULT_LENGTH = 512
"""Positions looked at of a scheme that has no table, or fewer where its config has fewer."""
_LEARNED = LearnedBias | PositionTable


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
    notes = []
    if not opened.checkpoint.names and any(isinstance(part.positions, _LEARNED) for part, _ in parts):
        notes.append(f"{shown(opened.checkpoint.name)} has no weights: what is learned is told by its config alone")
    notes += [*_config_notes(config), *(note for report in reports if report.rows for note in report.rows.notes)]
    checkpoint = opened.checkpoint
    return Inspection(checkpoint.name, opened.model_type, names, reports, checkpoint.bytes_read, tuple(notes))


def _config_notes(config: Mapping[str, Any]) -> list[str]:
    notes = []
    if config.get("auto_map"):
        notes.append("its config names code of its own (auto_map), which is not run and may treat positions otherwise")
    if config.get("quantization_config"):
        notes.append("its config says that weights are quantised; tensors are dequantised by row or refused")
    return notes


def _report(model: Model, stack: Stack, layers: tuple[int, ...] | None, n_positions: int | None) -> StackReport:
    rows = measures = lag_distances = negative_mass = None
    positions, known = stack.positions, stack.n_positions
    if not model.checkpoint.names and isinstance(positions, PositionTable):
        known = positions.n_positions
    elif isinstance(positions, PositionTable):
        rows = read_positions(model.tensors, positions)
        known = rows.points.shape[0]
        measures = _measure_rows(model, rows, n_positions)
    elif model.checkpoint.names or not isinstance(positions, LearnedBias):
        length = min(known or DEFAULT_LENGTH, DEFAULT_LENGTH) if n_positions is None else n_positions
        encoding = model_encoding(model, stack, max(length, 2))
        negative_mass = encoding.negative_mass
        if isinstance(positions, WindowBias):
            measures = _measure_window(encoding, positions.window)
        else:
            lag_distances = _by_lag(encoding)
    sizes: dict[str, int | None] = {"width": stack.width, "n_positions": known}
    if stack.layout is not None:
        heads = {"n_heads": stack.n_heads, "n_key_heads": stack.n_key_heads, "head_dim": stack.head_dim}
        sizes |= {"n_layers": stack.n_layers or None, "n_uses": stack.n_uses} | heads
    return StackReport(
        stack.name,
        positions.kind if rows is None else rows.kind,
        describe(positions, model.tensors),
        tuple({"scheme": p.kind} | describe(p, model.tensors) for p in stack.also),
        rows,
        measures,
        lag_distances,
        negative_mass,
        sizes,
        getattr(positions, "layer_type", None),
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
