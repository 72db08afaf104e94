"""What the code of a model family says of its rotary embedding where a config is silent, as one table.

Source: the configuration and modeling files of Hugging Face transformers 5.24. `make test-models` compares every model
type that it knows with its own rotary module and writes docs/rotary-types.md; a type without a row here is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from posgeom.encodings.rotation import Pairing

FULL, SLIDING = "full_attention", "sliding_attention"


@dataclass(frozen=True, eq=False)
class RotaryFamily:
    """Defaults and conventions of a family."""

    pairing: Pairing | None = "halves"
    """None: not known, of a config without a model type."""
    base: float = 10000.0
    """Where the config has none."""
    partial: float | None = None
    """Share of the channels where the config has none; None: the code reads no share."""
    head_dim: int | None = None
    """Where the config has none; None: the width divided by the heads."""
    width_keys: tuple[str, ...] = ("head_dim",)
    """Names that the config has for it."""
    block: Mapping[str, Any] = field(default_factory=dict)
    """Rotary block where the config has none."""
    blocks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The same by layer type, where layers differ."""
    base_keys: Mapping[str, str | None] = field(default_factory=lambda: {"rope_theta": None})
    """Names outside the block for the base, and the layer type that each is of."""
    scaled: tuple[str, ...] = ()
    """Layer types that an old ``rope_scaling`` is for; by default all."""
    layers: Literal["all", "sliding", "windowed", "listed", "bases"] = "all"
    """Layers that rotate: all; those with sliding attention; the same, or all where there is no window; those with
    1 in ``no_rope_layers``; those with a base in ``layer_rope_theta``."""
    period: int = 4
    """Every so many layers one has full attention, or no rotation, where the config has no list."""
    first: bool = False
    """Whether the first layer of a period is that one, instead of the last."""
    requires: Mapping[str, Any] = field(default_factory=dict)
    """Values without which the code does not rotate."""
    mrope: Literal["chunked", "interleaved"] | None = None
    """How pairs are dealt to time, height and width by ``mrope_section``."""
    share_keys: tuple[str, ...] = ("partial_rotary_factor",)
    """Names outside the block for the share, where one is read."""
    rotated: int | None = None
    """Rotated channels where the config has no ``rotary_dim``, of a family that reads one and no share."""
    reads_block: bool = True
    """Whether the code reads a rotary block at all."""
    wide: tuple[str, int] | None = None
    """Name and default of the head width of layers with full attention."""
    temperature: Literal["rotated", "unrotated"] | None = None
    """Layers whose queries are multiplied by a factor that grows with the position."""
    keys: frozenset[str] = frozenset()
    """Further keys of the config that look rotary and are read elsewhere, or change nothing."""
    block_keys: frozenset[str] = frozenset()
    """The same of the rotary block."""


def _llama3(factor: float, low: float, high: float, original: int) -> Mapping[str, Any]:
    return {
        "rope_type": "llama3",
        "factor": factor,
        "low_freq_factor": low,
        "high_freq_factor": high,
        "original_max_position_embeddings": original,
    }


def _yarn(**values: Any) -> Mapping[str, Any]:
    return {"rope_type": "yarn", "beta_fast": 32.0, "beta_slow": 1.0} | values


def _bases(**bases: float) -> Mapping[str, Mapping[str, Any]]:
    return {layer: {"rope_theta": base} for layer, base in bases.items()}


GENERIC = RotaryFamily(
    pairing=None,
    partial=1.0,
    width_keys=("head_dim", "qk_rope_head_dim"),
    base_keys={
        "rope_theta": None,
        "global_rope_theta": FULL,
        "rotary_emb_base": None,
        "rope_local_base_freq": SLIDING,
        "local_rope_theta": SLIDING,
    },
    mrope="chunked",
    share_keys=("partial_rotary_factor", "rotary_pct"),
    keys=frozenset({"rotary_dim"}),
    block_keys=frozenset({"alpha"}),
)
"""A config without a model type: its keys as they stand."""

