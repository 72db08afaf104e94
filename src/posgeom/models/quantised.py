"""Integer weights: multiplied by their scale where it is stored beside them by row, refused otherwise."""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import CheckpointError
from posgeom.messages import shown

FLOATS = frozenset({"F64", "F32", "F16", "BF16"})
_SCALES: Mapping[str, float] = MappingProxyType({"weight_scale": 1.0, "SCB": 127.0})
"""Names that a row scale goes by beside ``weight``, and what it is divided by (compressed-tensors, bitsandbytes)."""
PACKED = ("qweight", "weight_packed", "weight_q", "B", "weight.absmax", "weight.quant_map", "weight_zero_point")
"""Names beside or in place of ``weight`` that tell of packed or shifted integers."""


def scaled(
    what: str,
    name: str,
    dtype: str,
    array: NDArray[np.float64],
    rows: slice,
    stored: Collection[str],
    read: Callable[[str], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Integers as the weights they stand for."""
    stem = name.removesuffix("weight")
    scale = next((end for end in _SCALES if stem + end in stored), None) if stem != name else None
    shifted = any(stem + end in stored for end in PACKED)
    if dtype != "I8" or scale is None or shifted:
        raise CheckpointError(
            f"{what}: tensor {shown(name)} holds {dtype} values, quantised without a scale for each row that is known: "
            "use the checkpoint before quantisation"
        )
    factors = read(stem + scale).reshape(-1) / _SCALES[scale]
    if factors.size == 1:
        return np.asarray(array * factors[0])
    chosen = factors[rows]
    if array.ndim < 1 or chosen.size != array.shape[0]:
        raise CheckpointError(
            f"{what}: tensor {shown(stem + scale)} has {factors.size} scales for {shown(name)}: expected one, or one "
            "for each row"
        )
    return np.asarray(array * chosen.reshape(-1, *[1] * (array.ndim - 1)))
