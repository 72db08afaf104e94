"""Rotary options from a Hugging Face model config, in its older and newer keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from posgeom.encodings.base import Encoding
from posgeom.encodings.config_values import RotaryValues, first, load_config, number, whole
from posgeom.encodings.rope import rope
from posgeom.encodings.rotary_scaling import DynamicNTK, Linear, Llama3, LongRope, Proportional, Scaling, Yarn
from posgeom.encodings.rotation import Pairing
from posgeom.encodings.tables import Table
from posgeom.errors import EncodingError
from posgeom.messages import shown, shown_list

DEFAULT_THETA = 10000.0
_THETAS = ("rope_theta", "global_rope_theta", "rotary_emb_base")
_LAYER_BASES = {"rope_local_base_freq": "sliding_attention", "local_rope_theta": "sliding_attention"}
_OLD_NAMES = {"su": "longrope", "mrope": "default"}


@dataclass(frozen=True)
class RopeSettings:
    """What a config says of its rotary embedding, as options of `rope`.

    Attributes
    ----------
    n_dims : int
        Width of a head.
    base : float
    partial : float
    scaling : Scaling or None
    layer_type : str or None
        Layers that it holds for, where they differ.
    """

    n_dims: int
    base: float
    partial: float
    scaling: Scaling | None
    layer_type: str | None


def rope_from_config(
    config: Mapping[str, Any] | str | Path,
    n_positions: int,
    *,
    layer_type: str | None = None,
    pairing: Pairing | None = None,
    offset: int = 0,
    reference: Literal["unit", "gaussian"] | Table = "unit",
    key: Table | None = None,
    form: Literal["orbit", "kernel", "mds"] = "orbit",
    seed: int = 0,
) -> Encoding:
    """Rotary embedding as a model's Hugging Face config says; its width is that of a head, whatever -d.

    Parameters
    ----------
    config : mapping, str or Path
        A config as a dictionary, or its ``config.json``.
    n_positions : int
        Context length n.
    layer_type : str, optional
        Such as ``"sliding_attention"``, where layers have different bases.
    pairing : {"interleaved", "halves"}, optional
        No config says it; see `rope`.
    offset, reference, key, form, seed
        See `rope`.

    Returns
    -------
    Encoding

    Raises
    ------
    EncodingError
        When the config has no rotary embedding, lacks what its kind needs, or an option is out of range.

    Examples
    --------
    >>> rope_from_config({"head_dim": 64, "rope_theta": 500000.0}, 128)
    <Encoding rope: n = 128, d = 64>
    """
    settings = read_rope_config(config, layer_type=layer_type)
    return rope(
        n_positions,
        settings.n_dims,
        base=settings.base,
        pairing=pairing,
        partial=settings.partial,
        offset=offset,
        scaling=settings.scaling,
        reference=reference,
        key=key,
        form=form,
        seed=seed,
    )


def read_rope_config(config: Mapping[str, Any] | str | Path, *, layer_type: str | None = None) -> RopeSettings:
    """Read the rotary options of a config.

    ``rope_theta`` and ``partial_rotary_factor`` count at the top level or inside ``rope_parameters`` (or the older
    ``rope_scaling``), where they take precedence. Bases by layer are found in ``rope_parameters`` keyed by layer type,
    and in ``rope_local_base_freq`` or ``local_rope_theta``.

    Parameters
    ----------
    config : mapping, str or Path
    layer_type : str, optional

    Returns
    -------
    RopeSettings

    Raises
    ------
    EncodingError
        When the config has no rotary embedding, or lacks what its kind needs.
    """
    values = config if isinstance(config, Mapping) else load_config(Path(config))
    if not isinstance(values, Mapping):
        raise EncodingError(f"{shown(config)} holds {type(values).__name__}: expected a model config, an object")
    values = _text_part(values)
    parameters = _parameters_of(values, layer_type)
    base = first(parameters.get("rope_theta"), *(values.get(key) for key in _THETAS))
    if base is None and not parameters:
        raise EncodingError("config has neither rope_theta nor rope_parameters nor rope_scaling: no rotary embedding")
    partial = first(
        parameters.get("partial_rotary_factor"), values.get("partial_rotary_factor"), values.get("rotary_pct")
    )
    kind = parameters.get("rope_type") or parameters.get("type") or "default"
    kind = _OLD_NAMES.get(kind, kind) if isinstance(kind, str) else kind
    if not isinstance(kind, str) or kind not in _READERS:
        raise EncodingError(f"config has rope_type {shown(kind)}: expected one of {', '.join(_READERS)}")
    share = 1.0 if partial is None else number(partial, "partial_rotary_factor")
    return RopeSettings(
        n_dims=_head_dim(values),
        base=DEFAULT_THETA if base is None else number(base, "rope_theta"),
        partial=1.0 if kind == "proportional" else share,
        scaling=_READERS[kind](RotaryValues(parameters, values, kind)),
        layer_type=layer_type,
    )


def _text_part(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a multimodal config that describes the text model, where it has the rotary options."""
    part = values.get("text_config")
    own = any(values.get(key) for key in ("rope_theta", "rope_parameters", "rope_scaling"))
    return part if isinstance(part, Mapping) and not own else values


