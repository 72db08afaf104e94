"""The position kernels of a layer's heads, of models that rotate queries and keys or multiply them with the lag."""

from collections.abc import Callable

import numpy as np

from posgeom.errors import CheckpointError
from posgeom.messages import shown
from posgeom.models.family import Rotary, Stack
from posgeom.models.layer_types import layer_rotations
from posgeom.models.model import Model
from posgeom.models.query_key import QueryKey
from posgeom.models.relative_bias import lag_terms, mean_words
from posgeom.models.relative_kinds import Disentangled, RelativeSines
from posgeom.models.rotary_kernel import HeadKernel, TokenFrequencies, head_kernels, mean_normalised_embedding

KernelMaker = Callable[[int, QueryKey], list[HeadKernel]]


def kernel_maker(
    model: Model, stack: Stack, n_positions: int, frequencies: TokenFrequencies | None
) -> KernelMaker | None:
    """What computes the kernels of a layer, or None where a stack has none."""
    positions = stack.positions
    if isinstance(positions, Disentangled | RelativeSines):
        return _of_lags(model, positions, n_positions, frequencies)
    return _of_rotations(model, stack, n_positions, frequencies) if isinstance(positions, Rotary) else None


def _of_lags(
    model: Model, positions: Disentangled | RelativeSines, n_positions: int, frequencies: TokenFrequencies | None
) -> KernelMaker:
    content, lags = (
        mean_words(model.tensors, positions.words, positions.heads.width, frequencies),
        np.arange(n_positions),
    )

    def kernels(layer: int, projections: QueryKey) -> list[HeadKernel]:
        query, key = projections.of(content)
        added = lag_terms(positions, model.tensors, layer)(query, key, lags) / positions.scale
        values = added + (query * key).sum(axis=1, keepdims=True)
        return [HeadKernel(layer, head, row) for head, row in enumerate(values)]

    return kernels


def _of_rotations(
    model: Model, stack: Stack, n_positions: int, frequencies: TokenFrequencies | None
) -> KernelMaker | None:
    embedding = stack.embedding
    if embedding is None:
        return None
    rotations = layer_rotations(model, stack, n_positions)
    if any(rotation is not None and rotation.n_dims != stack.head_dim for rotation in rotations):
        raise CheckpointError(f"config of {shown(model.checkpoint.name)} has a rotary width unlike that of its heads")
    content = mean_normalised_embedding(model.tensors, embedding, stack.width, frequencies)

    def kernels(layer: int, projections: QueryKey) -> list[HeadKernel]:
        if (rotation := rotations[layer]) is None:
            return []
        return head_kernels(model.tensors, embedding, rotation, layer, projections, content, n_positions)

    return kernels
