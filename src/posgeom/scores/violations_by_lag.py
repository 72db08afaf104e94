"""Violations of monotonicity by lag: where along the sequence distance stops growing."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posgeom.scores.monotonicity import RELATIVE_TOLERANCE

MAX_LAGS, MAX_ROWS = 48, 1024


@dataclass(frozen=True, eq=False, slots=True)
class ViolationsByLag:
    """Violations among the triples (i, j, k) with |i - j| < |i - k| = lag.

    Attributes
    ----------
    lags : ndarray of int, shape (k,)
    violations, triples : ndarray of int, shape (k,)
        Triples with d(i, j) > d(i, k), and all of them.
    """

    lags: NDArray[np.int64]
    violations: NDArray[np.int64]
    triples: NDArray[np.int64]

    @property
    def rates(self) -> list[float | None]:
        """Violations per triple; None without triples."""
        pairs = zip(self.violations.tolist(), self.triples.tolist(), strict=True)
        return [bad / total if total else None for bad, total in pairs]


def violations_by_lag(
    distances: NDArray[np.float64],
    positions: NDArray[np.int64],
    *,
    max_lags: int = MAX_LAGS,
    max_rows: int = MAX_ROWS,
) -> ViolationsByLag:
    """Count violations of monotonicity by the larger lag of a triple.

    Over all lags and rows the counts add up to those of `posgeom.scores.monotonicity.monotonicity`.

    Shapes: `distances` (m, m), `positions` (m,).
    """
    span = int(positions[-1] - positions[0])
    lags = np.unique(np.linspace(1, span, min(span, max_lags)).round().astype(np.int64))
    slack = RELATIVE_TOLERANCE * float(distances.max(initial=0))
    violations, triples = np.zeros(lags.size, np.int64), np.zeros(lags.size, np.int64)
    m = positions.size
    for i in np.unique(np.linspace(0, m - 1, min(m, max_rows)).round().astype(np.int64)).tolist():
        row, lag_of = distances[i], np.abs(positions - positions[i])
        nearer = (lag_of < lags[:, None]) & (lag_of > 0)
        n_nearer = np.count_nonzero(nearer, axis=1)
        for places in (positions[i] - lags, positions[i] + lags):
            k = np.minimum(np.searchsorted(positions, places), m - 1)
            is_used = positions[k] == places
            larger = np.count_nonzero(nearer & (row > (row[k] + slack)[:, None]), axis=1)
            triples += np.where(is_used, n_nearer, 0)
            violations += np.where(is_used, larger, 0)
    return ViolationsByLag(lags, violations, triples)
