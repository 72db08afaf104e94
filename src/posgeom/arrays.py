"""Numbers as people have them: arrays, tensors of any type and device, layers that hold one; imports none of these."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.messages import one_line


def is_array(value: object) -> bool:
    """Whether something is an array or a tensor of some library, or an embedding layer, and no table or list."""
    return is_embedding(value) or all(hasattr(value, name) for name in ("__array__", "dtype", "ndim"))


def is_embedding(value: object) -> bool:
    """Whether something is an embedding layer, such as torch's."""
    return hasattr(value, "num_embeddings") and hasattr(value, "weight")


def as_numpy(value: Any) -> NDArray[Any]:
    """Numbers as a NumPy array: off their device, without gradients, in float32 where NumPy lacks their type.

    Raises `ValueError` with one line that says why where that is impossible.
    """
    try:
        if is_embedding(value):
            value = _rows_of(value)
        if hasattr(value, "detach"):
            tensor = value.detach().cpu()
            try:
                return np.asarray(tensor.numpy())
            except TypeError:  # a type that NumPy lacks
                return np.asarray(tensor.float().numpy())
        array = np.asarray(value)
        # What extends NumPy's types, such as the bfloat16 of JAX, calls itself void.
        return array.astype(np.float32) if array.dtype.kind == "V" and array.dtype.names is None else array
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(one_line(error)) from None


def _rows_of(layer: Any) -> Any:
    """The weight of an embedding layer whose row i is position i; others say themselves that it is not."""
    padding, offset = getattr(layer, "padding_idx", None), getattr(layer, "offset", 0)
    if padding is not None or offset:
        kept = f"keeps row {padding} for padding" if padding is not None else f"adds {offset} to each position"
        first = padding + 1 if padding is not None else offset
        raise ValueError(
            f"this {type(layer).__name__} {kept}, so that its first row may not be position 0; give the rows "
            f"themselves, such as layer.weight[{first}:]"
        )
    return layer.weight
