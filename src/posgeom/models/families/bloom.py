"""Bloom: ALiBi, queries, keys and values fused head by head."""

from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import decoder_stack
from posgeom.models.family import Alibi, Family, Stack
from posgeom.models.query_key import Fused


class Bloom(Family):
    """Bloom."""

    model_types = ("bloom",)
    prefixes = frozenset({"transformer"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        alibi = Alibi(config.whole("num_attention_heads", "n_head"))
        layout = Fused("h.{layer}.self_attention.query_key_value", "heads")
        return (decoder_stack(config, alibi, layout, n_positions=config.whole("seq_length", default=2048)),)
