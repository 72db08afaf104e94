"""Rotary options from a Hugging Face model config, in its older and newer keys."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from posgeom.encodings.base import Encoding
from posgeom.encodings.config_values import first, load_config, number, whole
from posgeom.encodings.documentation import documented
from posgeom.encodings.rope import rope
from posgeom.encodings.rope_kinds import check_keys, kind_of, scaling_of
from posgeom.encodings.rope_layers import BLOCKS, LayerRule, layer_rules
from posgeom.encodings.rotary_families import FAMILIES, FULL, GENERIC, RotaryFamily
from posgeom.encodings.rotary_scaling import Scaling
from posgeom.encodings.rotation import Pairing, Temperature
from posgeom.encodings.tables import Table
from posgeom.encodings.warping import takes_warp
from posgeom.encodings.warps import Warp
from posgeom.errors import EncodingError
from posgeom.messages import shown, shown_list

_ROTARY_KEY = re.compile(
    r"rope|rotary|theta|alibi|ntk|yarn|head_dim|attn_temperature|scaling_beta|position_embedding_type"
)
_INERT = re.compile(r"(v|qk|qk_nope|index|linear|linear_key|linear_value|mamba|attention|cross)_head_dim$")
"""Widths of what is not rotated."""


@dataclass(frozen=True)
class RopeSettings:
    """What a config says of its rotary embedding, as options of `rope`."""

    n_dims: int
    """Width of a head."""
    base: float
    partial: float
    scaling: Scaling | None
    layer_type: str | None
    """Layers that it holds for, where they differ."""
    pairing: Pairing | None = None
    """None where the config does not say its model type."""
    temperature: Temperature | None = None
    """What queries are multiplied by as well, by their position."""
    mrope: tuple[int, ...] | None = None
    """Pairs that follow time, height and width, in turn, where they are dealt; text has the three alike."""
    mrope_order: Literal["chunked", "interleaved"] | None = None


@dataclass(frozen=True)
class LayerPositions:
    """Rotary options of the layers of one type."""

    layer_type: str | None
    """None where all layers are alike."""
    settings: RopeSettings | None
    """None where these layers do not rotate."""
    layers: tuple[int, ...] | None
    """Their numbers, where the config has enough to tell."""
    temperature: Temperature | None = None
    """Of layers that do not rotate."""


@takes_warp
@documented
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
    warp: Warp | None = None,
    seed: int = 0,
) -> Encoding:
    """Rotary embedding as a model's Hugging Face config says; its width is that of a head, whatever -d.

    Parameters
    ----------
    config : mapping, str or Path
        A config as a dictionary, or its ``config.json``.
    layer_type : str, optional
        Such as ``"sliding_attention"``, where layers have different rotary options.
    pairing : {"interleaved", "halves"}, optional
        By default that of the config's ``model_type``; see `rope`.
    offset, reference, key, form, warp, seed
        See `rope`.

    Raises
    ------
    EncodingError
        When the config has no rotary embedding, lacks what its kind needs, holds a rotary key that is not known, is of
        a ``model_type`` whose defaults are not known, or an option is out of range.

    Examples
    --------
    >>> rope_from_config({"head_dim": 64, "rope_theta": 500000.0}, 128)
    <Encoding rope: n = 128, d = 64>
    """
    settings = read_rope_config(config, layer_type=layer_type)
    encoding = rope(
        n_positions,
        settings.n_dims,
        base=settings.base,
        pairing=pairing or settings.pairing,
        partial=settings.partial,
        offset=offset,
        scaling=settings.scaling,
        reference=reference,
        key=key,
        form=form,
        warp=warp,
        seed=seed,
    )
    if encoding.rotation is not None:
        encoding.rotation = replace(encoding.rotation, temperature=settings.temperature)
    return encoding


def read_rope_config(config: Mapping[str, Any] | str | Path, *, layer_type: str | None = None) -> RopeSettings:
    """Read the rotary options of a config, of one layer type where they differ."""
    found = read_rope_layers(config)
    if layer_type is None:
        rotating = [positions for positions in found if positions.settings is not None]
        if len(found) > 1:
            raise EncodingError(
                f"config has rotary options by layer: say layer_type, one of "
                f"{shown_list([str(positions.layer_type) for positions in rotating])}"
            )
        if rotating and rotating[0].settings is not None:
            return rotating[0].settings
        raise EncodingError("config has no rotary embedding on any layer: use nope")
    if found[0].layer_type is None:
        raise EncodingError(f"config has the same rotary options on all layers: leave layer_type={layer_type} out")
    for positions in found:
        if positions.layer_type == layer_type:
            if positions.settings is None:
                raise EncodingError(f"config has no rotary embedding on its {layer_type} layers (none: use nope)")
            return positions.settings
    raise EncodingError(
        f"config has no layer type {shown(layer_type)}: it has {shown_list([str(p.layer_type) for p in found])}"
    )


def read_rope_layers(config: Mapping[str, Any] | str | Path) -> tuple[LayerPositions, ...]:
    """The rotary options of each type of layers of a config; every rotary key is used or refused by name."""
    values = config if isinstance(config, Mapping) else load_config(_path(config))
    if not isinstance(values, Mapping):
        raise EncodingError(f"{shown(config)} holds {type(values).__name__}: expected a model config, an object")
    values = _text_part(values)
    kind = values.get("model_type")
    if kind is not None and (not isinstance(kind, str) or kind not in FAMILIES):
        raise EncodingError(
            f"config has model_type {shown(kind, 60)}, whose rotary defaults are not known: leave model_type out to "
            "read its rotary keys as they stand"
        )
    family = GENERIC if kind is None else FAMILIES[kind]
    _check_config(values, family)
    return tuple(
        LayerPositions(
            rule.layer_type,
            None if rule.block is None else _settings(values, family, rule),
            rule.layers,
            _temperature(values, family, rule) if rule.block is None else None,
        )
        for rule in layer_rules(values, family)
    )


def _path(config: object) -> Path:
    if not isinstance(config, str | Path):
        raise EncodingError(
            f"got {type(config).__name__} for a config: expected an object or the path of a config.json"
        )
    return Path(config)


def _text_part(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a multimodal config that describes the text model, where it has the rotary options."""
    part = values.get("text_config")
    if not isinstance(part, Mapping) or any(values.get(key) for key in ("rope_theta", *BLOCKS)):
        return values
    kind = values.get("model_type")
    return part if part.get("model_type") or not isinstance(kind, str) else {**part, "model_type": f"{kind}_text"}


