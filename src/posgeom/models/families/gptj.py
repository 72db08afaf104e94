"""GPT-J: rotary on the first channels of a head, neighbours paired."""

from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import initial_std
from posgeom.models.family import Embedding, Family, Rotary, Stack
from posgeom.models.query_key import Separate


class GPTJ(Family):
    """GPT-J; channels 2k and 2k + 1 are a pair."""

    model_types = ("gptj",)
    prefixes = frozenset({"transformer"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        width, heads = config.whole("n_embd", "hidden_size"), config.whole("n_head", "num_attention_heads")
        head_dim, std = config.head_dim(width, heads), initial_std(config)
        layer = "h.{layer}.attn."
        return (
            Stack(
                "decoder",
                Rotary(config.values),
                config.whole("n_layer", "num_hidden_layers"),
                width,
                heads,
                heads,
                head_dim,
                Separate(layer + "q_proj", layer + "k_proj"),
                (std, std),
                n_positions=config.whole("n_positions", default=2048),
                causal=True,
                embedding=Embedding(
                    "wte.weight", "h.{layer}.ln_1", "layer", config.number("layer_norm_epsilon", default=1e-5)
                ),
            ),
        )
