"""BART, mBART, PLBart and Blenderbot: an encoder and a decoder, each with a learned table."""

from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import initial_std
from posgeom.models.family import Family, PositionScheme, PositionTable, Sinusoids, Stack
from posgeom.models.query_key import Separate


def side_stack(config: ModelConfig, side: str, table: PositionScheme) -> Stack:
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
                PositionTable(
                    f"{side}.embed_positions.weight",
                    offset=self.offset,
                    initial_std=std,
                    n_rows=config.whole("max_position_embeddings", default=1024) + self.offset,
                    width=config.whole("d_model"),
                ),
            )
            for side in ("encoder", "decoder")
        )


class Blenderbot(Bart):
    """Blenderbot: as BART, from row 0."""

    model_types = ("blenderbot", "blenderbot-small")
    offset = 0


class Marian(Family):
    """Marian: fixed sines and cosines in both tables."""

    model_types = ("marian",)
    prefixes = frozenset({"model"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        rows, width = config.whole("max_position_embeddings", default=1024), config.whole("d_model")
        sines = Sinusoids(width, {"layout": "halves"})
        tables = {
            side: PositionTable(f"{side}.embed_positions.weight", fixed=True, formula=sines, n_rows=rows, width=width)
            for side in ("encoder", "decoder")
        }
        return tuple(side_stack(config, side, table) for side, table in tables.items())


class M2M100(Family):
    """M2M-100 and NLLB: sines and cosines that are computed, from position 2 on."""

    model_types = ("m2m_100",)
    prefixes = frozenset({"model"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        offset = config.whole("pad_token_id", default=1, least=0) + 1
        options = {"frequencies": "tensor2tensor", "layout": "halves", "offset": offset}
        sines = Sinusoids(config.whole("d_model"), options)
        return side_stack(config, "encoder", sines), side_stack(config, "decoder", sines)
