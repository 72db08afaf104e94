"""Kinds of rotary scaling as configs name them: the keys that each reads, and what they make."""

from collections.abc import Callable, Mapping
from typing import Any

from posgeom.encodings.config_values import RotaryValues, first
from posgeom.encodings.rotary_scaling import (
    AlphaNTK,
    DynamicNTK,
    Linear,
    Llama3,
    LongRope,
    Proportional,
    Scaling,
    Yarn,
)
from posgeom.errors import EncodingError
from posgeom.messages import shown, shown_list

Block = Mapping[str, Any]
_COMMON = frozenset({"rope_type", "type", "rope_theta", "partial_rotary_factor"})
_ORIGINAL = "original_max_position_embeddings"
_OLD_NAMES = {"su": "longrope", "mrope": "default"}
_Reader = Callable[[RotaryValues], Scaling | None]


def kind_of(block: Block) -> str:
    """The kind that a rotary block names, in its newer name."""
    kind = block.get("rope_type") or block.get("type") or "default"
    kind = _OLD_NAMES.get(kind, kind) if isinstance(kind, str) else kind
    if not isinstance(kind, str) or kind not in _KINDS:
        raise EncodingError(f"config has rope_type {shown(kind)}: expected one of {', '.join(_KINDS)}")
    return kind


def check_keys(block: Block, kind: str, further: frozenset[str]) -> None:
    """Refuse keys of a rotary block that would have to change something and are not read."""
    known = _COMMON | _KINDS[kind][0] | further
    unknown = [key for key, value in block.items() if key not in known and value is not None]
    if unknown:
        raise EncodingError(
            f"config has {shown_list(unknown)} in its rotary options of type {kind}, which are not known and could "
            f"change the frequencies: expected {', '.join(sorted(known - {'type'}))}"
        )


def scaling_of(kind: str, block: Block, config: Mapping[str, Any]) -> Scaling | None:
    """The scaling that a rotary block describes, or None."""
    return _KINDS[kind][1](RotaryValues(block, config, kind))


def _none(values: RotaryValues) -> None:  # noqa: ARG001
    return None


def _linear(values: RotaryValues) -> Scaling:
    return Linear(factor=values.need("factor"))


def _dynamic(values: RotaryValues) -> Scaling:
    alpha = values.number("alpha")
    if alpha:
        return AlphaNTK(alpha=alpha)
    return DynamicNTK(factor=values.need("factor"), original_length=values.max_length())


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
        short_mscale=values.number("short_mscale"),
        long_mscale=values.number("long_mscale"),
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


_YARN = {"factor", _ORIGINAL, "attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate"}
_LONG = {"factor", _ORIGINAL, "attention_factor", "short_factor", "long_factor"}
_KINDS: Mapping[str, tuple[frozenset[str], _Reader]] = {
    "default": (frozenset(), _none),
    "linear": (frozenset({"factor"}), _linear),
    "dynamic": (frozenset({"factor"}), _dynamic),
    "yarn": (frozenset(_YARN), _yarn),
    "longrope": (frozenset(_LONG), _longrope),
    "llama3": (frozenset({"factor", "low_freq_factor", "high_freq_factor", _ORIGINAL}), _llama3),
    "proportional": (frozenset({"factor"}), _proportional),
}