def _parameters_of(values: Mapping[str, Any], layer_type: str | None) -> Mapping[str, Any]:
    """The rotary parameters of a config, of one layer type where they differ."""
    parameters = values.get("rope_parameters") or values.get("rope_scaling") or {}
    if not isinstance(parameters, Mapping):
        raise EncodingError(f"config has rope_parameters of type {type(parameters).__name__}: expected an object")
    local = {layer: key for key, layer in _LAYER_BASES.items() if values.get(key) is not None}
    by_layer = [k for k, v in parameters.items() if isinstance(v, Mapping) or (v is None and "_attention" in k)]
    if by_layer:
        listed = shown_list(by_layer)
        if layer_type is None:
            raise EncodingError(f"config has rotary options by layer: say layer_type, one of {listed}")
        if layer_type not in by_layer:
            raise EncodingError(f"config has no layer type {shown(layer_type)}: it has {listed}")
        if parameters[layer_type] is None:
            raise EncodingError(f"config has no rotary embedding on its {layer_type} layers (none: use nope)")
        return dict(parameters[layer_type])
    if local and layer_type is None:
        raise EncodingError(
            f"config has {', '.join(local.values())}: say layer_type, full_attention or sliding_attention"
        )
    if layer_type in local:
        return {"rope_theta": values[local[layer_type]]}
    if layer_type is not None and not local:
        raise EncodingError(f"config has the same rotary options on all layers: leave layer_type={layer_type} out")
    if layer_type not in (None, "full_attention"):
        raise EncodingError(
            f"config has no layer type {shown(layer_type)}: expected full_attention or sliding_attention"
        )
    return parameters


def _head_dim(values: Mapping[str, Any]) -> int:
    for key in ("head_dim", "qk_rope_head_dim"):
        if values.get(key) is not None:
            return whole(values[key], key)
    hidden = first(values.get("hidden_size"), values.get("n_embd"))
    heads = first(values.get("num_attention_heads"), values.get("n_head"))
    if hidden is None or heads is None:
        raise EncodingError("config has neither head_dim nor hidden_size and num_attention_heads: no width of a head")
    return whole(hidden, "hidden_size") // whole(heads, "num_attention_heads")


def _yarn(values: RotaryValues) -> Scaling:
    mscale, over_all = values.number("mscale"), values.number("mscale_all_dim")
    both = bool(mscale and over_all)
    return Yarn(
        factor=values.factor(),
        original_length=values.original_length(),
        beta_fast=values.number("beta_fast") or 32.0,
        beta_slow=values.number("beta_slow") or 1.0,
        truncate=bool(first(values.parameters.get("truncate"), True)),
        attention_factor=values.number("attention_factor"),
        mscale=mscale if both else None,
        mscale_all_dim=over_all if both else None,
    )


def _longrope(values: RotaryValues) -> Scaling:
    return LongRope(
        short_factor=values.numbers("short_factor"),
        long_factor=values.numbers("long_factor"),
        original_length=values.original_length(),
        factor=values.factor(),
        attention_factor=values.number("attention_factor"),
    )


def _llama3(values: RotaryValues) -> Scaling:
    return Llama3(
        factor=values.need("factor"),
        low_freq_factor=values.need("low_freq_factor"),
        high_freq_factor=values.need("high_freq_factor"),
        original_length=values.original_length(),
    )


def _proportional(values: RotaryValues) -> Scaling:
    fraction, factor = values.number("partial_rotary_factor"), values.number("factor")
    return Proportional(fraction=1.0 if fraction is None else fraction, factor=1.0 if factor is None else factor)


_READERS = {
    "default": lambda values: None,  # noqa: ARG005
    "linear": lambda values: Linear(factor=values.need("factor")),
    "dynamic": lambda values: DynamicNTK(factor=values.need("factor"), original_length=values.max_length()),
    "yarn": _yarn,
    "longrope": _longrope,
    "llama3": _llama3,
    "proportional": _proportional,
}
