"""Measures of the vectors of successive positions: norms, separation, spectrum, smoothness, distance by lag."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posgeom.estimation.euclidean import euclidean_distances
from posgeom.scores.effective_rank import effective_rank
from posgeom.scores.separation import Separation, minimum_separation


@dataclass(frozen=True)
class LagProfile:
    """Distance as a function of the lag.

    Attributes
    ----------
    mean : tuple of float
        Mean distance of the pairs at lag 1, 2, ...
    std : tuple of float
        Standard deviation over those pairs: 0 where distance is a function of the lag.
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]


@dataclass(frozen=True)
class Measures:
    """Measures of the vectors of some positions.

    Attributes
    ----------
    first, last : int
        The positions measured.
    norm_min, norm_median, norm_max : float
        Of |p_i|.
    separation : Separation
        Smallest distance between two of them, and the pair.
    singular_values : tuple of float
        Of the centred vectors, in decreasing order.
    effective_rank : float
        Exponential of their entropy.
    smoothness : float or None
        Mean distance of neighbours over the mean distance of all pairs; near 1 without order. None where all coincide.
    neighbour_cosine : float or None
        Mean cosine of neighbours after centring; near 0 without order. None where one lies at the mean.
    lags : LagProfile
        On a grid, pairs in the same row of it.
    column_lags : LagProfile or None
        On a grid, pairs in the same column.
    """

    first: int
    last: int
    norm_min: float
    norm_median: float
    norm_max: float
    separation: Separation
    singular_values: tuple[float, ...]
    effective_rank: float
    smoothness: float | None
    neighbour_cosine: float | None
    lags: LagProfile
    column_lags: LagProfile | None


def measure(points: NDArray[np.float64], *, first: int = 0, grid: tuple[int, int] | None = None) -> Measures:
    """Measure the vectors of successive positions.

    Shapes: `points` (m, d).
    """
    norms = np.linalg.norm(points, axis=1)
    distances = euclidean_distances(points)
    positions = np.arange(first, first + points.shape[0])
    centred = points - points.mean(axis=0)
    values = np.linalg.svd(centred, compute_uv=False)
    cells = np.arange(points.shape[0]).reshape(grid or (1, -1))
    return Measures(
        first=first,
        last=int(positions[-1]),
        norm_min=float(norms.min()),
        norm_median=float(np.median(norms)),
        norm_max=float(norms.max()),
        separation=minimum_separation(distances, positions),
        singular_values=tuple(values.tolist()),
        effective_rank=effective_rank(values),
        smoothness=_smoothness(distances),
        neighbour_cosine=_neighbour_cosine(centred),
        lags=lag_profile(distances, cells),
        column_lags=None if grid is None else lag_profile(distances, cells.T),
    )


def lag_profile(distances: NDArray[np.float64], runs: NDArray[np.int64] | None = None) -> LagProfile:
    """Mean and standard deviation of distances at each lag.

    Shapes: `distances` (m, m), `runs` (k, length).
    """
    cells = np.arange(distances.shape[0])[None] if runs is None else runs
    means, stds = [], []
    for lag in range(1, cells.shape[1]):
        values = distances[cells[:, :-lag], cells[:, lag:]]
        means.append(float(values.mean()))
        stds.append(float(values.std()))
    return LagProfile(tuple(means), tuple(stds))


def _smoothness(distances: NDArray[np.float64]) -> float | None:
    m = distances.shape[0]
    mean = float(distances.sum()) / (m * (m - 1))
    return float(np.diagonal(distances, 1).mean()) / mean if mean > 0 else None


def _neighbour_cosine(centred: NDArray[np.float64]) -> float | None:
    norms = np.linalg.norm(centred, axis=1)
    if not (norms > 1e-12 * max(float(norms.max()), 1e-300)).all():
        return None
    return float(((centred[1:] * centred[:-1]).sum(axis=1) / (norms[1:] * norms[:-1])).mean())
