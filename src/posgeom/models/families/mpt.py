"""MPT: ALiBi, all queries before all keys before all values in one tensor."""

from collections.abc import Mapping

from posgeom.errors import CheckpointError
from posgeom.messages import shown
from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import decoder_stack
from posgeom.models.family import Alibi, Family, Stack
from posgeom.models.query_key import Fused


class MPT(Family):
    """MPT."""

    model_types = ("mpt",)
    prefixes = frozenset({"transformer"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        given = config.get("attn_config")
        attention = ModelConfig(given if isinstance(given, Mapping) else {}, config.source)
        if attention.get("alibi") is False:
            raise CheckpointError(f"config of {shown(config.source)} has no alibi in its attn_config: expected ALiBi")
        alibi = Alibi(config.whole("n_heads"), attention.number("alibi_bias_max", default=8.0))
        layout = Fused("blocks.{layer}.attn.Wqkv", "blocks")
        return (decoder_stack(config, alibi, layout, n_positions=config.whole("max_seq_len", default=2048)),)
