"""Which layers of a model rotate how: the rotary block of a config, or its family's, for each type of layers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from posgeom.encodings.config_values import first, whole
from posgeom.encodings.rotary_families import FULL, GENERIC, SLIDING, RotaryFamily
from posgeom.errors import EncodingError
from posgeom.messages import shown, shown_list

BLOCKS = ("rope_scaling", "rope_parameters")
"""Names of the rotary block; the older one counts where both are given."""
ROTARY, STILL = "rope", "nope"
"""Names of layers with and without rotation where a config has no names."""
_PATTERNS = ("sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers")
Values = Mapping[str, Any]


@dataclass(frozen=True)
class LayerRule:
    """The rotary block of some layers, with its base; None where they do not rotate."""

    layer_type: str | None
    block: Values | None
    layers: tuple[int, ...] | None = None


def layer_rules(values: Values, family: RotaryFamily) -> tuple[LayerRule, ...]:
    """The rotary block of each type of layers."""
    name, block = _given(values)
    if block and _is_nested(block):
        if not (family.blocks or family is GENERIC):
            raise EncodingError(
                f"config has rotary options by layer, and those of model_type {values.get('model_type')} are alike"
            )
        return _by_layer(values, family, _checked_nested(block), {})
    if family.blocks or (family is GENERIC and any(values.get(k) for k, v in family.base_keys.items() if v == SLIDING)):
        if name == "rope_parameters":
            raise EncodingError(f"config has rope_parameters for all layers: expected {FULL} and {SLIDING} in it")
        return _by_layer(values, family, {}, block)
    if family.block and not block:
        block = {"rope_theta": family.base, **family.block}
        if first(*(values.get(key) for key in family.base_keys), block["rope_theta"]) != block["rope_theta"]:
            raise EncodingError("config has a base without rope_parameters, which the code does not read: give both")
    flat = _with_base(block, values, family)
    if not block and flat.get("rope_theta") is None:
        raise EncodingError("config has neither rope_theta nor rope_parameters nor rope_scaling: no rotary embedding")
    return _uniform(values, family, {"rope_theta": family.base} | flat)


def _given(values: Values) -> tuple[str | None, Values]:
    """The name and content of the rotary block, empty where there is none."""
    found = {name: values[name] for name in BLOCKS if values.get(name)}
    for name, block in found.items():
        if not isinstance(block, Mapping):
            raise EncodingError(f"config has {name} of type {type(block).__name__}: expected an object")
    if len(found) == 2 and found["rope_scaling"] != found["rope_parameters"]:
        raise EncodingError("config has both rope_scaling and rope_parameters, and they differ: keep one of them")
    return next(iter(found.items()), (None, {}))


def _is_nested(block: Values) -> bool:
    return any(isinstance(v, Mapping) or (v is None and "_attention" in k) for k, v in block.items())


def _checked_nested(block: Values) -> Values:
    for layer, own in block.items():
        if own is not None and not isinstance(own, Mapping):
            raise EncodingError(f"config has rotary options by layer, and {shown(layer)} beside them")
        if own is not None and own.get("truncate") is False:
            raise EncodingError(f"config has truncate in its rotary options of {layer}, where it is not read")
    return block


def _with_base(block: Values, values: Values, family: RotaryFamily) -> dict[str, Any]:
    """A block with the base that stands beside it, or its family's."""
    outside = first(*(values.get(key) for key in family.base_keys))
    default = None if family is GENERIC else family.base
    filled = {"rope_theta": first(block.get("rope_theta"), outside, default)}
    return dict(block) | {key: value for key, value in filled.items() if value is not None}


def _by_layer(values: Values, family: RotaryFamily, nested: Values, old: Values) -> tuple[LayerRule, ...]:
    """Rules where layer types differ: from a block for each, or an older one for some and bases beside it."""
    names = list(family.blocks) or list(nested) or [FULL, SLIDING]
    if family.blocks and nested and (set(nested) != set(names) or None in nested.values()):
        raise EncodingError(
            f"config has rotary options for {shown_list(list(nested))}: expected an object for each of "
            f"{', '.join(names)}"
        )
    if old and not family.base_keys:
        raise EncodingError("config has rope_scaling, which the code of its model_type does not read: take it out")
    if old and family.blocks and "rope_type" not in old:
        raise EncodingError("config has rope_scaling without rope_type, which its code takes for no scaling: say it")
    numbers = _numbers(values, family)
    present = [layer for layer in names if numbers is None or layer in numbers] or names
    return tuple(
        LayerRule(layer, _own_block(values, family, nested, old, layer), numbers.get(layer) if numbers else None)
        for layer in present
    )


