"""GPT-NeoX and Pythia: rotary on a share of the channels, queries, keys and values fused head by head."""

from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import decoder_stack
from posgeom.models.family import Embedding, Family, Rotary, Stack
from posgeom.models.query_key import Fused


class GPTNeoX(Family):
    """GPT-NeoX; channels k and k + r/2 are a pair."""

    model_types = ("gpt_neox",)
    prefixes = frozenset({"gpt_neox"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        epsilon = config.number("layer_norm_eps", default=1e-5)
        norm = Embedding("embed_in.weight", "layers.{layer}.input_layernorm", "layer", epsilon)
        layout = Fused("layers.{layer}.attention.query_key_value", "heads")
        length = config.whole("max_position_embeddings", default=2048)
        return (decoder_stack(config, Rotary(config.values), layout, n_positions=length, embedding=norm),)
