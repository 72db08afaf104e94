"""A model's own table as a product A W^T, in place: the module that owns it computes it from two narrow parameters."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from posgeom.errors import CheckpointError
from posgeom.messages import shown
from posgeom.models.checkpoint import Checkpoint
from posgeom.training.modules import low_rank_product
from posgeom.training.places import Place
from posgeom.training.rows import factors_of

_ROUNDINGS = 64
"""Roundings, in units of the largest entry, by which a product can differ from the same one saved in another type."""


class LowRankTable(nn.Module):
    """The parametrization: rows that no position has as they are, then A W^T."""

    # Saved states have the whole table under its own name beside the factors, so that a model without this module loads
    # them too; where one is loaded, the factors count.

    def __init__(self, place: Place, rank: int) -> None:
        super().__init__()
        self.first_row, self.rank, self.attribute = place.first_row, rank, place.attribute

    def forward(self, *parts: Tensor) -> Tensor:
        """The table, from the rows before that of position 0, where there are any, A and W."""
        *before, coordinates, axes = parts
        product = low_rank_product(coordinates, axes)
        # The shape of a vision model's table has a leading axis, which the rows before keep.
        return torch.cat([before[0], product.expand(*before[0].shape[:-2], -1, -1)], dim=-2) if before else product

    def right_inverse(self, table: Tensor) -> tuple[Tensor, ...]:
        """The parts of the nearest such table."""
        points = table[..., self.first_row :, :].reshape(-1, table.shape[-1]).detach().double().cpu().numpy()
        factors = [torch.from_numpy(part).to(table) for part in factors_of(np.asarray(points), self.rank)]
        return (table[..., : self.first_row, :].clone(), *factors) if self.first_row else tuple(factors)

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        own = prefix.removesuffix("0.")
        parts = [destination[own + f"original{i}"] for i in range(3 if self.first_row else 2)]
        with torch.no_grad():
            destination[self._table(own)] = self(*parts)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, metadata: Any, strict: bool, *keys_and_messages: list[str]
    ) -> None:
        super()._load_from_state_dict(state_dict, prefix, metadata, strict, *keys_and_messages)
        _missing, unexpected, _errors = keys_and_messages
        table = self._table(prefix.removesuffix("0."))
        if table in unexpected:
            unexpected.remove(table)

    def _table(self, own: str) -> str:
        return own.removesuffix(f"parametrizations.{self.attribute}.") + self.attribute


def make_low_rank(model: nn.Module, place: Place, rank: int) -> None:
    """Let the table be the product whose nearest it is."""
    parametrize.register_parametrization(place.owner(model), place.attribute, LowRankTable(place, rank))


def is_low_rank(model: nn.Module, place: Place) -> bool:
    """Whether the table is such a product."""
    return bool(parametrize.is_parametrized(place.owner(model), place.attribute))


def make_full(model: nn.Module, place: Place) -> None:
    """Let the table be one parameter again, with the values that the product has."""
    owner = place.owner(model)
    parametrize.remove_parametrizations(owner, place.attribute, leave_parametrized=True)
    table = getattr(owner, place.attribute)
    if not isinstance(table, nn.Parameter):  # torch leaves what is frozen as a buffer
        delattr(owner, place.attribute)
        setattr(owner, place.attribute, nn.Parameter(table.detach(), requires_grad=False))


def load_factors(model: nn.Module, place: Place, checkpoint: Checkpoint) -> None:
    """Give the parts of the product the values that a checkpoint has; their product must be the table that it has."""
    before = place.table(model).detach().clone()
    stem = f"{place.tensor.rpartition('.')[0]}.parametrizations.{place.attribute}.".lstrip(".")
    owned = place.owner(model).parametrizations[place.attribute]
    with torch.no_grad():
        for name, parameter in owned.named_parameters():
            values = checkpoint.read(checkpoint.locate(stem + name, place.prefixes))
            if values.shape != tuple(parameter.shape):
                raise CheckpointError(
                    f"{shown(checkpoint.name)}: {shown(stem + name)} has shape {values.shape}, by its config it has "
                    f"{tuple(parameter.shape)}"
                )
            parameter.copy_(torch.from_numpy(values))
    apart = (place.table(model).detach() - before).abs().max().item()
    if not apart <= _ROUNDINGS * torch.finfo(before.dtype).eps * before.abs().max().item():
        raise CheckpointError(
            f"{shown(checkpoint.name)}: the product of its low-rank factors is not the table that was loaded: load a "
            "directory that save_pretrained wrote"
        )
