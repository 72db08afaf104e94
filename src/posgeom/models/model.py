"""A model: its checkpoint, and what its family says of it."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from posgeom.encodings.rotary_families import FAMILIES as ROTARY_FAMILIES
from posgeom.errors import CheckpointError
from posgeom.messages import shown
from posgeom.models.by_hand import ByHand, named_by_hand
from posgeom.models.checkpoint import Checkpoint, open_checkpoint
from posgeom.models.config import ModelConfig
from posgeom.models.family import Family, PositionScheme, PositionTable, Rotary, Stack, T5Bias
from posgeom.models.gguf_model import gguf_stack
from posgeom.models.query_key import HeadShape, QueryKey, Tensors
from posgeom.models.registry import GROUP, find_family, model_types

_TABLE_NAME = re.compile(r"pos(ition)?(al)?s?[_.]?(emb|enc|table)|emb(ed)?_pos|(^|[._])(wpe|pe)([._]|$)")
_RELATIVE_NAME = re.compile(r"(^|[._])rel")
"""Tables of lags, which are no rows of positions."""
_MANY = 1 << 16


@dataclass(frozen=True, eq=False)
class Model:
    """A model's checkpoint, understood.

    Attributes
    ----------
    checkpoint : Checkpoint
    model_type : str or None
        None where there is no config.
    stacks : tuple of Stack
        Those that the checkpoint has weights of.
    tensors : Tensors
    """

    checkpoint: Checkpoint
    model_type: str | None
    stacks: tuple[Stack, ...]
    tensors: Tensors

    def __repr__(self) -> str:
        return f"<Model {self.checkpoint.name}: {self.model_type}, {', '.join(stack.name for stack in self.stacks)}>"

    def stack(self, name: str | None = None) -> Stack:
        """The stack of a name; by default the first.

        Raises
        ------
        CheckpointError
            When there is none of that name.
        """
        if name is None:
            return self.stacks[0]
        for stack in self.stacks:
            if stack.name == name:
                return stack
        raise CheckpointError(
            f"{shown(self.checkpoint.name)} has no stack {shown(name)}: it has {', '.join(s.name for s in self.stacks)}"
        )

    def query_key(self, stack: Stack, layer: int) -> QueryKey:
        """Query and key projections of a layer.

        Raises
        ------
        CheckpointError
            When they are missing, of another shape than the config says, or not named.
        """
        if stack.layout is None:
            raise CheckpointError(
                f"{shown(self.checkpoint.name)}: name its query and key projections too, with --query and --key"
            )
        if stack.n_heads % stack.n_key_heads:
            raise CheckpointError(
                f"{shown(self.checkpoint.name)}: {stack.n_heads} query heads cannot share {stack.n_key_heads} key heads"
            )
        shape = HeadShape(stack.n_heads, stack.n_key_heads, stack.head_dim, stack.width)
        return stack.layout.read(self.tensors, layer, shape)


def open_model(model: str | Path, by_hand: ByHand | None = None) -> Model:
    """Open a model's checkpoint and find its family by ``model_type``.

    Parameters
    ----------
    model : str or Path
        A directory, a .safetensors file, or the name of a model on the hub.
    by_hand : ByHand, optional
        Tensors to use where the family is not known, or instead of what it says.

    Returns
    -------
    Model

    Raises
    ------
    CheckpointError
        When the checkpoint cannot be read, or no family is known and no tensor named.
    """
    checkpoint = open_checkpoint(model)
    config = ModelConfig(checkpoint.config or {}, checkpoint.name)
    given = config.get("model_type")
    if given is not None and not isinstance(given, str):
        raise CheckpointError(f"{shown(checkpoint.name)} has model_type {shown(given, 60)}: expected a name")
    kind = given
    if by_hand is not None and by_hand.given:
        stack = named_by_hand(checkpoint, config, by_hand)
        return Model(checkpoint, kind, (stack,), Tensors(checkpoint, frozenset()))
    if checkpoint.gguf is not None:
        kind, stack = gguf_stack(checkpoint, checkpoint.gguf)
        return Model(checkpoint, kind, (stack,), Tensors(checkpoint, frozenset()))
    family = find_family(kind) if kind else None
    if family is None:
        rotary = _rotary_stack(config)
        if rotary is None:
            raise CheckpointError(_unknown(checkpoint, kind))
        return Model(checkpoint, kind, (rotary,), Tensors(checkpoint, frozenset()))
    tensors = Tensors(checkpoint, family.prefixes)
    return Model(checkpoint, kind, _present(family, config, tensors), tensors)


def _present(family: Family, config: ModelConfig, tensors: Tensors) -> tuple[Stack, ...]:
    """The stacks that a checkpoint has: an encoder alone may have been saved. The first where it has none."""
    stacks = tuple(_without_missing_table(stack, tensors) for stack in family.stacks(config))
    if len(stacks) == 1:
        return stacks
    if not tensors.checkpoint.names:
        return stacks
    found = tuple(stack for stack in stacks if _has_table(stack.positions, tensors))
    return found or stacks[:1]


def _has_table(positions: PositionScheme, tensors: Tensors) -> bool:
    """Whether a scheme has the table that it takes, or takes none."""
    if isinstance(positions, PositionTable):
        return tensors.find(positions.tensor) is not None
    return not isinstance(positions, T5Bias) or tensors.find(positions.tensor.format(layer=0)) is not None


def _without_missing_table(stack: Stack, tensors: Tensors) -> Stack:
    """The stack, by formula where its table has one and the checkpoint lacks it."""
    table = stack.positions
    if not isinstance(table, PositionTable) or table.formula is None or tensors.find(table.tensor) is not None:
        return stack
    return replace(stack, positions=table.formula)


def _rotary_stack(config: ModelConfig) -> Stack | None:
    """The positions of a model without a family, from its config's rotary options alone; None where it has none."""
    part = config.part("text_config")
    given = any(source.get("rope_theta", "rope_parameters", "rope_scaling") for source in (config, part))
    if not given and str(part.get("model_type")) not in ROTARY_FAMILIES:
        return None
    width = part.get("hidden_size", "n_embd")
    length = part.get("max_position_embeddings", "n_positions")
    sizes = [value if isinstance(value, int) and value > 0 else None for value in (width, length)]
    return Stack(
        "model", Rotary(config.values), 0, sizes[0] or 0, 1, 1, 1, None, (0.02, 0.02), n_positions=sizes[1], causal=True
    )


def _candidates(checkpoint: Checkpoint) -> str:
    """Tensors that could be a position table, by name and shape."""
    found = []
    for name in checkpoint.names if len(checkpoint.names) < _MANY else ():
        if _TABLE_NAME.search(name) and not _RELATIVE_NAME.search(name):
            shape = tuple(n for n in checkpoint.entry(name).shape if n > 1)
            if len(shape) == 2:
                found.append(f"--tensor {shown(name, 100)} ({shape[0]} x {shape[1]})")
    return f" It could be {' or '.join(found[:4])}." if found else ""


def _unknown(checkpoint: Checkpoint, kind: str | None) -> str:
    what = f"has model_type {shown(kind, 60)}, which is not known" if kind else "has no config.json with a model_type"
    return (
        f"{shown(checkpoint.name)} {what} and has no rotary options in its config: name its position table with "
        f"--tensor NAME and --offset ROWS, its projections with --query and --key.{_candidates(checkpoint)} The "
        f"{len(model_types())} types that are known are in docs/models.md; a package adds one by an entry point in "
        f"{GROUP}"
    )