def _check_config(values: Mapping[str, Any], family: RotaryFamily) -> None:
    """Refuse keys that would have to change something, and configs whose code does not rotate."""
    for key, needed in family.requires.items():
        if values.get(key, needed is True or None) != needed:
            raise EncodingError(
                f"config of model_type {values.get('model_type')} has {key} = {shown(values.get(key))}: its rotary "
                f"embedding is known for {key} = {needed!r} alone"
            )
    known = {*family.width_keys, *family.base_keys, *family.keys, *family.requires, *BLOCKS, "head_dim"}
    known |= set(family.share_keys if family.partial is not None else ()) | ({family.wide[0]} if family.wide else set())
    harmless = {"partial_rotary_factor": (1, 1.0), "position_embedding_type": ("rope", "rotary")}
    unknown = [
        key
        for key, value in values.items()
        if _ROTARY_KEY.search(key)
        and not (key in known or _INERT.search(key) or value in (None, False) or value in harmless.get(key, ()))
    ]
    if not family.reads_block:
        unknown += [key for key in BLOCKS if values.get(key)]
    if unknown:
        what = ", ".join(f"{key} = {shown(values[key], 40)}" for key in unknown)
        raise EncodingError(
            f"config has {what}, which is not known and could change its rotary embedding: take it out if it does not"
        )


