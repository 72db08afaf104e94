"""T5: no table; a learned bias by buckets of the lag, in the first layer's attention and used by all."""

from posgeom.models.config import ModelConfig
from posgeom.models.family import Family, Stack, T5Bias
from posgeom.models.query_key import Separate


class T5(Family):
    """T5 and mT5."""

    model_types: tuple[str, ...] = ("t5", "mt5")
    prefixes = frozenset()
    table_in_each_layer = False

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`; heads need not add up to the width."""
        width, heads, head_dim = config.whole("d_model"), config.whole("num_heads"), config.whole("d_kv")
        factor = config.number("initializer_factor", default=1.0)
        n_layers = config.whole("num_layers")
        block = "{layer}" if self.table_in_each_layer else "0"
        counts = {"encoder": n_layers, "decoder": config.whole("num_decoder_layers", default=n_layers)}
        return tuple(
            Stack(
                side,
                T5Bias(
                    f"{side}.block.{block}.layer.0.SelfAttention.relative_attention_bias.weight",
                    config.whole("relative_attention_max_distance", default=128),
                    causal=side == "decoder",
                    n_layers=counts[side] if self.table_in_each_layer else None,
                    n_buckets=config.whole("relative_attention_num_buckets", default=32),
                    n_heads=heads,
                ),
                counts[side],
                width,
                heads,
                heads,
                head_dim,
                Separate(
                    side + ".block.{layer}.layer.0.SelfAttention.q", side + ".block.{layer}.layer.0.SelfAttention.k"
                ),
                (factor * (width * head_dim) ** -0.5, factor * width**-0.5),
                n_positions=config.whole("n_positions", default=512),
                causal=side == "decoder",
            )
            for side in ("encoder", "decoder")
        )


class UMT5(T5):
    """UMT5: as T5, with a table in each layer."""

    model_types = ("umt5",)
    table_in_each_layer = True
