"""The settings of a model's positional scheme, as plain values."""

from dataclasses import asdict
from functools import singledispatch
from typing import Any

from posgeom.encodings.alibi import alibi_slopes
from posgeom.encodings.catalog import plain
from posgeom.encodings.rope_config import read_rope_config
from posgeom.encodings.rotation import Temperature
from posgeom.models.config import errors_name
from posgeom.models.family import Alibi, NoPositions, PositionTable, Rotary, Sinusoids, T5Bias
from posgeom.models.query_key import Tensors
from posgeom.models.relative_kinds import Disentangled, RelativeSines, WindowBias


@singledispatch
def describe(positions: object, tensors: Tensors) -> dict[str, Any]:  # noqa: ARG001
    """Settings of a scheme."""
    raise TypeError(f"positions of type {type(positions).__name__}: expected one of those in posgeom.models.family")


@describe.register
def _(positions: PositionTable, tensors: Tensors) -> dict[str, Any]:  # noqa: ARG001
    return {
        "tensor": positions.tensor,
        "n_positions": positions.n_positions,
        "offset": positions.offset,
        "initial_std": positions.initial_std,
        "projection": positions.projection,
    }


@describe.register
def _(positions: Rotary, tensors: Tensors) -> dict[str, Any]:
    with errors_name(tensors.checkpoint.name):
        settings = read_rope_config(positions.config, layer_type=positions.layer_type)
    return {
        "base": settings.base,
        "head_dim": settings.n_dims,
        "rotated_share": settings.partial,
        "pairing": positions.pairing or settings.pairing,
        "scaling": plain(settings.scaling),
        "temperature": _plain_temperature(settings.temperature),
        "mrope": None if settings.mrope is None else list(settings.mrope),
        "mrope_order": settings.mrope_order,
        "form": "orbit",
    }


def _plain_temperature(temperature: Temperature | None) -> dict[str, float] | None:
    return None if temperature is None else asdict(temperature)


@describe.register
def _(positions: Sinusoids, tensors: Tensors) -> dict[str, Any]:  # noqa: ARG001
    return {"width": positions.width, "projection": None, **positions.options}


@describe.register
def _(positions: Alibi, tensors: Tensors) -> dict[str, Any]:  # noqa: ARG001
    slopes = positions.scale * alibi_slopes(positions.n_heads, max_bias=positions.max_bias)
    return {"n_heads": positions.n_heads, "max_bias": positions.max_bias, "slopes": slopes.tolist(), "form": "kernel"}


@describe.register
def _(positions: T5Bias, tensors: Tensors) -> dict[str, Any]:
    stored, buckets, heads = positions.tensor.format(layer=0), positions.n_buckets, positions.n_heads
    if tensors.checkpoint.names or buckets is None:
        stored = tensors.checkpoint.locate(stored, tensors.prefixes)
        buckets, heads = tensors.checkpoint.entry(stored).shape
    return {
        "tensor": stored,
        "n_buckets": buckets,
        "n_heads": heads,
        "max_distance": positions.max_distance,
        "causal": positions.causal,
        "n_tables": positions.n_layers or 1,
        "form": "mds",
    }


@describe.register
def _(positions: Disentangled, tensors: Tensors) -> dict[str, Any]:  # noqa: ARG001
    return {
        "tensor": positions.tensor,
        "n_buckets": positions.n_buckets,
        "max_distance": positions.max_distance or None,
        "content_to_position": positions.for_queries is not None,
        "position_to_content": positions.for_keys is not None,
        "convolution": positions.convolution or None,
        "n_heads": positions.heads.n_heads,
        "form": "mds",
    }


@describe.register
def _(positions: RelativeSines, tensors: Tensors) -> dict[str, Any]:  # noqa: ARG001
    heads = positions.heads
    return {
        "width": heads.width,
        "clamp": positions.clamp,
        "causal": positions.causal,
        "n_heads": heads.n_heads,
        "form": "mds",
    }


@describe.register
def _(positions: WindowBias, tensors: Tensors) -> dict[str, Any]:  # noqa: ARG001
    return {
        "tensor": positions.tensor.format(layer=0),
        "window": positions.window,
        "n_heads": positions.n_heads,
        "n_tables": positions.n_layers,
        "computed": positions.reach is not None,
        "form": "mds",
    }


@describe.register
def _(positions: NoPositions, tensors: Tensors) -> dict[str, Any]:  # noqa: ARG001
    return {"temperature": _plain_temperature(positions.temperature)}
