"""Where a running transformers model keeps its vectors of positions, by what its family says."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.nn.utils import parametrize

from posgeom.errors import CheckpointError
from posgeom.messages import shown, shown_list
from posgeom.models.config import ModelConfig
from posgeom.models.family import PositionTable
from posgeom.models.interventions import running_name
from posgeom.models.registry import find_family


@dataclass(frozen=True, slots=True)
class Place:
    """A model's table: its full name there, its row of position 0, and its name in checkpoints, after `prefixes`."""

    parameter: str
    first_row: int
    tensor: str
    prefixes: frozenset[str]

    @property
    def attribute(self) -> str:
        """The last part of its name."""
        return self.parameter.rpartition(".")[2]

    def owner(self, model: nn.Module) -> Any:
        """The module that has it."""
        return model.get_submodule(self.parameter.rpartition(".")[0])

    def table(self, model: nn.Module) -> Tensor:
        """The whole table, (rows, width), leading axes of length 1 dropped; a product where it is of low rank."""
        whole: Tensor = getattr(self.owner(model), self.attribute)
        return whole.reshape(whole.shape[-2:])


def place_of(model: nn.Module, stack: str | None = None) -> Place:
    """The table of a stack of a model, by default of its first."""
    config = getattr(model, "config", None)
    if config is None or not hasattr(config, "to_dict"):
        raise CheckpointError(
            f"got {type(model).__name__}: expected a model of transformers, with its config; in a model of your own, "
            "use PositionalEmbedding"
        )
    kind, name = str(config.model_type), type(model).__name__
    family = find_family(kind)
    if family is None:
        raise CheckpointError(
            f"{name} has model_type {shown(kind, 60)}, which is not known: use PositionalEmbedding in its place, or "
            "register_family"
        )
    stacks = family.stacks(ModelConfig(config.to_dict(), name))
    chosen = next((one for one in stacks if stack in (None, one.name)), None)
    if chosen is None:
        raise CheckpointError(f"{name} has no stack {shown(stack)}: it has {shown_list([s.name for s in stacks])}")
    table = chosen.positions
    if not isinstance(table, PositionTable):
        raise CheckpointError(
            f"{name} has positions of kind {table.kind}, no table that an encoding could take the place of: "
            "expected one such as BERT, RoBERTa, ALBERT, GPT-2, OPT or ViT has"
        )
    names = [parameter for parameter, _ in model.named_parameters(remove_duplicate=False)]
    for prefix, module in model.named_modules():
        if parametrize.is_parametrized(module):  # a table of low rank has the name of the table
            names += [f"{prefix}.{attribute}".lstrip(".") for attribute in module.parametrizations]
    parameter = running_name(names, table.tensor, family.prefixes, name)
    return Place(parameter, table.offset + table.n_special, table.tensor, family.prefixes)
