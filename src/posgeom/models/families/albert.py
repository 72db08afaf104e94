"""ALBERT: a narrow learned table, and layers that share their weights."""

from dataclasses import replace

from posgeom.errors import CheckpointError
from posgeom.messages import shown
from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import encoder_stack, learned_table, refuse_relative
from posgeom.models.family import Family, Stack
from posgeom.models.query_key import Separate

_GROUP = "encoder.albert_layer_groups.{layer}.albert_layers.0.attention."


class Albert(Family):
    """ALBERT; a layer of the stack is a group of layers that share weights."""

    model_types = ("albert",)
    prefixes = frozenset({"albert"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        refuse_relative(config)
        if config.whole("inner_group_num", default=1) != 1:
            raise CheckpointError(
                f"config of {shown(config.source)} has inner_group_num {config.get('inner_group_num')}: expected 1"
            )
        table = replace(
            learned_table(config, config.whole("embedding_size", default=128)),
            projection="encoder.embedding_hidden_mapping_in",
        )
        stack = encoder_stack(config, table, Separate(_GROUP + "query", _GROUP + "key"))
        groups = config.whole("num_hidden_groups", default=1)
        return (replace(stack, n_layers=groups, n_uses=stack.n_layers),)
