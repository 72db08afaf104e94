"""Rows of an encoding as a model takes them: as many as it has positions, of a given norm, as a product of factors."""

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.learned import learned
from posgeom.errors import EncodingError

EncodingRows = Encoding | ArrayLike
"""An encoding with vectors, or an array or tensor with one row per position."""


def as_encoding(encoding: Any) -> Encoding:
    """The encoding itself, or that of an array or a tensor."""
    if isinstance(encoding, Encoding):
        return encoding
    if torch.is_tensor(encoding):
        encoding = encoding.detach().double().cpu().numpy()
    return learned(encoding, name="the given table")


def rows_of(encoding: Encoding, n_positions: int | None = None) -> NDArray[np.float64]:
    """Vectors of the first positions of an encoding, by default of all; shape (n, d)."""
    n = encoding.n_positions if n_positions is None else n_positions
    if n > encoding.n_positions:
        raise EncodingError(
            f"encoding {encoding.name} has {encoding.n_positions} positions, the model has {n}: build it for n = {n}; "
            f"posgeom fit -n {n} extends what is fitted to a corpus, and learned:table=FILE,interpolation=linear "
            "stretches a table"
        )
    points = encoding.coordinates(np.arange(n))
    if points is None:
        raise EncodingError(
            f"encoding {encoding.name} has distances but no vectors, so no model can add it to its input"
        )
    return points


def rms_norm(points: NDArray[np.float64]) -> float:
    """Root mean square of the norms of rows."""
    return float(np.sqrt((points**2).sum(axis=1).mean()))


def scaled_to(points: NDArray[np.float64], row_norm: float, name: str) -> NDArray[np.float64]:
    """Rows times the one factor that gives their norms this root mean square."""
    if not 0 < row_norm < np.inf:
        raise EncodingError(f"row_norm {row_norm:g}: expected a positive number")
    own = rms_norm(points)
    if own == 0:
        raise EncodingError(f"encoding {name} is zero: it cannot be scaled to a row norm of {row_norm:g}")
    return points * (row_norm / own)


def factors_of(points: NDArray[np.float64], rank: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A (n x r) and W (d x r, orthonormal columns) whose A W^T is the nearest matrix of rank r to P, by its SVD."""
    largest = min(points.shape)
    if not 1 <= rank <= largest:
        raise EncodingError(f"rank {rank}: expected 1 to {largest}, the smaller side of {points.shape}")
    left, singular, right = np.linalg.svd(points, full_matrices=False)
    return left[:, :rank] * singular[:rank], np.ascontiguousarray(right[:rank].T)
