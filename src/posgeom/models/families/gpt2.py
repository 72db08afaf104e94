"""GPT-2: a learned table, and queries, keys and values fused in a Conv1D that is stored in x out."""

from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import initial_std
from posgeom.models.family import Family, PositionTable, Stack
from posgeom.models.query_key import Fused, Separate


class GPTNeo(Family):
    """GPT-Neo: as GPT-2, with projections of their own; its logits are not divided by the root of a head's width."""

    model_types = ("gpt_neo",)
    prefixes = frozenset({"transformer"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        width, heads = config.whole("hidden_size"), config.whole("num_heads", "num_attention_heads")
        std, layer = initial_std(config), "h.{layer}.attn.attention."
        table = PositionTable(
            "wpe.weight", initial_std=std, n_rows=config.whole("max_position_embeddings", default=2048), width=width
        )
        return (
            Stack(
                "decoder",
                table,
                config.whole("num_layers", "num_hidden_layers"),
                width,
                heads,
                heads,
                config.head_dim(width, heads),
                Separate(layer + "q_proj", layer + "k_proj"),
                (std, std),
                causal=True,
            ),
        )


class GPT2(Family):
    """GPT-2."""

    model_types = ("gpt2",)
    prefixes = frozenset({"transformer"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        width, heads = config.whole("n_embd", "hidden_size"), config.whole("n_head", "num_attention_heads")
        std = initial_std(config)
        return (
            Stack(
                "decoder",
                PositionTable(
                    "wpe.weight",
                    initial_std=std,
                    n_rows=config.whole("n_positions", "n_ctx", default=1024),
                    width=width,
                ),
                config.whole("n_layer", "num_hidden_layers"),
                width,
                heads,
                heads,
                config.head_dim(width, heads),
                Fused("h.{layer}.attn.c_attn", "blocks", transposed=True),
                (std, std),
                causal=True,
            ),
        )
