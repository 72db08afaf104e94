"""OPT: a learned table whose positions start at row 2, whatever the padding token."""

from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import initial_std
from posgeom.models.family import Family, PositionTable, Stack
from posgeom.models.query_key import Separate


class OPT(Family):
    """OPT."""

    model_types = ("opt",)
    prefixes = frozenset({"model", "decoder"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        width, heads = config.whole("hidden_size"), config.whole("num_attention_heads")
        std = initial_std(config)
        layer = "layers.{layer}.self_attn."
        return (
            Stack(
                "decoder",
                PositionTable(
                    "embed_positions.weight",
                    offset=2,
                    initial_std=std,
                    n_rows=config.whole("max_position_embeddings", default=2048) + 2,
                    width=width,
                ),
                config.whole("num_hidden_layers"),
                width,
                heads,
                heads,
                config.head_dim(width, heads),
                Separate(layer + "q_proj", layer + "k_proj"),
                (std, std),
                causal=True,
            ),
        )
