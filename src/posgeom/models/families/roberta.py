"""RoBERTa, XLM-R, MPNet and ESM: a learned table whose positions start after the padding row; ESM-2 is rotary."""

from dataclasses import replace

from posgeom.errors import CheckpointError
from posgeom.messages import shown
from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import BERT_LAYOUT, encoder_stack, learned_table, refuse_relative
from posgeom.models.family import Embedding, Family, PositionTable, Rotary, Stack, T5Bias
from posgeom.models.query_key import Separate


def table_after_padding(config: ModelConfig, padding: int) -> PositionTable:
    """A table whose position 0 is the row after the padding token's id; 514 rows hold 512 positions."""
    return replace(learned_table(config), offset=padding + 1, padding_row=padding)


class Roberta(Family):
    """RoBERTa and XLM-R."""

    model_types = ("roberta", "xlm-roberta", "camembert")
    prefixes = frozenset({"roberta"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        refuse_relative(config)
        table = table_after_padding(config, config.whole("pad_token_id", default=1, least=0))
        return (encoder_stack(config, table, BERT_LAYOUT),)


class MPNet(Family):
    """MPNet: RoBERTa's table, and T5's bias beside it, one table for all layers."""

    model_types = ("mpnet",)
    prefixes = frozenset({"mpnet"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`; the padding row is 1 whatever the config says."""
        layer = "encoder.layer.{layer}.attention.attn."
        bias = T5Bias(
            "encoder.relative_attention_bias.weight",
            n_buckets=config.whole("relative_attention_num_buckets", default=32),
            n_heads=config.whole("num_attention_heads"),
        )
        layout = Separate(layer + "q", layer + "k")
        return (encoder_stack(config, table_after_padding(config, 1), layout, also=(bias,)),)


class Esm(Family):
    """ESM-1 with RoBERTa's table, and ESM-2, which is rotary."""

    model_types = ("esm",)
    prefixes = frozenset({"esm"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        kind = config.get("position_embedding_type") or "absolute"
        if kind == "absolute":
            table = table_after_padding(config, config.whole("pad_token_id", default=1, least=0))
            return (encoder_stack(config, table, BERT_LAYOUT),)
        if kind != "rotary":
            raise CheckpointError(
                f"config of {shown(config.source)} has position_embedding_type {shown(kind, 40)}: expected absolute or "
                "rotary"
            )
        stack = encoder_stack(config, Rotary(config.values), BERT_LAYOUT)
        norm = Embedding(
            "embeddings.word_embeddings.weight",
            "encoder.layer.{layer}.attention.LayerNorm",
            "layer",
            config.number("layer_norm_eps", default=1e-12),
        )
        length = config.whole("max_position_embeddings", default=1026)
        return (replace(stack, embedding=norm, n_positions=length),)
