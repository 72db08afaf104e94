"""GPT-NeoX and Pythia: rotary on a share of the channels, queries, keys and values fused head by head."""

from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import initial_std
from posgeom.models.family import Embedding, Family, Rotary, Stack
from posgeom.models.query_key import Fused


class GPTNeoX(Family):
    """GPT-NeoX; channels k and k + r/2 are a pair."""

    model_types = ("gpt_neox",)
    prefixes = frozenset({"gpt_neox"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        width, heads = config.whole("hidden_size"), config.whole("num_attention_heads")
        std = initial_std(config)
        return (
            Stack(
                "decoder",
                Rotary(config.values),
                config.whole("num_hidden_layers"),
                width,
                heads,
                heads,
                config.head_dim(width, heads),
                Fused("layers.{layer}.attention.query_key_value", "heads"),
                (std, std),
                n_positions=config.whole("max_position_embeddings", default=2048),
                causal=True,
                embedding=Embedding(
                    "embed_in.weight",
                    "layers.{layer}.input_layernorm",
                    "layer",
                    config.number("layer_norm_eps", default=1e-5),
                ),
            ),
        )
