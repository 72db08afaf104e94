"""A model layer by layer: its query-key products against the geometry of a corpus, with a fresh copy beside them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.registry import build_encoding
from posgeom.errors import CheckpointError, EncodingError
from posgeom.estimation.build import Geometry
from posgeom.frames import Framed
from posgeom.inference.alignment import targets_of, why_undefined
from posgeom.messages import printable, shown
from posgeom.models.encoding import model_encoding
from posgeom.models.family import PositionTable, Stack
from posgeom.models.head_kernels import kernel_maker
from posgeom.models.initial import initial_query_key, initial_table
from posgeom.models.model import Model
from posgeom.models.position_rows import read_positions
from posgeom.models.projection import ProjectionScores, score_projection
from posgeom.models.query_key import QueryKey
from posgeom.models.rotary_kernel import HeadKernel, TokenFrequencies
from posgeom.progress import ProgressHook, silent
from posgeom.tables import Table

Weights = Literal["trained", "initial"]


@dataclass(frozen=True, slots=True)
class LayerRow:
    """Scores of one layer, or of one of its heads.

    Attributes
    ----------
    layer : int
    head : int or None
        None for the whole layer: M summed over its heads.
    weights : {"trained", "initial"}
        Those of the checkpoint, or of a fresh copy.
    scores : ProjectionScores
    """

    layer: int
    head: int | None
    weights: Weights
    scores: ProjectionScores


@dataclass(frozen=True, eq=False)
class LayerAnalysis(Framed):
    """A model's layers against a geometry.

    Attributes
    ----------
    model : Model
    stack : Stack
    geometry : Geometry
    input : str
        The encoding P that is projected.
    seed : int
        Of the fresh copy.
    rows : tuple of LayerRow
    kernels : tuple of HeadKernel
        Position kernels of the heads of a model that rotates, or has vectors of the lag.
    content : str or None
        What those kernels are a mean over.
    notes : tuple of str
    """

    model: Model
    stack: Stack
    geometry: Geometry
    input: str
    seed: int
    rows: tuple[LayerRow, ...]
    kernels: tuple[HeadKernel, ...]
    content: str | None
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<LayerAnalysis of {self.model.checkpoint.name}: {self.stack.n_layers} layers, input {self.input}>"

    def row(self, layer: int, head: int | None = None, weights: Weights = "trained") -> ProjectionScores:
        """Scores of one layer or head."""
        for row in self.rows:
            if (row.layer, row.head, row.weights) == (layer, head, weights):
                return row.scores
        raise KeyError(f"no {weights} layer {layer}, head {head}")

    def _repr_html_(self) -> str:
        keys = ("layer", "weights", "alignment", "stress_scaled", "stress_raw", "pearson")
        rows = [[row[key] for key in keys] for row in self.to_dicts() if row["head"] is None]
        caption = f"{self.stack.name}: P M by layer, P {self.input}; higher alignment: more faithful"
        return Table.of(caption, [key.replace("_", " ") for key in keys], rows).to_html()

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain dictionary per row, for JSON, Parquet or a data frame."""
        return [
            {"layer": row.layer, "head": row.head, "weights": row.weights}
            | {name: getattr(row.scores, name) for name in ProjectionScores.__slots__}
            for row in self.rows
        ]


def layer_scores(
    model: Model,
    geometry: Geometry,
    *,
    stack: str | None = None,
    input: str | None = None,  # noqa: A002  the word of the command line
    frequencies: TokenFrequencies | None = None,
    initial: bool = True,
    heads: bool = True,
    seed: int = 0,
    progress: ProgressHook = silent,
) -> LayerAnalysis:
    """Project an encoding P by each layer's M = W_Q^T W_K and score P M against a geometry.

    M has the weights alone, without biases, norms and the division by sqrt(head_dim), as in the paper. The raw stress
    follows the norm of M, which is why a fresh copy of the same sizes is scored beside it.

    Parameters
    ----------
    model : Model
    geometry : Geometry
    stack : str, optional
        Such as ``"decoder"``; by default the first.
    input : str, optional
        ``"sinusoidal"``, ``"own"`` (the model's table, as the first layer gets it), or the spec of any scheme with
        coordinates. By default the model's own table where it has one.
    frequencies : TokenFrequencies, optional
        Content of the position kernels; by default every token counts the same.
    initial : bool
        Whether to score a fresh copy too.
    heads : bool
        Whether to score each head, beside the whole layer.
    seed : int
    progress : callable
        Called as ``progress("layers", done, total)``.

    Returns
    -------
    LayerAnalysis

    Raises
    ------
    PosgeomError
        When weights are missing, or P does not fit the layers.
    """
    chosen = model.stack(stack)
    if chosen.layout is None or chosen.n_layers < 1:
        raise CheckpointError(
            f"{shown(model.checkpoint.name)}: name its query and key projections, with --query and --key"
        )
    name = input or ("own" if isinstance(chosen.positions, PositionTable) else "sinusoidal")
    points = {"trained": _points(model, chosen, geometry, name, seed)}
    points["initial"] = _initial_points(model, chosen, geometry, name, seed, points["trained"])
    rows: list[LayerRow] = []
    kernels: list[HeadKernel] = []
    kernel_of = kernel_maker(model, chosen, geometry.n_positions, frequencies)
    (target,) = targets_of(geometry, why_undefined(geometry))
    for layer in range(chosen.n_layers):
        progress("layers", layer, chosen.n_layers)
        trained = model.query_key(chosen, layer)
        copies: dict[Weights, QueryKey] = {"trained": trained}
        if initial:
            copies["initial"] = initial_query_key(chosen, layer, seed)
        for weights, projections in copies.items():
            for head, query, key in _parts(projections, heads=heads):
                scores = score_projection(points[weights], query, key, target, geometry.positions)
                rows.append(LayerRow(layer, head, weights, scores))
        kernels += kernel_of(layer, trained) if kernel_of else []
    progress("layers", chosen.n_layers, chosen.n_layers)
    content = None if kernel_of is None else _content_text(frequencies)
    notes = _notes(chosen, name, has_kernels=kernel_of is not None)
    return LayerAnalysis(model, chosen, geometry, printable(name), seed, tuple(rows), tuple(kernels), content, notes)


