"""Llama, Mistral and Qwen2: rotary, with groups of query heads that share a key head."""

from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import initial_std
from posgeom.models.family import Embedding, Family, Rotary, Stack
from posgeom.models.query_key import Separate


class Llama(Family):
    """Llama and what has its layers; channels k and k + r/2 are a pair."""

    model_types = ("llama", "mistral", "mixtral", "qwen2")
    prefixes = frozenset({"model"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        width, heads = config.whole("hidden_size"), config.whole("num_attention_heads")
        std = initial_std(config)
        layer = "layers.{layer}.self_attn."
        # Configs of the first Llama leave the base out.
        rotary = {"rope_theta": 10000.0} | dict(config.values)
        return (
            Stack(
                "decoder",
                Rotary(rotary, "halves"),
                config.whole("num_hidden_layers"),
                width,
                heads,
                config.whole("num_key_value_heads", default=heads),
                config.head_dim(width, heads),
                Separate(layer + "q_proj", layer + "k_proj"),
                (std, std),
                n_positions=config.whole("max_position_embeddings", default=2048),
                causal=True,
                embedding=Embedding(
                    "embed_tokens.weight",
                    "layers.{layer}.input_layernorm",
                    "rms",
                    config.number("rms_norm_eps", default=1e-6),
                ),
            ),
        )
