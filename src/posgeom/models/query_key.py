"""Query and key projections taken out of a checkpoint, head by head, however they are stored."""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import CheckpointError
from posgeom.messages import shown
from posgeom.models.checkpoint import Checkpoint
from posgeom.models.quantised import FLOATS


@dataclass(frozen=True, eq=False)
class QueryKey:
    """Projections of one layer: q = W_Q x + b_Q, and k likewise.

    Attributes
    ----------
    query : ndarray of float, shape (heads, head_dim, width)
        W_Q by head, out x in.
    key : ndarray of float, shape (key_heads, head_dim, width)
        Fewer heads than of queries where groups share one.
    query_bias, key_bias : ndarray of float, shapes (heads, head_dim) and (key_heads, head_dim)
        Zero where there is none.
    """

    query: NDArray[np.float64]
    key: NDArray[np.float64]
    query_bias: NDArray[np.float64]
    key_bias: NDArray[np.float64]

    def of(self, content: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The query and the key of a vector, shape (width,), by head."""
        return self.query @ content + self.query_bias, self.key @ content + self.key_bias

    def key_head(self, head: int) -> int:
        """The key head of a query head: with 14 and 2, queries 0 to 6 use key head 0, 7 to 13 key head 1."""
        return head * int(self.key.shape[0]) // int(self.query.shape[0])

    @property
    def keys_by_head(self) -> NDArray[np.float64]:
        """W_K of each query head, that of a group repeated; shape (heads, head_dim, width)."""
        return self.key[[self.key_head(head) for head in range(self.query.shape[0])]]

    @property
    def whole(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """W_Q and W_K of the layer, whose product M is a sum over heads; shapes (heads * head_dim, width)."""
        width = self.query.shape[-1]
        return self.query.reshape(-1, width), self.keys_by_head.reshape(-1, width)


@dataclass(frozen=True)
class HeadShape:
    """Sizes that a config gives.

    Attributes
    ----------
    n_heads, n_key_heads, head_dim, width : int
    """

    n_heads: int
    n_key_heads: int
    head_dim: int
    width: int


class Layout(Protocol):
    """How a checkpoint stores queries and keys."""

    def read(self, tensors: "Tensors", layer: int, shape: HeadShape) -> QueryKey:
        """The projections of a layer."""


@dataclass(frozen=True)
class Tensors:
    """Tensors of a checkpoint by their names in a family.

    Attributes
    ----------
    checkpoint : Checkpoint
    prefixes : frozenset of str
    """

    checkpoint: Checkpoint
    prefixes: frozenset[str]

    def find(self, name: str) -> str | None:
        """The stored name of a tensor, or None."""
        return self.checkpoint.find(name, self.prefixes)

    def read(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """A tensor of a known shape."""
        stored = self.checkpoint.locate(name, self.prefixes)
        got = self.checkpoint.entry(stored).shape
        what = f"{shown(self.checkpoint.name)}: tensor {shown(stored)}"
        if got != shape and self.checkpoint.entry(stored).dtype not in FLOATS:
            raise CheckpointError(
                f"{what} holds packed integers of shape {got}, not read: use the checkpoint before quantisation"
            )
        if got != shape:
            raise CheckpointError(f"{what} has shape {got}, by its config it has {shape}")
        return self.checkpoint.read(stored)

    def shape(self, name: str, n_axes: int) -> tuple[int, ...]:
        """The shape of a tensor that must have so many axes."""
        stored = self.checkpoint.locate(name, self.prefixes)
        shape = self.checkpoint.entry(stored).shape
        if len(shape) != n_axes:
            raise CheckpointError(
                f"{shown(self.checkpoint.name)}: tensor {shown(stored)} has shape {shape}: expected {n_axes} axes"
            )
        return shape

    def read_optional(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """A tensor that may be missing: zeros then."""
        return np.zeros(shape) if self.find(name) is None else self.read(name, shape)


def read_projection(
    tensors: Tensors, name: str, heads: int, shape: HeadShape
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A projection stored out x in, and its bias, by head: shapes (heads, head_dim, width) and (heads, head_dim)."""
    rows = heads * shape.head_dim
    weight, bias = tensors.read(f"{name}.weight", (rows, shape.width)), tensors.read_optional(f"{name}.bias", (rows,))
    return weight.reshape(heads, shape.head_dim, shape.width), bias.reshape(heads, shape.head_dim)


@dataclass(frozen=True)
class Separate:
    """Queries and keys in tensors of their own, stored out x in.

    Attributes
    ----------
    query, key : str
        Names without ``.weight``, with ``{layer}`` for the layer.
    """

    query: str
    key: str

    def read(self, tensors: Tensors, layer: int, shape: HeadShape) -> QueryKey:
        """The projections of a layer."""
        query, query_bias = read_projection(tensors, self.query.format(layer=layer), shape.n_heads, shape)
        key, key_bias = read_projection(tensors, self.key.format(layer=layer), shape.n_key_heads, shape)
        return QueryKey(query, key, query_bias, key_bias)


@dataclass(frozen=True)
class ByHead:
    """Queries and keys in tensors of their own, stored in x heads x out, with a bias of the queries (XLNet).

    Attributes
    ----------
    query, key, bias : str
        Names, with ``{layer}`` for the layer.
    """

    query: str
    key: str
    bias: str

    def read(self, tensors: Tensors, layer: int, shape: HeadShape) -> QueryKey:
        """The projections of a layer."""
        stored = (shape.width, shape.n_heads, shape.head_dim)
        query, key = (
            tensors.read(name.format(layer=layer), stored).transpose(1, 2, 0) for name in (self.query, self.key)
        )
        return QueryKey(query, key, tensors.read(self.bias.format(layer=layer), stored[1:]), np.zeros(stored[1:]))


@dataclass(frozen=True)
class Fused:
    """Queries, keys and values in one tensor.

    Attributes
    ----------
    tensor : str
        Name without ``.weight``, with ``{layer}`` for the layer.
    order : {"blocks", "heads", "groups"}
        All queries, then all keys, then all values; query, key and value of one head after the other; or the queries of
        a group, then its key and value.
    transposed : bool
        Whether it is stored in x out (the Conv1D of GPT-2).
    """

    tensor: str
    order: Literal["blocks", "heads", "groups"]
    transposed: bool = False

    def read(self, tensors: Tensors, layer: int, shape: HeadShape) -> QueryKey:
        """The projections of a layer."""
        name, rows = self.tensor.format(layer=layer), (shape.n_heads + 2 * shape.n_key_heads) * shape.head_dim
        stored = (shape.width, rows) if self.transposed else (rows, shape.width)
        weight = tensors.read(f"{name}.weight", stored)
        bias = tensors.read_optional(f"{name}.bias", (rows,))
        query, key = self._split(weight.T if self.transposed else weight, shape)
        query_bias, key_bias = self._split(bias[:, None], shape)
        return QueryKey(query, key, query_bias[..., 0], key_bias[..., 0])

    def _split(self, rows: NDArray[np.float64], shape: HeadShape) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self.order == "blocks":
            parts = rows.reshape(shape.n_heads + 2 * shape.n_key_heads, shape.head_dim, -1)
            return parts[: shape.n_heads], parts[shape.n_heads : shape.n_heads + shape.n_key_heads]
        groups = rows.reshape(shape.n_key_heads, -1, shape.head_dim, rows.shape[-1])  # one key head a group
        return groups[:, :-2].reshape(shape.n_heads, shape.head_dim, -1), groups[:, -2]
