"""XLNet: Transformer-XL's relative sines, projected in each layer, met by queries with biases of their own."""

from dataclasses import replace

from posgeom.errors import CheckpointError
from posgeom.messages import shown
from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import decoder_stack
from posgeom.models.family import Family, Stack
from posgeom.models.query_key import ByHead, HeadShape
from posgeom.models.relative_kinds import RelativeSines, Words

_LAYER = "layer.{layer}.rel_attn."


class XLNet(Family):
    """XLNet; its input is the token's embedding as it is."""

    model_types = ("xlnet",)
    prefixes = frozenset({"transformer"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        width, heads = config.whole("hidden_size", "d_model"), config.whole("num_attention_heads", "n_head")
        head_dim = config.whole("d_head", default=config.head_dim(width, heads))
        kind = config.get("attn_type") or "bi"
        if kind not in ("bi", "uni") or config.get("bi_data"):
            raise CheckpointError(
                f"config of {shown(config.source)} has attn_type {shown(kind, 40)} and bi_data "
                f"{shown(config.get('bi_data'), 40)}: expected bi or uni, and false, without which half of a batch is "
                "read backwards"
            )
        layout = ByHead(_LAYER + "q", _LAYER + "k", _LAYER + "r_w_bias")
        clamp = config.get("clamp_len")
        positions = RelativeSines(
            _LAYER + "r",
            (_LAYER + "r_r_bias", _LAYER + "r_w_bias"),
            clamp if isinstance(clamp, int) and clamp > 0 else None,
            kind == "uni",
            layout,
            HeadShape(heads, heads, head_dim, width),
            Words("word_embedding.weight"),
        )
        name = "decoder" if kind == "uni" else "encoder"
        stack = decoder_stack(config, positions, layout)
        return (replace(stack, name=name, head_dim=head_dim, causal=kind == "uni"),)
