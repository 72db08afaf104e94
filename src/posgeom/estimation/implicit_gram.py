"""The centred Gram matrix B of positions as products of sparse factors, so that nothing of size n x n is ever made.

For Hellinger distances the plug-in B is J R R^T J with R the square-root frequencies. With R_f those of fold f and S
their sum, the mean over pairs of folds of the cross-validated products is J (S S^T - sum R_f R_f^T) J / (F (F - 1)).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.counts.token_counts import sum_in_pairs
from posgeom.estimation.devices import HOST, Host
from posgeom.estimation.fold_products import FoldProducts
from posgeom.estimation.gram import cross_gram
from posgeom.estimation.lag_sums import lag_sums
from posgeom.estimation.sparse_rows import row_sums
from posgeom.threads import thread_map

COLUMNS = 8
"""Columns that are multiplied at once: products of all folds with them are held, and a row of them is a cache line."""
_PAIRS_AT_ONCE = 1 << 12


@dataclass(frozen=True, eq=False)
class ImplicitGram:
    """B = J W (sum of c X X^T) W^T J, where W gives each position its row.

    Attributes
    ----------
    factors : tuple of (float, CSR array of shape (k, V))
        The pairs c, X; of the plug-in, one.
    row_of_position : ndarray of int, shape (m,)
    products : FoldProducts or None
        The folds that it is the mean of; None for the plug-in.
    device : Host
        Where it is multiplied.
    """

    factors: tuple[tuple[float, scipy.sparse.csr_array], ...]
    row_of_position: NDArray[np.int64]
    products: FoldProducts | None = None
    device: Host = HOST

    @classmethod
    def of_folds(cls, products: FoldProducts, device: Host = HOST) -> ImplicitGram:
        """The cross-validated estimate."""
        weight = products.scale / (products.n * (products.n - 1))
        total = sum_in_pairs(products.roots)
        factors = ((weight, total), *((-weight, roots) for roots in products.roots))
        return cls(factors, products.row_of_position, products, device)

    @property
    def m(self) -> int:
        """Positions."""
        return int(self.row_of_position.size)

    @cached_property
    def spread(self) -> scipy.sparse.csr_array:
        """W, shape (m, k)."""
        shape = (self.m, self.factors[0][1].shape[0])
        return scipy.sparse.csr_array((np.ones(self.m), (np.arange(self.m), self.row_of_position)), shape=shape)

    def gathered(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """W^T J z of columns z; shapes (m, s) and (k, s)."""
        return np.asarray(self.spread.T @ (vectors - vectors.mean(axis=0)))

    def scattered(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """J W y of columns y; shapes (k, s) and (m, s)."""
        full = self.spread @ rows
        return np.asarray(full - full.mean(axis=0))

    @cached_property
    def multiplied(self) -> list[Any]:
        """The matrices whose products make B, on the device: those of the folds, or the one of the plug-in."""
        matrices = [x for _, x in self.factors] if self.products is None else self.products.roots
        return [self.device.rows(matrix) for matrix in matrices]

    def by_token(self, vectors: NDArray[np.float64]) -> list[Any]:
        """X^T W^T J z of columns z for each of these matrices, on the device; shapes (m, s) and (V, s)."""
        gathered = self.device.send(self.gathered(vectors))
        return [matrix.T @ gathered for matrix in self.multiplied]

    def apply(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """B z of columns z; shapes (m, s) and (m, s)."""
        by_token = self.by_token(vectors)
        if self.products is not None:
            # S S^T - sum R_f R_f^T = sum R_f (S - R_f)^T, so that S itself is not multiplied.
            total = sum(by_token[1:], by_token[0])
            by_token = [total - own for own in by_token]
        rows = sum(matrix @ part for matrix, part in zip(self.multiplied, by_token, strict=True))
        return self.factors[0][0] * self.scattered(self.device.fetch(rows))

    def dense(self) -> NDArray[np.float64]:
        """B itself, shape (m, m)."""
        gram = np.zeros((self.factors[0][1].shape[0],) * 2)
        for c, x in self.factors:
            gram += c * cross_gram(x, x)
        gram = ((gram + gram.T) / 2)[np.ix_(self.row_of_position, self.row_of_position)]
        means = gram.mean(axis=0)
        return np.asarray(gram - means - means[:, None] + means.mean())

    def trace(self) -> float:
        """Sum of the eigenvalues of B."""
        weights = np.bincount(self.row_of_position, minlength=self.factors[0][1].shape[0]).astype(np.float64)
        squares = (c * float(weights @ x.power(2).sum(axis=1)) for c, x in self.factors)
        centre = (c * float(((weights @ x) ** 2).sum()) for c, x in self.factors)
        return sum(squares) - sum(centre) / self.m

    def squared_at(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
        """Squared distances between places, the sum of c |x_i - x_j|^2 over the factors; shapes (p,), (p,) and (p,)."""
        rows = self.row_of_position

        def of_part(part: slice) -> NDArray[np.float64]:
            gaps = ((c, x[rows[first[part]]] - x[rows[second[part]]]) for c, x in self.factors)
            return np.asarray(sum(c * row_sums(gap.power(2)) for c, gap in gaps))

        parts = [slice(start, start + _PAIRS_AT_ONCE) for start in range(0, first.size, _PAIRS_AT_ONCE)]
        return np.concatenate([np.zeros(0), *thread_map(of_part, parts)])

    def inner_product(self, points: NDArray[np.float64]) -> float:
        """<P P^T, B> of coordinates, shape (m, d): a sum of c |X^T W^T J P|^2."""
        return sum(thread_map(self._squares, column_blocks(points)))

    def _squares(self, vectors: NDArray[np.float64]) -> float:
        """Sum of z^T B z over columns z."""
        by_token = self.by_token(vectors)
        own = sum(float((part**2).sum()) for part in by_token)
        if self.products is not None:
            own = float((sum(by_token[1:], by_token[0]) ** 2).sum()) - own
        return self.factors[0][0] * own

    def lag_sums(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Sums of B over the pairs of positions of each lag, in both orders, shape (span + 1,)."""
        places = positions - positions[0]
        sums, means = np.zeros(int(places[-1]) + 1), np.zeros(self.m)
        for c, x in self.factors:
            rows = self.spread @ x
            sums += c * lag_sums(rows, places)
            means += c * (rows @ (rows.sum(axis=0) / self.m))
        # Centring takes from each pair the means of its two rows, and gives the mean of all back.
        occupied, by_place = np.zeros(sums.size), np.zeros(sums.size)
        occupied[places], by_place[places] = 1, means
        pairs = pairs_by_lag(occupied)
        both = scipy.signal.correlate(by_place, occupied, "full", "fft")
        both = both[sums.size - 1 :] + both[sums.size - 1 :: -1]
        both[1:] *= 2
        return np.asarray(sums - both + means.mean() * pairs)


def pairs_by_lag(occupied: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ordered pairs of occupied places (1, others 0) of each lag, from lag 0; shapes (span + 1,)."""
    pairs = np.rint(scipy.signal.correlate(occupied, occupied, "full", "fft")[occupied.size - 1 :])
    pairs[1:] *= 2
    return np.asarray(pairs)


def column_blocks(matrix: NDArray[np.float64], width: int = COLUMNS) -> Iterator[NDArray[np.float64]]:
    """A matrix in blocks of columns, so that what is made of each stays small."""
    for start in range(0, matrix.shape[1], width):
        yield np.ascontiguousarray(matrix[:, start : start + width])
