"""Rotary models whose layers differ in names alone, one row each."""

from dataclasses import dataclass
from typing import Literal

from posgeom.encodings.rotary_families import FAMILIES
from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import decoder_stack, initial_std
from posgeom.models.family import Alibi, Embedding, Family, PositionScheme, Rotary, Stack
from posgeom.models.query_key import Fused, Layout, Separate

_SEPARATE = Separate("layers.{layer}.self_attn.q_proj", "layers.{layer}.self_attn.k_proj")
_NORM = "layers.{layer}.input_layernorm"


@dataclass(frozen=True)
class _Row:
    """What tells one group of model types from another.

    Attributes
    ----------
    names : str
        Their ``model_type``, separated by spaces.
    layout : Layout
    norm : {"rms", "layer"} or None
        The norm before the attention; None where no kernel follows from the embeddings: queries and keys are normed
        themselves, or the norm's gain is not as stored.
    causal : bool
    spread : float
        Share of the config's deviation that fresh weights have: less where the normal is cut off.
    """

    names: str
    layout: Layout = _SEPARATE
    norm: Literal["rms", "layer"] | None = "rms"
    causal: bool = True
    spread: float = 1.0


_ROWS = (
    _Row("llama mistral mixtral ministral qwen2 qwen2_moe smollm3 granite gpt_oss qwen2_vl qwen2_5_vl"),
    _Row("gemma gemma2 gemma3 gemma3_text qwen3 qwen3_moe qwen3_vl qwen3_vl_moe olmo2 olmo3", norm=None),
    _Row("phi3", Fused("layers.{layer}.self_attn.qkv_proj", "blocks")),
    _Row("starcoder2", norm="layer"),
    _Row("olmo cohere", norm=None),
    _Row("modernbert", Fused("layers.{layer}.attn.Wqkv", "blocks"), norm=None, causal=False, spread=0.8796),
    _Row("nomic_bert", Fused("encoder.layers.{layer}.attn.Wqkv", "blocks"), norm=None, causal=False),
)


class RotaryFamily(Family):
    """The model types of a row; those of images and text are read by their text side."""

    prefixes = frozenset({"model", "language_model", "nomic_bert"})

    def __init__(self, row: _Row) -> None:
        self.model_types = tuple(row.names.split())
        self._row = row

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        text, row = config.part("text_config"), self._row
        width, heads = text.whole("hidden_size"), text.whole("num_attention_heads")
        known = FAMILIES.get(f"{config.get('model_type')}_text") or FAMILIES.get(str(config.get("model_type")))
        default = known.head_dim if known else None
        head_dim = text.head_dim(width, heads) if default is None else text.whole("head_dim", default=default)
        std, eps = initial_std(text) * row.spread, ("rms_norm_eps", "layer_norm_eps", "norm_epsilon", "norm_eps")
        norm = (
            None
            if row.norm is None
            else Embedding("embed_tokens.weight", _NORM, row.norm, text.number(*eps, default=1e-6))
        )
        return (
            Stack(
                "decoder" if row.causal else "encoder",
                Rotary(config.values),
                text.whole("num_hidden_layers"),
                width,
                heads,
                text.whole("num_key_value_heads", default=heads),
                head_dim,
                row.layout,
                (std, std),
                n_positions=text.whole("max_position_embeddings", default=2048),
                causal=row.causal,
                embedding=norm,
            ),
        )


ROTARY = tuple(RotaryFamily(row) for row in _ROWS)


class Falcon(Family):
    """Falcon; queries, keys and values fused head by head, with one key head, or by groups that share one."""

    model_types = ("falcon",)
    prefixes = frozenset({"transformer"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`; with ALiBi, whose bias is added before logits are divided by the root of a head's width."""
        width, heads = config.whole("hidden_size"), config.whole("num_attention_heads", "n_head")
        order: Literal["groups", "blocks", "heads"] = "heads"
        key_heads = heads
        if config.get("new_decoder_architecture"):
            order, key_heads = "groups", config.whole("num_kv_heads", default=heads)
        elif config.get("multi_query") is not False:
            order, key_heads = "blocks", 1
        positions: PositionScheme = Rotary(config.values)
        if config.get("alibi") is True:
            positions = Alibi(heads, scale=config.head_dim(width, heads) ** -0.5)
        layout = Fused("h.{layer}.self_attention.query_key_value", order)
        length = config.whole("max_position_embeddings", default=2048)
        return (decoder_stack(config, positions, layout, key_heads, n_positions=length),)