def _settings(values: Mapping[str, Any], family: RotaryFamily, rule: LayerRule) -> RopeSettings:
    block = {} if rule.block is None else rule.block
    kind = kind_of(block)
    mrope_keys = {"mrope_section", "mrope_interleaved"} if family.mrope else set()
    check_keys(block, kind, family.block_keys | mrope_keys)
    n_dims = _head_dim(values, family, rule.layer_type)
    share = _share(values, family, block, n_dims)
    if family.partial is None and family.rotated is None and share != 1 and kind != "proportional":
        raise EncodingError(
            f"config has partial_rotary_factor = {share:g}, which the code of model_type {values.get('model_type')} "
            "does not read: take it out"
        )
    if not 0 < share <= 1:
        raise EncodingError(f"config rotates a share {share:g} of its channels: expected above 0 and at most 1")
    mrope = _sections(block, family, (n_dims if kind == "proportional" else int(n_dims * share)) // 2)
    return RopeSettings(
        n_dims=n_dims,
        base=number(block["rope_theta"], "rope_theta"),
        partial=1.0 if kind == "proportional" else share,
        scaling=scaling_of(kind, block, values),
        layer_type=rule.layer_type,
        pairing=family.pairing,
        temperature=_temperature(values, family, rule),
        mrope=mrope,
        mrope_order=family.mrope if mrope else None,
    )


def _share(values: Mapping[str, Any], family: RotaryFamily, block: Mapping[str, Any], n_dims: int) -> float:
    outside = family.share_keys if family.partial is not None else ()
    value = first(block.get("partial_rotary_factor"), *map(values.get, outside))
    if value is None and "rotary_dim" in family.keys:
        channels = values.get("rotary_dim", family.rotated)
        value = None if channels is None else whole(channels, "rotary_dim") / n_dims
    return number(first(value, family.partial, 1.0), "partial_rotary_factor")


def _head_dim(values: Mapping[str, Any], family: RotaryFamily, layer_type: str | None) -> int:
    if family.wide is not None and layer_type == FULL:
        key, default = family.wide
        return whole(first(values.get(key), default), key)
    given = [(key, values[key]) for key in family.width_keys if values.get(key) is not None]
    width = whole(given[0][1], given[0][0]) if given else family.head_dim
    if width is None:
        hidden = first(*map(values.get, ("hidden_size", "n_embd")))
        heads = first(*map(values.get, ("num_attention_heads", "n_head")))
        if hidden is None or heads is None:
            raise EncodingError(
                "config has neither head_dim nor hidden_size and num_attention_heads: no width of a head"
            )
        width = whole(hidden, "hidden_size") // whole(heads, "num_attention_heads")
    other = values.get("head_dim")
    if other not in (None, width) and "head_dim" not in (*family.width_keys, *family.keys):
        raise EncodingError(f"config has head_dim = {shown(other)}, and its rotary embedding is {width} wide")
    return width


def _temperature(values: Mapping[str, Any], family: RotaryFamily, rule: LayerRule) -> Temperature | None:
    block = rule.block
    if family.temperature == "unrotated" and block is None and values.get("attn_temperature_tuning", True):
        beta, length = (first(values.get(k), d) for k, d in (("attn_scale", 0.1), ("floor_scale", 8192)))
        return Temperature(number(beta, "attn_scale"), number(length, "floor_scale"), shift=1)
    if family.temperature == "rotated" and block is not None:
        keys = ("llama_4_scaling_beta", "original_max_position_embeddings")
        if any(block.get(key) is None for key in keys):
            raise EncodingError(f"config of model_type {values.get('model_type')} has no {' and '.join(keys)}")
        return Temperature(number(block[keys[0]], keys[0]), number(block[keys[1]], keys[1]))
    return None


def _sections(block: Mapping[str, Any], family: RotaryFamily, n_pairs: int) -> tuple[int, ...] | None:
    """Pairs of time, height and width; None for a family whose positions are one number."""
    if family.mrope is None:
        return None
    given = block.get("mrope_section")
    order = "interleaved" if block.get("mrope_interleaved") else "chunked"
    if family is not GENERIC and block.get("mrope_interleaved") is not None and order != family.mrope:
        raise EncodingError(f"config has mrope_interleaved = {block['mrope_interleaved']}: its code has {family.mrope}")
    if given is None:
        usual = (16, 24, 24) if family.mrope == "chunked" else (24, 20, 20)
        return usual if sum(usual) == n_pairs and family is not GENERIC else None
    if not isinstance(given, list | tuple) or sum(whole(n, "mrope_section") for n in given) != n_pairs:
        raise EncodingError(f"config has mrope_section = {shown(given, 60)}: expected numbers that sum to {n_pairs}")
    return tuple(given)
