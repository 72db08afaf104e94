"""Distance against lag: its distribution over the pairs of positions that lie equally far apart."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posgeom.estimation.distance_matrix import upper_pairs

QUANTILES = (0.1, 0.5, 0.9)


@dataclass(frozen=True, eq=False, slots=True)
class LagProfile:
    """Distances by lag.

    Attributes
    ----------
    first, last : ndarray of int, shape (k,)
        Lags of each bin, both included.
    pairs : ndarray of int, shape (k,)
        Pairs of positions in it, at least 1.
    quantiles : ndarray of float, shape (k, 3)
        The 10, 50 and 90 % quantiles of their distances.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    pairs: NDArray[np.int64]
    quantiles: NDArray[np.float64]


def lag_profile(distances: NDArray[np.float64], positions: NDArray[np.int64], *, max_bins: int = 128) -> LagProfile:
    """Distribution of distance by lag |i - j|.

    Shapes: `distances` (m, m), `positions` (m,).
    """
    m = positions.size
    values = upper_pairs(distances)
    lags = np.concatenate([positions[i + 1 :] - positions[i] for i in range(m - 1)])
    width = -(-int(lags.max()) // max_bins)
    bins = (lags - 1) // width
    order = np.argsort(bins, kind="stable")
    present, starts = np.unique(bins[order], return_index=True)
    groups = np.split(values[order], starts[1:])
    first = present * width + 1
    return LagProfile(
        first=first,
        last=np.minimum(first + width - 1, int(lags.max())),
        pairs=np.array([group.size for group in groups], np.int64),
        quantiles=np.array([np.quantile(group, QUANTILES) for group in groups]),
    )