def _parts(
    projections: QueryKey, *, heads: bool
) -> Iterator[tuple[int | None, NDArray[np.float64], NDArray[np.float64]]]:
    """The whole layer, then each head where wanted: rows of W_Q and W_K, the key head of a group repeated."""
    yield None, *projections.whole
    if heads:
        for head, (query, key) in enumerate(zip(projections.query, projections.keys_by_head, strict=True)):
            yield head, query, key


def _points(model: Model, stack: Stack, geometry: Geometry, name: str, seed: int) -> NDArray[np.float64]:
    """The rows of P at the positions of the geometry, in the width of the layers."""
    positions = geometry.distances.positions
    if name == "own":
        if not isinstance(stack.positions, PositionTable):
            raise EncodingError(
                f"{shown(model.checkpoint.name)} has positions of kind {stack.positions.kind}, no table of its own: "
                "choose another --input, such as sinusoidal"
            )
        encoding = model_encoding(model, stack, geometry.n_positions, untrained="keep")
        _check_trained(model, stack.positions, positions)
    else:
        encoding = build_encoding(
            name, n_positions=geometry.n_positions, n_dims=stack.width, geometry=geometry, seed=seed
        )
    points = encoding.coordinates(positions)
    if points is None:
        raise EncodingError(f"encoding {printable(name)} has no coordinates, which a layer could project")
    projection = stack.positions.projection if isinstance(stack.positions, PositionTable) and name == "own" else None
    if projection is not None:
        points = points @ model.tensors.read(f"{projection}.weight", (stack.width, points.shape[1])).T
    if points.shape[1] != stack.width:
        raise EncodingError(
            f"encoding {printable(name)} has {points.shape[1]} dimensions, the layers of "
            f"{shown(model.checkpoint.name)} take {stack.width}"
        )
    return points


def _check_trained(model: Model, table: PositionTable, positions: NDArray[np.int64]) -> None:
    tail = read_positions(model.tensors, table).untrained
    if tail is not None and positions[-1] >= tail.start:
        raise CheckpointError(
            f"{shown(model.checkpoint.name)}: positions from {tail.start} on are untrained ({tail.rule}), and the "
            f"geometry has position {positions[-1]}: count with -n {max(tail.start, 2)}, or choose another --input"
        )


def _initial_points(
    model: Model, stack: Stack, geometry: Geometry, name: str, seed: int, trained: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What a fresh copy gets: a fresh table where P is the model's own, else the same P."""
    table = stack.positions
    if name != "own" or not isinstance(table, PositionTable):
        return trained
    stored = model.checkpoint.locate(table.tensor, model.tensors.prefixes)
    shape = (geometry.n_positions, model.checkpoint.entry(stored).shape[-1])
    drawn = initial_table(table, shape, stack.width, seed)
    return trained if drawn is None else drawn[geometry.distances.positions]


def _content_text(frequencies: TokenFrequencies | None) -> str:
    if frequencies is None:
        return "every token of the vocabulary alike"
    return f"{frequencies.tokens.size:,} tokens by their frequency in the counts"


def _notes(stack: Stack, name: str, *, has_kernels: bool) -> tuple[str, ...]:
    notes = [
        (
            "Raw stress follows the norm of M: compare with the fresh copy, and layers by alignment. That is a "
            "diagnostic of faithfulness; a higher alignment is not a better model."
        )
    ]
    if name != "own" and not isinstance(stack.positions, PositionTable):
        notes.append(
            f"This model adds no vectors to its embeddings: {printable(name)} is an input that its layers never see, "
            "which asks what they would make of it."
        )
    if has_kernels:
        notes.append(
            "The position kernel is E[q_i . k_j] over independent tokens. In the first layer it is exact; in deeper "
            "ones the token's embedding stands in for the hidden state."
        )
    if stack.n_uses:
        notes.append(f"Weights are shared: {stack.n_layers} set(s) of them are used by {stack.n_uses} layers.")
    return tuple(notes)


def frequencies_of(tokens: NDArray[np.int64], counts: NDArray[np.int64]) -> TokenFrequencies | None:
    """Frequencies from counts, repeated tokens summed; None without any.

    Shapes: `tokens, counts` (k,).
    """
    if not tokens.size:
        return None
    distinct, place = np.unique(tokens, return_inverse=True)
    totals = np.bincount(place, weights=counts.astype(np.float64))
    return TokenFrequencies(distinct, totals / totals.sum())
