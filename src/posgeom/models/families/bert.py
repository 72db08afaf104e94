"""BERT, DistilBERT and ELECTRA: a learned table from row 0."""

from dataclasses import replace
from typing import Any

from posgeom.errors import CheckpointError
from posgeom.messages import shown
from posgeom.models.config import ModelConfig
from posgeom.models.family import Family, PositionScheme, PositionTable, Stack
from posgeom.models.query_key import Layout, Separate

TABLE = "embeddings.position_embeddings.weight"
BERT_LAYOUT = Separate("encoder.layer.{layer}.attention.self.query", "encoder.layer.{layer}.attention.self.key")


def encoder_stack(
    config: ModelConfig, positions: PositionScheme, layout: Layout, also: tuple[PositionScheme, ...] = ()
) -> Stack:
    """The one stack of an encoder whose config has BERT's names."""
    width, heads = config.whole("hidden_size"), config.whole("num_attention_heads")
    std = initial_std(config)
    return Stack(
        "encoder",
        positions,
        config.whole("num_hidden_layers"),
        width,
        heads,
        heads,
        config.head_dim(width, heads),
        layout,
        (std, std),
        also=also,
        causal=config.get("is_decoder") is True,
    )


def decoder_stack(
    config: ModelConfig, positions: PositionScheme, layout: Layout, key_heads: int | None = None, **further: Any
) -> Stack:
    """The one stack of a causal model, whichever names its config has for sizes; `further` are fields of `Stack`."""
    width = config.whole("hidden_size", "n_embd", "n_embed", "d_model")
    heads = config.whole("num_attention_heads", "n_head", "num_heads", "n_heads")
    n_layers = config.whole("num_hidden_layers", "n_layer", "num_layers", "n_layers")
    std = initial_std(config)
    head_dim = config.head_dim(width, heads)
    shape = (n_layers, width, heads, key_heads or heads, head_dim)
    return Stack("decoder", positions, *shape, layout, (std, std), causal=True, **further)


def learned_table(config: ModelConfig, width: int | None = None) -> PositionTable:
    """A table of as many rows as the config has positions, by default in the width of its layers."""
    rows = config.whole("max_position_embeddings") if config.get("max_position_embeddings") else None
    width = config.whole("hidden_size") if width is None else width
    return PositionTable(TABLE, initial_std=initial_std(config), n_rows=rows, width=width)


def initial_std(config: ModelConfig) -> float:
    """Standard deviation of a fresh model's weights."""
    return config.number("initializer_range", "init_std", default=0.02)


def refuse_relative(config: ModelConfig) -> None:
    """Refuse the variants with learned distances inside the attention, which have no table that is used."""
    kind = config.get("position_embedding_type")
    if kind not in (None, "absolute"):
        raise CheckpointError(
            f"config of {shown(config.source)} has position_embedding_type {shown(kind, 40)}: expected absolute"
        )


class Bert(Family):
    """BERT; position i is row i."""

    model_types = ("bert",)
    prefixes = frozenset({"bert"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        refuse_relative(config)
        return (encoder_stack(config, learned_table(config), BERT_LAYOUT),)


class Electra(Family):
    """ELECTRA: as BERT, with embeddings that may be narrower than the layers."""

    model_types = ("electra",)
    prefixes = frozenset({"electra", "generator", "discriminator"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        refuse_relative(config)
        width = config.whole("hidden_size")
        narrow = config.whole("embedding_size", default=width)
        table = learned_table(config, narrow)
        if narrow != width:
            table = replace(table, projection="embeddings_project")
        return (encoder_stack(config, table, BERT_LAYOUT),)


class DistilBert(Family):
    """DistilBERT: as BERT; some checkpoints have fixed sines and cosines in the table."""

    model_types = ("distilbert",)
    prefixes = frozenset({"distilbert"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        width, heads = config.whole("dim", "hidden_size"), config.whole("n_heads", "num_attention_heads")
        std, fixed = initial_std(config), config.get("sinusoidal_pos_embds") is True
        layer = "transformer.layer.{layer}.attention."
        table = replace(learned_table(config, width), fixed=fixed, initial_std=None if fixed else std)
        return (
            Stack(
                "encoder",
                table,
                config.whole("n_layers", "num_hidden_layers"),
                width,
                heads,
                heads,
                config.head_dim(width, heads),
                Separate(layer + "q_lin", layer + "k_lin"),
                (std, std),
            ),
        )