_LLAMA = RotaryFamily()
_LISTED = frozenset({"no_rope_layers", "no_rope_layer_interval"})
_PARTIAL = RotaryFamily(partial=1.0)
_INTERLEAVED = RotaryFamily(pairing="interleaved")
_MLA = RotaryFamily(pairing="interleaved", head_dim=64, width_keys=("qk_rope_head_dim",))
_SWITCH = replace(_MLA, requires={"rope_interleave": True})
_GEMMA3 = RotaryFamily(
    head_dim=256,
    blocks=_bases(sliding_attention=1e4, full_attention=1e6),
    base_keys={"rope_theta": FULL, "rope_local_base_freq": SLIDING},
    scaled=(FULL,),
    period=6,
)
_GEMMA4 = RotaryFamily(
    head_dim=256,
    blocks={
        SLIDING: {"rope_type": "default", "rope_theta": 1e4},
        FULL: {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1e6},
    },
    base_keys={},
    period=6,
    wide=("global_head_dim", 512),
)
_MODERNBERT = RotaryFamily(
    blocks=_bases(sliding_attention=1e4, full_attention=1.6e5),
    base_keys={"global_rope_theta": FULL, "local_rope_theta": SLIDING},
    period=3,
    first=True,
)
_QWEN_VL = RotaryFamily(base=1e6, mrope="chunked")
_GPTJ = RotaryFamily(
    pairing="interleaved",
    width_keys=(),
    base_keys={},
    rotated=64,
    reads_block=False,
    keys=frozenset({"rotary_dim"}),
)

