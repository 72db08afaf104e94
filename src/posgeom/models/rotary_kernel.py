"""What position does to the logits of a rotary model: E[q_i . k_j] over content, as a function of the lag i - j.

With the tokens of query and key drawn independently, the expectation factorises: E[q]' R(j - i) E[k], where E[q] and
E[k] are the projections of the mean of the layer's normalised input. In the first layer that input is the token's
embedding and the kernel is exact; in a deeper layer the hidden state is not known without running the model, and the
embedding, passed through that layer's norm, stands in for it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.rope import rotary_kernel
from posgeom.encodings.rotation import Rotation
from posgeom.errors import CheckpointError
from posgeom.messages import shown
from posgeom.models.family import Embedding, Norm
from posgeom.models.query_key import QueryKey, Tensors

_NUMBERS_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class HeadKernel:
    """The position kernel of one head.

    Attributes
    ----------
    layer, head : int
    values : ndarray of float, shape (n,)
        E[q_i . k_j] at lag i - j = 0, 1, ..., not divided by sqrt(head_dim).
    """

    layer: int
    head: int
    values: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TokenFrequencies:
    """How often tokens occur.

    Attributes
    ----------
    tokens : ndarray of int, shape (k,)
        Distinct ids of the model's vocabulary, increasing.
    shares : ndarray of float, shape (k,)
        They sum to 1.
    """

    tokens: NDArray[np.int64]
    shares: NDArray[np.float64]


def mean_normalised_embedding(
    tensors: Tensors, embedding: Embedding, width: int, frequencies: TokenFrequencies | None
) -> NDArray[np.float64]:
    """Mean over tokens of the normalised embedding, before a layer's own gain and shift.

    The result has shape (width,).
    """
    checkpoint = tensors.checkpoint
    stored = checkpoint.locate(embedding.tensor, tensors.prefixes)
    shape = checkpoint.entry(stored).shape
    what = f"{shown(checkpoint.name)}: tensor {shown(stored)}"
    if len(shape) != 2 or shape[1] != width:
        raise CheckpointError(f"{what} has shape {shape}, by its config it has (tokens, {width})")
    if frequencies is not None and int(frequencies.tokens[-1]) >= shape[0]:
        raise CheckpointError(
            f"{what} has {shape[0]:,} rows, the counts hold token {int(frequencies.tokens[-1]):,}: count with the "
            "model's own tokenizer"
        )
    total = np.zeros(width)
    for start, rows in _blocks(tensors, stored, shape[0], width):
        shares = _shares(frequencies, start, rows.shape[0], shape[0])
        if shares.any():
            total += shares @ normalised(rows, embedding.kind, embedding.epsilon)
    return total


def _blocks(tensors: Tensors, stored: str, n_rows: int, width: int) -> Iterator[tuple[int, NDArray[np.float64]]]:
    step = max(1, _NUMBERS_AT_ONCE // width)
    for start in range(0, n_rows, step):
        yield start, tensors.checkpoint.read(stored, slice(start, start + step))


def _shares(frequencies: TokenFrequencies | None, start: int, size: int, n_rows: int) -> NDArray[np.float64]:
    if frequencies is None:
        return np.full(size, 1 / n_rows)
    shares = np.zeros(size)
    first, last = np.searchsorted(frequencies.tokens, [start, start + size])
    shares[frequencies.tokens[first:last] - start] = frequencies.shares[first:last]
    return shares


def normalised(rows: NDArray[np.float64], kind: Norm, epsilon: float) -> NDArray[np.float64]:
    """Rows through a norm without its gain and shift, shape (m, width)."""
    if kind == "none":
        return rows
    centred = rows - rows.mean(axis=1, keepdims=True) if kind == "layer" else rows
    return np.asarray(centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + epsilon))


def with_gain(tensors: Tensors, name: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normalised vectors, shape (..., width), times the gain of a norm and plus its shift, where it has one.

    Some checkpoints call these gamma and beta.
    """
    pairs = (("gamma", "weight"), ("beta", "bias"))
    gain, shift = (f"{name}.{old if tensors.find(f'{name}.{old}') else new}" for old, new in pairs)
    width = values.shape[-1:]
    return values * tensors.read(gain, width) + tensors.read_optional(shift, width)


def head_kernels(
    tensors: Tensors,
    embedding: Embedding,
    rotation: Rotation,
    layer: int,
    projections: QueryKey,
    content: NDArray[np.float64],
    n_lags: int,
) -> list[HeadKernel]:
    """The position kernels of a layer's heads.

    Shapes: `content` (width,).
    """
    mean = with_gain(tensors, embedding.norm.format(layer=layer), content)
    queries, keys = projections.of(mean)
    lags = np.arange(n_lags)
    rotated = np.concatenate(rotation.channels())
    still = np.setdiff1d(np.arange(rotation.n_dims), rotated)
    kernels = []
    for head, query in enumerate(queries):
        key = keys[projections.key_head(head)]
        bias = rotary_kernel(rotation, rotation.pairs_of(query), rotation.pairs_of(key))
        kernels.append(HeadKernel(layer, head, bias.at_lags(lags)[0] + query[still] @ key[still]))
    return kernels
