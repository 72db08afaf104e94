"""What models with positions inside the attention add to logits, layer by layer, read from their checkpoints.

DeBERTa and Transformer-XL multiply vectors of the lag with queries and keys, so what they add depends on content. Its
expectation over independent tokens does not: the mean query and the mean key stand for all of them. In the first layer
that is exact; in a deeper one the token's embedding stands in for the hidden state.
"""

from collections.abc import Callable
from functools import singledispatch
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.bias import Bias
from posgeom.encodings.frequencies import inverse_frequencies
from posgeom.encodings.relative import log_buckets
from posgeom.models.family import Embedding
from posgeom.models.query_key import Tensors, read_projection
from posgeom.models.relative_kinds import Disentangled, RelativeSines, WindowBias, Words
from posgeom.models.rotary_kernel import TokenFrequencies, mean_normalised_embedding, normalised, with_gain

Array = NDArray[np.float64]
Terms = Callable[[Array, Array, NDArray[np.int64]], Array]
"""From a query and a key, (heads, head_dim) each, and lags i - j, (m,), to what is added to logits, (heads, m)."""


@singledispatch
def lag_terms(positions: object, tensors: Tensors, layer: int) -> Terms:  # noqa: ARG001
    """What a layer adds to the logit of a query and a key for their lag."""
    raise TypeError(f"positions of type {type(positions).__name__} are no vectors of the lag")


@lag_terms.register
def _(positions: Disentangled, tensors: Tensors, layer: int) -> Terms:
    heads, half = positions.heads, positions.n_buckets
    vectors = tensors.read(positions.tensor, (2 * half, heads.width))
    if positions.norm is not None:
        vectors = with_gain(tensors, positions.norm, normalised(vectors, "layer", positions.words.epsilon))
    seen = []
    for pattern in (positions.for_queries, positions.for_keys):
        if pattern is None:
            seen.append(np.zeros((heads.n_heads, 2 * half, heads.head_dim)))
            continue
        weight, bias = read_projection(tensors, pattern.format(layer=layer), heads.n_heads, heads)
        seen.append(vectors @ weight.transpose(0, 2, 1) + bias[:, None])

    def terms(query: Array, key: Array, lags: NDArray[np.int64]) -> Array:
        rows = (seen[0] @ query[..., None] + seen[1] @ key[..., None])[..., 0]
        buckets = lags
        if positions.max_distance:
            buckets = log_buckets(lags, n_buckets=half, max_distance=positions.max_distance)
        return np.asarray(positions.scale * rows[:, np.clip(buckets + half, 0, 2 * half - 1)])

    return terms


@lag_terms.register
def _(positions: RelativeSines, tensors: Tensors, layer: int) -> Terms:
    heads = positions.heads
    shape = (heads.width, heads.n_heads, heads.head_dim)
    weight = tensors.read(positions.projection.format(layer=layer), shape)
    own, content = (tensors.read(name.format(layer=layer), shape[1:]) for name in positions.shift)
    omega = inverse_frequencies(heads.width, 10000.0)

    def terms(query: Array, key: Array, lags: NDArray[np.int64]) -> Array:  # noqa: ARG001
        reach = positions.clamp or int(np.abs(lags).max(initial=0))
        angles = np.clip(lags, -reach, reach)[:, None] * omega
        sines = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
        # The query comes with the bias before a key, which is not the one before a vector of the lag.
        seen = np.einsum("whd,hd->hw", weight, query + own - content)
        return np.asarray(positions.scale * seen @ sines.T)

    return terms


def expected_bias(
    positions: Disentangled | RelativeSines, tensors: Tensors, layer: int, n_positions: int, head: int | None = None
) -> Bias:
    """The expectation of what a layer adds, over independent tokens, every token of the vocabulary alike."""
    content = mean_words(tensors, positions.words, positions.heads.width)
    query, key = positions.content.read(tensors, layer, positions.heads).of(content)
    lags = np.arange(1 - n_positions, n_positions)
    values = lag_terms(positions, tensors, layer)(query, key, lags)[slice(None) if head is None else [head]]

    def look_up(queries: NDArray[np.int64], keys: NDArray[np.int64]) -> Array:
        return values[:, np.asarray(queries - keys) + n_positions - 1]

    causal = isinstance(positions, RelativeSines) and positions.causal
    return Bias(values.shape[0], look_up, causal=causal, even=causal)


def mean_words(tensors: Tensors, words: Words, width: int, frequencies: TokenFrequencies | None = None) -> Array:
    """The mean over tokens of what the first layer gets, shape (width,)."""
    kind: Literal["layer", "none"] = "none" if words.norm is None else "layer"
    embedding = Embedding(words.tensor, words.norm or "", kind, words.epsilon)
    mean = mean_normalised_embedding(tensors, embedding, width, frequencies)
    return mean if words.norm is None else with_gain(tensors, words.norm, mean)


def window_table(positions: WindowBias, tensors: Tensors, layer: int) -> Array:
    """The bias of each offset and head, shape ((2 window - 1)^2, heads)."""
    name, side = positions.tensor.format(layer=layer), 2 * positions.window - 1
    if positions.reach is None:
        return tensors.read(name, (side**2, positions.n_heads))
    offsets = np.stack(np.divmod(np.arange(side**2), side), axis=1) - (positions.window - 1.0)
    scaled = 8 * offsets / positions.reach
    inputs = np.sign(scaled) * np.log2(np.abs(scaled) + 1) / 3
    (hidden,) = tensors.shape(f"{name}.0.bias", 1)
    first, shift = tensors.read(f"{name}.0.weight", (hidden, 2)), tensors.read(f"{name}.0.bias", (hidden,))
    second = tensors.read(f"{name}.2.weight", (positions.n_heads, hidden))
    return np.asarray(16 / (1 + np.exp(-np.maximum(inputs @ first.T + shift, 0) @ second.T)))