def _own_block(values: Values, family: RotaryFamily, nested: Values, old: Values, layer: str) -> Values | None:
    """The block of one layer type, with its base."""
    default = family.blocks.get(layer, {})
    if nested:
        own = nested[layer]
        if own is None:
            return None
    else:
        own = old if old and layer in (family.scaled or [*family.blocks, FULL]) else default
    shared = layer != SLIDING or bool(nested) or family is not GENERIC
    outside = [
        values.get(key) for key, where in family.base_keys.items() if where == layer or (where is None and shared)
    ]
    inside = None if own is default else own.get("rope_theta")
    return {**own, "rope_theta": first(inside, *outside, default.get("rope_theta"), family.base)}


def _uniform(values: Values, family: RotaryFamily, block: Values) -> tuple[LayerRule, ...]:
    """Rules where all layers that rotate do so alike, or with a base for each."""
    if family.layers == "bases" and values.get("layer_rope_theta"):
        bases = values["layer_rope_theta"]
        if not isinstance(bases, list | tuple):
            raise EncodingError(f"config has layer_rope_theta = {shown(bases, 60)}: expected a list of numbers")
        distinct = list(dict.fromkeys(base or 0 for base in bases))
        return tuple(
            LayerRule(
                f"{ROTARY}_{base:g}" if base else STILL,
                {**block, "rope_theta": base} if base else None,
                tuple(i for i, own in enumerate(bases) if (own or 0) == base),
            )
            for base in distinct
        )
    if family.layers in ("all", "bases") or (family.layers == "windowed" and values.get("sliding_window", 1) is None):
        return (LayerRule(None, block),)
    if family.layers == "listed":
        return _listed(values, family, block)
    if values.get("sliding_window", 1) is None:
        raise EncodingError("config has sliding_window null, and only layers with such a window rotate: use nope")
    numbers = _numbers(values, family)
    rules = [(SLIDING, block), (FULL, None)]
    return tuple(
        LayerRule(layer, own, numbers.get(layer) if numbers else None)
        for layer, own in rules
        if numbers is None or layer in numbers
    )


def _listed(values: Values, family: RotaryFamily, block: Values) -> tuple[LayerRule, ...]:
    """Rules of a config that lists the layers that rotate, or leaves them to the period."""
    given, n_layers = values.get("no_rope_layers"), _n_layers(values)
    if not given:
        period = whole(first(values.get("no_rope_layer_interval"), family.period), "no_rope_layer_interval")
        given = [(i + 1) % period != 0 for i in range(n_layers or 0)] or None
    if given is None:
        return LayerRule(ROTARY, block), LayerRule(STILL, None)
    if not isinstance(given, list | tuple) or any(flag not in (0, 1) for flag in given):
        raise EncodingError(f"config has no_rope_layers = {shown(given, 60)}: expected a list of 0 and 1")
    rules = ((ROTARY, block, True), (STILL, None, False))
    found = [(name, own, tuple(i for i, flag in enumerate(given) if bool(flag) is on)) for name, own, on in rules]
    return tuple(LayerRule(name, own, layers) for name, own, layers in found if layers)


def _numbers(values: Values, family: RotaryFamily) -> dict[str, tuple[int, ...]] | None:
    """The layers of each type, from the config's list or the family's period; None where neither tells."""
    given = values.get("layer_types")
    if given is None and family is not GENERIC:
        given = _by_period(values, family)
    if given is None:
        return None
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise EncodingError(f"config has layer_types = {shown(given, 60)}: expected a list of names")
    return {name: tuple(i for i, own in enumerate(given) if own == name) for name in dict.fromkeys(given)}


def _by_period(values: Values, family: RotaryFamily) -> list[str] | None:
    n_layers = _n_layers(values)
    pattern = first(*(values.get(key) for key in _PATTERNS), family.period)
    if n_layers is None or not isinstance(pattern, int) or pattern < 1:
        return None
    own = 0 if family.first else pattern - 1
    return [FULL if i % pattern == own else SLIDING for i in range(n_layers)]


def _n_layers(values: Values) -> int | None:
    value = first(*(values.get(key) for key in ("num_hidden_layers", "n_layer", "n_layers")))
    return None if value is None else whole(value, "num_hidden_layers")
