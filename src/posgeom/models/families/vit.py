"""ViT, DeiT and CLIP: learned tables over a grid of patches, after the class token; CLIP's text model beside it."""

from dataclasses import replace

from posgeom.errors import CheckpointError
from posgeom.messages import shown
from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import encoder_stack, initial_std
from posgeom.models.family import Family, PositionTable, Stack
from posgeom.models.query_key import Separate


def patch_grid(config: ModelConfig) -> tuple[int, int]:
    """Rows and columns of patches of an image."""
    sizes = []
    for key in ("image_size", "patch_size"):
        value = config.get(key)
        pair = value if isinstance(value, list) else [value, value]
        if len(pair) != 2 or not all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in pair):
            raise CheckpointError(
                f"config of {shown(config.source)} has {key} = {shown(value, 40)}: expected a whole number, or two"
            )
        sizes.append(pair)
    return sizes[0][0] // sizes[1][0], sizes[0][1] // sizes[1][1]


class ViT(Family):
    """ViT; row 0 is the class token's."""

    model_types = ("vit",)
    prefixes = frozenset({"vit"})
    n_special = 1

    def table_std(self, config: ModelConfig) -> float:
        """Standard deviation of a fresh table."""
        return initial_std(config)

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        layer = "encoder.layer.{layer}.attention.attention."
        table = PositionTable(
            "embeddings.position_embeddings",
            n_special=self.n_special,
            grid=patch_grid(config),
            initial_std=self.table_std(config),
        )
        return (encoder_stack(config, table, Separate(layer + "query", layer + "key")),)


class DeiT(ViT):
    """DeiT: as ViT, with a distillation token after the class token."""

    model_types = ("deit",)
    prefixes = frozenset({"deit"})
    n_special = 2

    def table_std(self, config: ModelConfig) -> float:  # noqa: ARG002
        """A fresh table is zero."""
        return 0.0


class Dinov2(ViT):
    """DINOv2: as ViT."""

    model_types = ("dinov2",)
    prefixes = frozenset({"dinov2"})


class Clip(Family):
    """CLIP: a text model, and a ViT for images."""

    model_types: tuple[str, ...] = ("clip", "clip_text_model", "clip_vision_model")
    prefixes = frozenset({"clip"})
    n_special = 1

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        factor = config.number("initializer_factor", default=1.0)
        kind = str(config.get("model_type"))
        sides = [side for side in ("text", "vision") if f"_{side}_" in kind] or ["text", "vision"]
        return tuple(_side(config.part(f"{side}_config"), side, factor, self.n_special) for side in sides)


class Siglip(Clip):
    """SigLIP: as CLIP, without a class token, its text seen in both directions."""

    model_types = ("siglip", "siglip_text_model", "siglip_vision_model")
    prefixes = frozenset({"siglip"})
    n_special = 0

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`; how its tables are drawn is not known."""
        return tuple(
            replace(
                stack,
                positions=replace(stack.positions, initial_std=None),
                causal=False,
                initial_std=(stack.width**-0.5, stack.width**-0.5),
            )
            for stack in super().stacks(config)
            if isinstance(stack.positions, PositionTable)
        )


def _side(config: ModelConfig, side: str, factor: float, n_special: int) -> Stack:
    layer = side + "_model.encoder.layers.{layer}.self_attn."
    std = factor * (config.number("initializer_range", default=0.02) if side == "vision" else 0.02)
    rows = config.whole("max_position_embeddings") if config.get("max_position_embeddings") else None
    table = PositionTable(
        f"{side}_model.embeddings.position_embedding.weight",
        n_rows=rows if side == "text" else None,
        n_special=n_special if side == "vision" else 0,
        grid=patch_grid(config) if side == "vision" else None,
        initial_std=std,
    )
    stack = encoder_stack(config, table, Separate(layer + "q_proj", layer + "k_proj"))
    projection = factor * (2 * stack.width * stack.n_layers) ** -0.5
    return replace(stack, name=side, initial_std=(projection, projection), causal=side == "text")
