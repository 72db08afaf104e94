"""A model's own positions as an encoding: the scheme ``model``, as in ``model:PATH``."""

from functools import singledispatch
from typing import Any, Literal

from posgeom.encodings.alibi import alibi
from posgeom.encodings.base import Encoding
from posgeom.encodings.bias_encoding import BiasEncoding, BiasForm
from posgeom.encodings.checks import check_head, check_n_positions
from posgeom.encodings.learned import learned
from posgeom.encodings.nope import nope
from posgeom.encodings.relative import swin
from posgeom.encodings.rope_config import rope_from_config
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.encodings.t5 import t5
from posgeom.errors import EncodingError
from posgeom.messages import printable, shown
from posgeom.models.by_hand import ByHand
from posgeom.models.config import errors_name
from posgeom.models.family import Alibi, NoPositions, PositionTable, Rotary, Sinusoids, Stack, T5Bias
from posgeom.models.model import Model, open_model
from posgeom.models.position_rows import read_positions
from posgeom.models.relative_bias import expected_bias, window_table
from posgeom.models.relative_kinds import Disentangled, RelativeSines, WindowBias

Form = Literal["orbit", "zscore", "linear", "kernel", "mds"]


def model(
    n_positions: int,
    *,
    path: str,
    stack: str | None = None,
    tensor: str | None = None,
    offset: int = 0,
    untrained: Literal["refuse", "keep"] = "refuse",
    form: Form | None = None,
    head: int | None = None,
    layer: int | None = None,
    layer_type: str | None = None,
) -> Encoding:
    """A trained model's own positions, read from its checkpoint.

    Parameters
    ----------
    n_positions : int
        Context length n.
    path : str
        A model directory, a .safetensors or .gguf file, a config.json, or a hub name.
    stack : str, optional
        Such as decoder, vision or stage2; by default the first.
    tensor : str, optional
        Position table by its stored name, of a model whose family is not known.
    offset : int
        With tensor: rows before that of position 0.
    untrained : {"refuse", "keep"}
        What to do where n reaches rows that look as they were initialised.
    form : {"orbit", "zscore", "linear", "kernel", "mds"}, optional
        How rotations or biases become distances, as in rope, alibi and t5.
    head : int, optional
        Of a bias: one head, from 0. By default all of them side by side.
    layer : int, optional
        Of a bias that each layer has its own of: which, from 0; by default the first.
    layer_type : str, optional
        Such as sliding_attention, where layers rotate differently.

    Returns
    -------
    Encoding

    Raises
    ------
    PosgeomError
        When the checkpoint cannot be read, has no such part, or has fewer positions.
    """
    opened = open_model(path, ByHand(tensor=tensor, offset=offset))
    chosen = {"form": form, "head": head, "layer": layer, "layer_type": layer_type}
    options = {name: value for name, value in chosen.items() if value is not None}
    return model_encoding(opened, opened.stack(stack), n_positions, untrained=untrained, **options)


def model_encoding(
    model: Model, stack: Stack, n_positions: int, *, untrained: Literal["refuse", "keep"] = "refuse", **options: Any
) -> Encoding:
    """The encoding of a stack of a model."""
    positions = stack.positions
    for name in options:
        if name not in _OPTIONS[type(positions)]:
            raise EncodingError(
                f"{shown(model.checkpoint.name)} has positions of kind {positions.kind}, which have no option {name}"
            )
    if "layer" in options:
        _check_layer(model, stack, options["layer"])
    if isinstance(positions, PositionTable):
        options["untrained"] = untrained
    return _build(positions, model, n_positions, **options)


def _check_layer(model: Model, stack: Stack, layer: int) -> None:
    if isinstance(stack.positions, T5Bias) and not stack.positions.n_layers:
        raise EncodingError(f"{shown(model.checkpoint.name)} has one bias for all layers: leave layer={layer} out")
    if not 0 <= layer < stack.n_layers:
        raise EncodingError(f"{shown(model.checkpoint.name)} layer {layer}: expected 0 to {stack.n_layers - 1}")


