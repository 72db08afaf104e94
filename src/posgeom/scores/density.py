"""Distances of an encoding against those of a geometry, counted in square bins."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

N_BINS = 32
_HEIGHT = 1.5


@dataclass(frozen=True, eq=False, slots=True)
class PairDensity:
    """Pairs of positions by their two distances; only bins that hold some.

    Attributes
    ----------
    width : float
        Of a bin, in both directions.
    x, y : ndarray of float, shape (k,)
        Lower edges of the bins: distance D in the geometry, rescaled distance c e of the encoding.
    pairs : ndarray of int, shape (k,)
    """

    width: float
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    pairs: NDArray[np.int64]


def pair_density(
    encoding: NDArray[np.float64], target: NDArray[np.float64], scale: float | None, *, n_bins: int = N_BINS
) -> PairDensity | None:
    """Joint density of the distances of an encoding and of a geometry.

    Shapes: `encoding, target` (n_pairs,).
    """
    largest = float(target.max(initial=0))
    if scale is None or not largest:
        return None
    width = largest / n_bins
    rows = int(n_bins * _HEIGHT)
    x = np.minimum((target / width).astype(np.int64), n_bins - 1)
    y = np.minimum(encoding * (scale / width), rows - 1).astype(np.int64)
    counts = np.bincount(x * rows + y, minlength=n_bins * rows)
    held = np.flatnonzero(counts)
    x_edges, y_edges = (np.asarray(index * width, np.float64) for index in np.divmod(held, rows))
    return PairDensity(width, x_edges, y_edges, counts[held])
