"""Tables of positions as torch modules: full, or as a product of two narrow factors (Remark 8 of the paper)."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from posgeom.errors import EncodingError
from posgeom.training.rows import EncodingRows, as_encoding, factors_of, rows_of, scaled_to


class PositionModule(nn.Module):
    """What the two tables share: `weight` has the rows, `offset` of them before that of position 0."""

    weight: Tensor

    def __init__(self, n_positions: int, n_dims: int, offset: int, padding_idx: int | None) -> None:
        super().__init__()
        if offset < 0:
            raise EncodingError(f"offset {offset}: expected 0 or more rows before that of position 0")
        if padding_idx is not None and not 0 <= padding_idx < offset:
            raise EncodingError(
                f"padding_idx {padding_idx} with offset {offset}: expected a row before that of position 0, which no "
                "position has"
            )
        self.n_positions, self.offset, self.padding_idx = n_positions, offset, padding_idx
        self.num_embeddings, self.embedding_dim = offset + n_positions, n_dims

    def forward(self, positions: Tensor | int) -> Tensor:
        """Vectors at row numbers, shape (..., d), or of the first n positions, shape (n, d)."""
        if torch.is_tensor(positions):
            return functional.embedding(positions, self.weight, self.padding_idx)
        if not 0 <= positions <= self.n_positions:
            raise EncodingError(f"got a length of {positions}: the table has {self.n_positions} positions")
        return self.weight[self.offset : self.offset + positions]

    def extra_repr(self) -> str:
        """Sizes, as torch shows them."""
        offset = f", offset={self.offset}" if self.offset else ""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.n_positions}, {self.embedding_dim}{offset}{padding}"


class PositionalEmbedding(PositionModule):
    """One vector per position, to be added to the embeddings of tokens; takes the place of an `nn.Embedding`.

    Called with row numbers, any shape, it gives their vectors; called with a length n, those of positions 0 to n - 1.
    Position i is row ``offset + i``. Its state is one tensor, ``weight``, as that of an `nn.Embedding`; it is float32
    until the module is cast, also under autocast.

    Parameters
    ----------
    encoding : Encoding, array or tensor, shape (n, d)
        Any that has vectors.
    trainable : bool
        Whether the table is learned from there on, or frozen.
    row_norm : float, optional
        Root mean square of the rows' norms, to which the table is scaled by one factor. By default as it is.
    offset : int
        Rows before that of position 0, which start at zero, as in RoBERTa (padding id + 1) and OPT (2).
    padding_idx : int, optional
        One of those, which stays zero: it gets no gradient.

    Raises
    ------
    EncodingError
        When the encoding has no vectors, or a zero one is to be scaled; when `offset` or `padding_idx` is out of range.

    Examples
    --------
    >>> import posgeom as pg
    >>> embedding = PositionalEmbedding(pg.sinusoidal(16, 8), trainable=False, row_norm=1.0)
    >>> tuple(embedding(4).shape), embedding.weight.requires_grad
    ((4, 8), False)
    """

    def __init__(
        self,
        encoding: EncodingRows,
        *,
        trainable: bool = True,
        row_norm: float | None = None,
        offset: int = 0,
        padding_idx: int | None = None,
    ) -> None:
        points = _points(encoding, row_norm)
        n, d = points.shape
        super().__init__(n, d, offset, padding_idx)
        self.weight = parameter(np.pad(points, ((offset, 0), (0, 0))), trainable=trainable)


class LowRankPositionalEmbedding(PositionModule):
    """A table P = A W^T of rank r: r (n + d) numbers in place of n d (Remark 8 of the paper).

    `coordinates` is A, shape (n, r), and `axes` is W, shape (d, r), with orthonormal columns at the start. Both are
    learned, or both frozen. It is called as `PositionalEmbedding` is; rows before that of position 0 are zero and stay
    so. The product is taken in float32 or more, also under autocast and in half precision.

    Parameters
    ----------
    encoding : Encoding, array or tensor, shape (n, d)
        Its nearest table of rank r is where it starts: an MDS of rank r as it is, ``posgeom.random`` at random.
    rank : int
        r, from 1 to the smaller of n and d.
    trainable, row_norm, offset, padding_idx
        See `PositionalEmbedding`; `row_norm` is that of the product.

    Raises
    ------
    EncodingError
        As `PositionalEmbedding`, and when the rank is out of range.
    """

    def __init__(
        self,
        encoding: EncodingRows,
        rank: int,
        *,
        trainable: bool = True,
        row_norm: float | None = None,
        offset: int = 0,
        padding_idx: int | None = None,
    ) -> None:
        points = _points(encoding, None)
        coordinates, axes = factors_of(points, rank)
        if row_norm is not None:
            coordinates = scaled_to(coordinates, row_norm, as_encoding(encoding).name)  # W keeps norms
        n, d = points.shape
        super().__init__(n, d, offset, padding_idx)
        self.coordinates = parameter(coordinates, trainable=trainable)
        self.axes = parameter(axes, trainable=trainable)

    @property
    def rank(self) -> int:
        """Columns of both factors."""
        return int(self.axes.shape[1])

    @property
    def weight(self) -> Tensor:
        """The table as a model would look it up, shape (offset + n, d)."""
        return functional.pad(low_rank_product(self.coordinates, self.axes), (0, 0, self.offset, 0))

    def extra_repr(self) -> str:
        """Sizes, as torch shows them."""
        return f"{super().extra_repr()}, rank={self.rank}"


def parameter(values: NDArray[np.float64], *, trainable: bool) -> nn.Parameter:
    """A float32 parameter that transformers does not draw anew when it initialises what is around it."""
    made = nn.Parameter(torch.tensor(values, dtype=torch.float32), requires_grad=trainable)
    made._is_hf_initialized = True
    return made


def low_rank_product(coordinates: Tensor, axes: Tensor) -> Tensor:
    """A W^T, computed in float32 or more and cast last."""
    exact = torch.promote_types(coordinates.dtype, torch.float32)
    with torch.autocast(coordinates.device.type, enabled=False):
        return (coordinates.to(exact) @ axes.to(exact).T).to(coordinates.dtype)


def _points(encoding: Any, row_norm: float | None) -> NDArray[np.float64]:
    built = as_encoding(encoding)
    points = rows_of(built)
    return points if row_norm is None else scaled_to(points, row_norm, built.name)
