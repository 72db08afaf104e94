"""Effective rank: how many dimensions an encoding spreads over."""

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.errors import GeometryError
from posgeom.estimation.mds import spectrum_of


def effective_rank(singular_values: NDArray[np.float64]) -> float:
    """Exponential of the entropy of the normalised singular values (Roy and Vetterli 2007).

    Of the values themselves, not of their squares: [2, 1] gives 1.8899.

    Parameters
    ----------
    singular_values : ndarray of float, shape (k,)
        Non-negative.

    Returns
    -------
    float
        Between 1 and k; 0 for the zero matrix, whose rank is 0.

    Raises
    ------
    GeometryError
        When a value is negative or not finite.
    """
    try:
        values = np.asarray(singular_values, np.float64)
    except (TypeError, ValueError):
        raise GeometryError(f"got {type(singular_values).__name__} for singular values: expected numbers") from None
    if values.ndim != 1:
        raise GeometryError(f"singular values have shape {values.shape}: expected one dimension")
    if not (np.isfinite(values) & (values >= 0)).all():
        raise GeometryError("singular values must be finite and not negative")
    total = values.sum()
    if not total > 0:
        return 0.0
    p = values[values > 0] / total
    return float(np.exp(-(p * np.log(p)).sum()))


_NUMBERS_AT_ONCE = 1 << 18
"""Coordinates held at a time, for an encoding whose distances need none."""


def encoding_effective_rank(
    encoding: Encoding, distances: NDArray[np.float64], positions: NDArray[np.int64]
) -> float | None:
    """Effective rank of an encoding's centred coordinates over given positions.

    Without coordinates, the singular values are the roots of the eigenvalues of B for its distances, which is
    the same thing for a Euclidean geometry; where B has negative eigenvalues it is undefined.

    Shapes: `distances` (m, m), `positions` (m,).
    """
    values = _singular_values(encoding, positions)
    if values is not None:
        return effective_rank(values)
    spectrum = spectrum_of(distances**2)
    if spectrum.negative_mass > 0:
        return None
    return effective_rank(np.sqrt(spectrum.eigenvalues[: spectrum.n_positive]))


def _singular_values(encoding: Encoding, positions: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """Singular values of the centred coordinates; None without fewer dimensions than positions.

    Where distances are a function of the lag, no matrix of all coordinates exists, and none is made here: blocks of
    rows are reduced to their triangular factor one after the other, which keeps the singular values to round-off.
    """
    first = encoding.points(positions[:1])
    if first is None or first.shape[1] >= positions.size:
        return None
    step = max(first.shape[1], _NUMBERS_AT_ONCE // first.shape[1])
    if positions.size <= step or encoding.lag_distances() is None:
        points = encoding.points(positions)
        return None if points is None else np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    blocks = [positions[start : start + step] for start in range(0, positions.size, step)]
    mean = sum((_rows(encoding, block).sum(axis=0) for block in blocks), np.zeros(first.shape[1])) / positions.size
    triangle = np.empty((0, first.shape[1]))
    for block in blocks:
        rows = np.concatenate([triangle, _rows(encoding, block) - mean])
        triangle = np.asarray(np.linalg.qr(rows, mode="r"), np.float64)
    return np.asarray(np.linalg.svd(triangle, compute_uv=False), np.float64)


def _rows(encoding: Encoding, positions: NDArray[np.int64]) -> NDArray[np.float64]:
    points = encoding.points(positions)
    return np.empty((positions.size, 0)) if points is None else points
