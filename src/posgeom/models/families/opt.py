"""OPT: a learned table whose positions start at row 2, whatever the padding token."""

from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import decoder_stack, initial_std
from posgeom.models.family import Family, PositionTable, Stack
from posgeom.models.query_key import Separate


class OPT(Family):
    """OPT."""

    model_types = ("opt",)
    prefixes = frozenset({"model", "decoder"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        table = PositionTable(
            "embed_positions.weight",
            offset=2,
            initial_std=initial_std(config),
            n_rows=config.whole("max_position_embeddings", default=2048) + 2,
            width=config.whole("hidden_size"),
        )
        return (
            decoder_stack(
                config, table, Separate("layers.{layer}.self_attn.q_proj", "layers.{layer}.self_attn.k_proj")
            ),
        )
