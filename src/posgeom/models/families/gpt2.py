"""GPT-2: a learned table, and queries, keys and values fused in a Conv1D that is stored in x out."""

from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import initial_std
from posgeom.models.family import Family, PositionTable, Stack
from posgeom.models.query_key import Fused


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
                PositionTable("wpe.weight", initial_std=std),
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
