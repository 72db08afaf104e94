"""Swin and Swin V2: a bias by offset inside a window, of each layer its own; a stack for each stage."""

from posgeom.errors import CheckpointError
from posgeom.messages import shown
from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import initial_std
from posgeom.models.families.vit import patch_grid
from posgeom.models.family import Family, PositionTable, Stack
from posgeom.models.query_key import Separate
from posgeom.models.relative_kinds import WindowBias


class Swin(Family):
    """Swin: the table is stored."""

    model_types: tuple[str, ...] = ("swin",)
    prefixes = frozenset({"swin"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`; the table for all patches, which some models have beside the bias, is the first stage's."""
        depths, heads = _listed(config, "depths"), _listed(config, "num_heads")
        if len(depths) != len(heads):
            raise CheckpointError(
                f"config of {shown(config.source)} has {len(depths)} depths, {len(heads)} num_heads: expected as many"
            )
        width, std = config.whole("embed_dim"), initial_std(config)
        table = PositionTable("embeddings.position_embeddings", grid=patch_grid(config), initial_std=0.0)
        stacks = []
        for stage, (depth, n_heads) in enumerate(zip(depths, heads, strict=True)):
            attention = f"encoder.layers.{stage}.blocks.{{layer}}.attention.self."
            own = width * 2**stage
            bias = self.bias(config, stage, attention, depth, n_heads)
            stacks.append(
                Stack(
                    f"stage{stage + 1}",
                    bias,
                    depth,
                    own,
                    n_heads,
                    n_heads,
                    config.head_dim(own, n_heads),
                    Separate(attention + "query", attention + "key"),
                    (std, std),
                    also=(table,) if stage == 0 and config.get("use_absolute_embeddings") is True else (),
                    n_positions=bias.window**2,
                )
            )
        return tuple(stacks)

    def bias(self, config: ModelConfig, stage: int, attention: str, depth: int, n_heads: int) -> WindowBias:  # noqa: ARG002
        """The bias of a stage."""
        return WindowBias(attention + "relative_position_bias_table", depth, config.whole("window_size"), n_heads)


class SwinV2(Swin):
    """Swin V2: a small network makes the table from offsets on a logarithmic scale."""

    model_types = ("swinv2",)
    prefixes = frozenset({"swinv2"})

    def bias(self, config: ModelConfig, stage: int, attention: str, depth: int, n_heads: int) -> WindowBias:
        """See `Swin`; windows are no wider than the stage, and those of an earlier training set the scale."""
        window = min(config.whole("window_size"), patch_grid(config)[0] // 2**stage)
        sizes = config.get("pretrained_window_sizes")
        earlier = sizes[stage] if isinstance(sizes, list) and len(sizes) > stage else 0
        if isinstance(earlier, bool) or not isinstance(earlier, int) or earlier == 1 or window < 1:
            raise CheckpointError(
                f"config of {shown(config.source)} has pretrained_window_sizes {shown(sizes, 60)} and windows of "
                f"{window} in stage {stage + 1}: expected whole numbers that are not 1, and at least 1"
            )
        reach = max((earlier if earlier > 0 else window) - 1, 1)
        return WindowBias(attention + "continuous_position_bias_mlp", depth, window, n_heads, reach)


def _listed(config: ModelConfig, key: str) -> list[int]:
    values = config.get(key)
    if not isinstance(values, list) or not values or not all(type(n) is int and 0 < n < 2**16 for n in values):
        raise CheckpointError(
            f"config of {shown(config.source)} has {key} = {shown(values, 60)}: expected a list of whole numbers from 1"
        )
    return values
