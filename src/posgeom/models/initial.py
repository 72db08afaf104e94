"""A freshly initialised copy of a stack: weights drawn as its family draws them, without torch."""

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import PosgeomError
from posgeom.models.family import PositionTable, Stack
from posgeom.models.query_key import QueryKey


def initial_query_key(stack: Stack, layer: int, seed: int) -> QueryKey:
    """Projections of a layer before training: N(0, s^2) weights, zero biases."""
    rng = _rng(seed, layer + 1)
    parts = []
    for std, heads in zip(stack.initial_std, (stack.n_heads, stack.n_key_heads), strict=True):
        parts.append(rng.normal(scale=std, size=(heads, stack.head_dim, stack.width)))
    zeros = [np.zeros(part.shape[:2]) for part in parts]
    return QueryKey(parts[0], parts[1], zeros[0], zeros[1])


def initial_table(table: PositionTable, shape: tuple[int, int], width: int, seed: int) -> NDArray[np.float64] | None:
    """A position table before training, as the layers get it.

    The result has shape (n, width).
    """
    if table.initial_std is None:
        return None
    rng = _rng(seed, 0)
    rows = rng.normal(scale=table.initial_std, size=shape)
    return rows if table.projection is None else rows @ rng.normal(scale=table.initial_std, size=(width, shape[1])).T


def _rng(seed: int, part: int) -> np.random.Generator:
    if seed < 0:
        raise PosgeomError(f"seed {seed}: expected 0 or more")
    return np.random.default_rng([seed, part])
