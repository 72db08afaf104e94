"""Tensors named by hand, for a model whose family is not known."""

from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from posgeom.encodings.checks import check_heads
from posgeom.errors import CheckpointError
from posgeom.messages import shown
from posgeom.models.checkpoint import Checkpoint
from posgeom.models.config import ModelConfig
from posgeom.models.family import NoPositions, PositionScheme, PositionTable, Stack
from posgeom.models.query_key import Separate

_MAX_LAYERS = 1 << 12


@dataclass(frozen=True)
class ByHand:
    """Where a model's positions and projections are.

    Attributes
    ----------
    tensor : str or None
        Position table, (rows, width), by its stored name.
    offset : int
        Rows before that of position 0.
    query, key : str or None
        Projections, stored out x in, with ``{layer}`` for the layer's number.
    n_heads, n_key_heads : int or None
        Heads; by default 1, and as many for keys as for queries.
    """

    tensor: str | None = None
    offset: int = 0
    query: str | None = None
    key: str | None = None
    n_heads: int | None = None
    n_key_heads: int | None = None

    @property
    def given(self) -> bool:
        """Whether anything is named."""
        return self != ByHand()


def named_by_hand(checkpoint: Checkpoint, config: ModelConfig, names: ByHand) -> Stack:
    """A stack from tensors that were named."""
    if names.tensor is None and names.query is None:
        raise CheckpointError("--offset, --key and numbers of heads come with --tensor or with --query")
    if names.offset < 0:
        raise CheckpointError(f"--offset {names.offset}: expected 0 or more rows")
    std = config.number("initializer_range", "init_std") if config.get("initializer_range", "init_std") else None
    positions: PositionScheme = NoPositions()
    width = 0
    if names.tensor is not None:
        width = checkpoint.entry(names.tensor).shape[-1] if checkpoint.entry(names.tensor).shape else 0
        positions = PositionTable(names.tensor, offset=names.offset, initial_std=std)
    stack = Stack("model", positions, 0, width, 1, 1, max(width, 1), None, (std or 0.02, std or 0.02))
    return stack if names.query is None else _with_layers(checkpoint, stack, names)


def _with_layers(checkpoint: Checkpoint, stack: Stack, names: ByHand) -> Stack:
    if names.query is None or names.key is None:
        raise CheckpointError("--query and --key come together, each with {layer} where the layer's number stands")
    patterns = [_pattern(name) for name in (names.query, names.key)]
    shape = checkpoint.entry(patterns[0].format(layer=0) + ".weight").shape
    key_shape = checkpoint.entry(patterns[1].format(layer=0) + ".weight").shape
    heads = names.n_heads or 1
    check_heads("--query", heads)
    key_heads = names.n_key_heads or heads
    if len(shape) != 2 or len(key_shape) != 2 or shape[0] % heads or heads % key_heads:
        raise CheckpointError(
            f"{shown(names.query)} has shape {shape} and {shown(names.key)} {key_shape}: {heads} and {key_heads} heads "
            "do not divide them"
        )
    known = set(checkpoint.names)
    layers = next(i for i in count() if f"{patterns[0].format(layer=i)}.weight" not in known or i == _MAX_LAYERS)
    sizes: dict[str, Any] = {"width": shape[1], "n_heads": heads, "n_key_heads": key_heads}
    return replace(stack, n_layers=layers, head_dim=shape[0] // heads, layout=Separate(*patterns), **sizes)


def _pattern(name: str) -> str:
    """The pattern of a projection, without ``.weight``; other braces are taken as they are."""
    if "{layer}" not in name:
        raise CheckpointError(f"{shown(name)}: expected {{layer}} where the layer's number stands")
    parts = name.removesuffix(".weight").split("{layer}")
    return "{layer}".join(part.replace("{", "{{").replace("}", "}}") for part in parts)