_OPTIONS = {
    PositionTable: (),
    Rotary: ("form", "layer_type"),
    Sinusoids: (),
    Alibi: ("form", "head"),
    T5Bias: ("form", "head", "layer"),
    WindowBias: ("form", "head", "layer"),
    Disentangled: ("form", "head", "layer"),
    RelativeSines: ("form", "head", "layer"),
    NoPositions: (),
}
"""Options of each kind of positions."""


@singledispatch
def _build(positions: object, model: Model, n_positions: int, **options: Any) -> Encoding:  # noqa: ARG001
    raise TypeError(f"positions of type {type(positions).__name__}: expected one of those in posgeom.models.family")


@_build.register
def _(positions: PositionTable, model: Model, n_positions: int, *, untrained: str) -> Encoding:
    rows = read_positions(model.tensors, positions)
    name, n_rows = shown(model.checkpoint.name), rows.points.shape[0]
    if n_positions > n_rows:
        raise EncodingError(f"{name} has {n_rows} positions, n = {n_positions} was asked for: use -n {n_rows}")
    if untrained == "refuse" and rows.untrained is not None and n_positions > rows.n_trained:
        usable = f"use -n {rows.n_trained}, or say" if rows.n_trained > 1 else "say"
        raise EncodingError(
            f"{name}: positions from {rows.n_trained} on are untrained ({rows.untrained.rule}): {usable} untrained=keep"
        )
    return learned(rows.points, n_positions=n_positions, name=printable(model.checkpoint.name))


@_build.register
def _(positions: Rotary, model: Model, n_positions: int, **options: Any) -> Encoding:
    chosen = {"layer_type": positions.layer_type} | options
    with errors_name(model.checkpoint.name):
        return rope_from_config(positions.config, n_positions, pairing=positions.pairing, **chosen)


@_build.register
def _(positions: Sinusoids, model: Model, n_positions: int) -> Encoding:  # noqa: ARG001
    return sinusoidal(n_positions, positions.width, **positions.options)


@_build.register
def _(positions: Alibi, model: Model, n_positions: int, **options: Any) -> Encoding:  # noqa: ARG001
    form = options.pop("form", "kernel")
    return alibi(
        n_positions,
        form=form,
        heads=positions.n_heads,
        causal=positions.causal,
        max_bias=positions.max_bias,
        scale=positions.scale,
        **options,
    )


@_build.register
def _(positions: T5Bias, model: Model, n_positions: int, *, layer: int = 0, **options: Any) -> Encoding:
    checkpoint = model.checkpoint
    table = checkpoint.read(checkpoint.locate(positions.tensor.format(layer=layer), model.tensors.prefixes))
    return t5(n_positions, table=table, max_distance=positions.max_distance, causal=positions.causal, **options)


@_build.register
def _(positions: WindowBias, model: Model, n_positions: int, *, layer: int = 0, **options: Any) -> Encoding:
    table = window_table(positions, model.tensors, layer)
    return swin(n_positions, table=table, grid=(positions.window, positions.window), **options)


@_build.register(Disentangled)
@_build.register(RelativeSines)
def _(
    positions: Disentangled | RelativeSines,
    model: Model,
    n_positions: int,
    *,
    layer: int = 0,
    form: BiasForm = "mds",
    head: int | None = None,
) -> Encoding:
    check_n_positions("model", n_positions)
    check_head("model", head, positions.heads.n_heads)
    bias = expected_bias(positions, model.tensors, layer, n_positions, head)
    return BiasEncoding(printable(model.checkpoint.name), n_positions, bias, form)


@_build.register
def _(positions: NoPositions, model: Model, n_positions: int) -> Encoding:  # noqa: ARG001
    return nope(n_positions, 1)
