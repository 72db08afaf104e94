"""Bloom: ALiBi, queries, keys and values fused head by head."""

from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import initial_std
from posgeom.models.family import Alibi, Family, Stack
from posgeom.models.query_key import Fused


class Bloom(Family):
    """Bloom."""

    model_types = ("bloom",)
    prefixes = frozenset({"transformer"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        width, heads = config.whole("hidden_size", "n_embed"), config.whole("n_head", "num_attention_heads")
        std = initial_std(config)
        return (
            Stack(
                "decoder",
                Alibi(heads),
                config.whole("n_layer", "num_hidden_layers"),
                width,
                heads,
                heads,
                config.head_dim(width, heads),
                Fused("h.{layer}.self_attention.query_key_value", "heads"),
                (std, std),
                n_positions=config.whole("seq_length", default=2048),
                causal=True,
            ),
        )
