"""GPT-J: rotary on the first channels of a head, neighbours paired."""

from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import decoder_stack
from posgeom.models.family import Embedding, Family, Rotary, Stack
from posgeom.models.query_key import Separate


class GPTJ(Family):
    """GPT-J; channels 2k and 2k + 1 are a pair."""

    model_types = ("gptj",)
    prefixes = frozenset({"transformer"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        epsilon = config.number("layer_norm_epsilon", default=1e-5)
        norm = Embedding("wte.weight", "h.{layer}.ln_1", "layer", epsilon)
        layout = Separate("h.{layer}.attn.q_proj", "h.{layer}.attn.k_proj")
        length = config.whole("n_positions", default=2048)
        return (decoder_stack(config, Rotary(config.values), layout, n_positions=length, embedding=norm),)