_ROWS: tuple[tuple[str, RotaryFamily], ...] = (
    (
        """arcee aria_text chameleon diffllama doge dots1 esmc eurobert falcon_h1 granite granite4_vision_text
        granite_docling_text granitemoe granitemoeshared hyperclovax jais2 llama ministral mistral olmo olmo2 olmoe
        qwen2 qwen2_moe qwen3_moe starcoder2 voxtral_realtime_text""",
        _LLAMA,
    ),
    ("granite_swa granitemoe_swa", RotaryFamily(layers="bases", keys=frozenset({"layer_rope_theta"}))),
    ("granitemoehybrid", RotaryFamily(requires={"position_embedding_type": "rope"})),
    (
        "hunyuan_v1_dense hunyuan_v1_moe",
        replace(_LLAMA, block_keys=frozenset({"alpha", "beta_fast", "beta_slow", "mscale", "mscale_all_dim"})),
    ),
    ("falcon", replace(_LLAMA, width_keys=())),
    ("dia_decoder dia_encoder hrm_text qwen3 seed_oss", replace(_LLAMA, head_dim=128)),
    ("neucodec qwen2_5_omni_dit xcodec2", replace(_LLAMA, head_dim=64)),
    ("timesfm2_5", replace(_LLAMA, head_dim=80)),
    ("gemma gemma2 t5_gemma_module vaultgemma", replace(_LLAMA, head_dim=256)),
    ("nomic_bert", replace(_LLAMA, base=1e3)),
    ("jina_embeddings_v3", replace(_LLAMA, base=2e4)),
    ("gte", replace(_LLAMA, base=1.6e5)),
    ("bitnet csm flex_olmo mllama_text_model", replace(_LLAMA, base=5e5)),
    ("emu3_text_model lfm2 lfm2_moe minimax mixtral", replace(_LLAMA, base=1e6)),
    ("phimoe", replace(_LLAMA, base=1e6, block_keys=frozenset({"short_mscale", "long_mscale"}))),
    ("smollm3", replace(_LLAMA, base=2e6, layers="listed", keys=_LISTED)),
    ("hy_v3", replace(_LLAMA, base=11158840.0, head_dim=128)),
    ("exaone4 exaone_moe", replace(_LLAMA, layers="windowed")),
    ("kolibri1", replace(_LLAMA, head_dim=128, layers="windowed")),
    ("flint", replace(_LLAMA, head_dim=128, layers="sliding")),
    ("afmoe", replace(_LLAMA, head_dim=128, layers="sliding")),
    ("esm", RotaryFamily(requires={"position_embedding_type": "rotary"}, reads_block=False)),
    ("apertus apertus1p5_text", RotaryFamily(base=1.2e7, block=_llama3(8.0, 1.0, 4.0, 8192))),
    ("cwm", RotaryFamily(base=1e6, head_dim=128, block=_llama3(16.0, 1.0, 4.0, 8192))),
    ("higgs_audio_v2", RotaryFamily(head_dim=128, block={**_llama3(32.0, 0.125, 0.5, 1024), "rope_theta": 5e5})),
    (
        "gpt_oss",
        RotaryFamily(
            base=1.5e5,
            head_dim=64,
            block=_yarn(factor=32.0, truncate=False, original_max_position_embeddings=4096),
        ),
    ),
    (
        "ministral3",
        RotaryFamily(
            head_dim=128,
            block=_yarn(
                rope_theta=1e6,
                factor=16.0,
                original_max_position_embeddings=16384,
                mscale=1.0,
                mscale_all_dim=1.0,
                llama_4_scaling_beta=0.1,
            ),
            temperature="rotated",
            block_keys=frozenset({"llama_4_scaling_beta", "max_position_embeddings"}),
        ),
    ),
    ("bamba nemotron persimmon phi recurrent_gemma", replace(_PARTIAL, partial=0.5)),
    ("phi3 phi4_multimodal", _PARTIAL),
    ("stablelm", replace(_PARTIAL, partial=0.25)),
    (
        "gpt_neox",
        replace(
            _PARTIAL,
            partial=0.25,
            base_keys={"rotary_emb_base": None},
            share_keys=("rotary_pct",),
        ),
    ),
    ("qwen3_next qwen3_5_text qwen3_5_moe_text", replace(_PARTIAL, partial=0.25, head_dim=256)),
    ("glm4_moe", replace(_PARTIAL, partial=0.5)),
    ("minimax_m2", replace(_PARTIAL, base=5e6, head_dim=128, keys=frozenset({"rotary_dim"}))),
    ("solar_open", replace(_PARTIAL, base=1e6, head_dim=128)),
    ("glm glm4", replace(_INTERLEAVED, partial=0.5, head_dim=128)),
    ("gptj codegen", _GPTJ),
    ("cohere", replace(_INTERLEAVED, base=5e5)),
    ("cohere2", replace(_INTERLEAVED, layers="sliding")),
    ("ernie4_5", replace(_INTERLEAVED, base=5e5, head_dim=128)),
    ("ernie4_5_moe", replace(_INTERLEAVED, base=5e5)),
    ("helium", replace(_INTERLEAVED, base=1e5, head_dim=128)),
    ("pe_audio_encoder pe_audio_video_encoder pe_video_encoder", replace(_INTERLEAVED, base=2e4, head_dim=128)),
    (
        "llama4_text",
        replace(
            _INTERLEAVED,
            base=5e5,
            head_dim=128,
            layers="listed",
            temperature="unrotated",
            keys=_LISTED | {"attn_temperature_tuning"},
        ),
    ),
    ("deepseek_v2", replace(_MLA, keys=frozenset({"head_dim"}))),
    ("deepseek_v32 glm_moe_dsa", _MLA),
    ("bailing_hybrid", replace(_MLA, base=6e6, keys=frozenset({"head_dim"}))),
    ("deepseek_v3 youtu axk1", _SWITCH),
    ("gemma3_text t5gemma2_text", _GEMMA3),
    ("gemma3n_text", replace(_GEMMA3, period=5)),
    ("gemma4_text gemma4_unified_text", _GEMMA4),
    ("modernbert modernbert-decoder", _MODERNBERT),
    (
        "olmo3",
        RotaryFamily(
            base=5e5,
            blocks=_bases(sliding_attention=5e5, full_attention=5e5),
            base_keys={"rope_theta": FULL},
            scaled=(FULL,),
        ),
    ),
    ("qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text qwen2_5_omni_text", _QWEN_VL),
    ("qwen2_5_omni_talker", replace(_QWEN_VL, head_dim=128)),
    ("paddleocr_vl_text", replace(_QWEN_VL, base=5e5, head_dim=128)),
    ("qwen3_vl_text", RotaryFamily(base=5e5, head_dim=128, mrope="interleaved")),
    ("qwen3_vl_moe_text", RotaryFamily(base=5e5, mrope="interleaved")),
)
FAMILIES: Mapping[str, RotaryFamily] = MappingProxyType({name: row for names, row in _ROWS for name in names.split()})
"""Rows by model type."""
