"""An additive attention bias: what a relative scheme adds to the logit of each query and key."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.lags import lag_span, spread_lags
from posgeom.errors import EncodingError
from posgeom.estimation.distance_matrix import check_matrix_fits

Positions = NDArray[np.int64]
Drop = Callable[[Positions], NDArray[np.float64]]
"""From lags, shape (m,), to b(0) - b(lag), shape (heads, m)."""
_BLOCK_CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class Bias:
    """The bias b_h(i, j) that head h adds to the logit of query i and key j.

    Attributes
    ----------
    n_heads : int
    values : callable
        From positions of queries and keys, broadcast against each other, to biases of shape (heads, ...). Keys in
        the future of their query are never asked for where `causal` is set.
    causal : bool
        Whether keys after the query are masked, with -inf.
    relative : bool
        Whether it depends on key - query alone.
    even : bool
        Whether it depends on the lag abs(key - query) alone.
    conditionally_positive : bool
        Whether -b is known to be conditionally negative definite, so that 2 (b(0) - b) is a squared distance.
    drop : callable, optional
        From lags, shape (m,), to b(0) - b(lag), shape (heads, m), where a form is known that keeps more digits than
        the difference.
    """

    n_heads: int
    values: Callable[[Positions, Positions], NDArray[np.float64]]
    causal: bool = False
    relative: bool = True
    even: bool = True
    conditionally_positive: bool = False
    drop: Drop | None = None

    def __repr__(self) -> str:
        return f"<Bias: {self.n_heads} heads, {'causal' if self.causal else 'both directions'}>"

    def at_lags(self, lags: Positions) -> NDArray[np.float64]:
        """Bias at each query - key, shape (heads, m), of a bias that depends on it alone; the future is -inf.

        Parameters
        ----------
        lags : ndarray of int, shape (m,)
            Negative where the key comes after the query.
        """
        if not self.relative:
            raise EncodingError("this bias depends on the position of the query, not on the lag alone: ask for pairs")
        past = np.maximum(lags, 0) if self.causal else lags
        values = self.values(past, np.zeros_like(past))
        return np.where(lags < 0, -np.inf, values) if self.causal else values

    def matrix(self, positions: Positions) -> NDArray[np.float64]:
        """Bias of each query (row) and key (column), shape (heads, m, m); the future is -inf where causal."""
        check_matrix_fits(positions.size, self.n_heads)
        queries, keys = positions[:, None], positions[None, :]
        if not self.causal:
            return np.asarray(
                np.broadcast_to(self.values(queries, keys), (self.n_heads, positions.size, positions.size))
            )
        values = self.values(np.maximum(queries, keys), np.minimum(queries, keys))
        return np.where(keys > queries, -np.inf, values)

    def drops(self, lags: Positions) -> NDArray[np.float64]:
        """b(0) - b(lag) of the symmetrised bias, shape (heads, m), for lags from 0."""
        if self.drop is not None:
            return self.drop(lags)
        zero = np.zeros_like(lags)
        values = self.values(lags, zero)
        if not (self.causal or self.even):
            values = (values + self.values(zero, lags)) / 2
        return np.asarray(self.values(zero[:1], zero[:1]) - values)

    def drops_between(
        self, positions: Positions, reduce: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """(b(i, i) + b(j, j)) / 2 - b(i, j) of the symmetrised bias, reduced over heads, shape (m, m).

        Symmetrised means the mean of both directions, or the one direction that a causal mask leaves.

        Parameters
        ----------
        positions : ndarray of int, shape (m,)
        reduce : callable
            From (heads, rows, m) to (rows, m); called for a block of rows at a time.
        """
        m = positions.size
        check_matrix_fits(m)
        if self.relative:
            table = reduce(self.drops(np.arange(lag_span(positions) + 1))[:, None, :])[0]
            return spread_lags(table, positions)
        diagonal = self.values(positions, positions)
        out = np.empty((m, m))
        step = max(1, _BLOCK_CELLS // max(m * self.n_heads, 1))
        for start in range(0, m, step):
            rows = positions[start : start + step, None]
            if self.causal:
                values = self.values(np.maximum(rows, positions), np.minimum(rows, positions))
            else:
                values = (self.values(rows, positions) + self.values(positions, rows)) / 2
            ends = (diagonal[:, start : start + step, None] + diagonal[:, None, :]) / 2
            out[start : start + step] = reduce(ends - values)
        return (out + out.T) / 2


def kernel_of_drop(n_heads: int, drop: Drop, *, causal: bool) -> Bias:
    """The conditionally positive bias -drop(|i - j|)."""

    def values(query: Positions, key: Positions) -> NDArray[np.float64]:
        return -drop(np.abs(np.asarray(query - key)))

    return Bias(n_heads, values, causal=causal, conditionally_positive=True, drop=drop)
