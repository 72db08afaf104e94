"""The table of positions of a model that is being trained: unwrapped, gathered where it is sharded, or refused."""

from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import CheckpointError
from posgeom.training.places import place_of

_INSIDE = ("_orig_mod", "module")
"""Where `torch.compile`, and data parallelism, keep the model that they wrap."""


def unwrapped(model: Any) -> Any:
    """The model inside what `torch.compile`, DataParallel, DDP, DeepSpeed or FSDP made of it."""
    while (name := next((name for name in _INSIDE if hasattr(model, name)), None)) is not None:
        model = getattr(model, name)
    return model


def read_table(model: Any) -> NDArray[np.float64]:
    """The vectors of positions 0, 1, ..., shape (n, d); every process of a sharded run must call it."""
    from torch.distributed.fsdp import FullyShardedDataParallel

    inner = unwrapped(model)
    with ExitStack() as gathered:
        if isinstance(model, FullyShardedDataParallel):  # which has flattened all parameters
            gathered.enter_context(FullyShardedDataParallel.summon_full_params(model, writeback=False))
        place = place_of(inner)
        spread = [one for one in place.owner(inner).parameters() if hasattr(one, "ds_id")]
        if spread:  # over processes
            from deepspeed.zero import GatheredParameters

            gathered.enter_context(GatheredParameters(spread))
        table = place.table(inner).detach()
        whole = table.full_tensor() if hasattr(table, "full_tensor") else table
        values = np.asarray(whole.cpu().double().numpy())
    if values.ndim != 2 or len(values) <= place.first_row:
        raise CheckpointError(
            f"the table of positions has shape {values.shape} in this process: expected (rows, d); a part of a sharded "
            "parameter is not scored"
        )
    return values[place.first_row :]
