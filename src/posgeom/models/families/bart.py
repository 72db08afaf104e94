"""BART, mBART, PLBart and Blenderbot: an encoder and a decoder, each with a learned table."""

from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import initial_std
from posgeom.models.family import Family, PositionTable, Stack
from posgeom.models.query_key import Separate


def side_stack(config: ModelConfig, side: str, table: PositionTable) -> Stack:
    """The encoder or the decoder of a model whose config has BART's names."""
    width, heads = config.whole("d_model"), config.whole(f"{side}_attention_heads")
    layer, std = side + ".layers.{layer}.self_attn.", initial_std(config)
    return Stack(
        side,
        table,
        config.whole(f"{side}_layers"),
        width,
        heads,
        heads,
        config.head_dim(width, heads),
        Separate(layer + "q_proj", layer + "k_proj"),
        (std, std),
        causal=side == "decoder",
    )


class Bart(Family):
    """BART and mBART: positions start at row 2, whatever the padding token."""

    model_types: tuple[str, ...] = ("bart", "mbart", "plbart")
    prefixes = frozenset({"model"})
    offset = 2

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        std = initial_std(config)
        return tuple(
            side_stack(
                config,
                side,
                PositionTable(f"{side}.embed_positions.weight", offset=self.offset, initial_std=std),
            )
            for side in ("encoder", "decoder")
        )


class Blenderbot(Bart):
    """Blenderbot: as BART, from row 0."""

    model_types = ("blenderbot", "blenderbot-small")
    offset = 0
