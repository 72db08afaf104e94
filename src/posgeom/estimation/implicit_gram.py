"""The centred Gram matrix B of positions as products of sparse factors, so that nothing of size n x n is ever made.

For Hellinger distances the plug-in B is J R R^T J with R the square-root frequencies. With R_f those of fold f and S
their sum, the mean over pairs of folds of the cross-validated products is J (S S^T - sum R_f R_f^T) J / (F (F - 1)).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.counts.token_counts import sum_in_pairs
from posgeom.estimation.fold_products import FoldProducts
from posgeom.estimation.gram import cross_gram

_FFT_NUMBERS, _PAIRS_AT_ONCE = 1 << 22, 1 << 12


@dataclass(frozen=True, eq=False)
class ImplicitGram:
    """B = J W (sum of c X X^T) W^T J, where W gives each position its row.

    Attributes
    ----------
    factors : tuple of (float, CSR array of shape (k, V))
        The pairs c, X.
    row_of_position : ndarray of int, shape (m,)
    products : FoldProducts or None
        The folds that it is the mean of; None for the plug-in.
    """

    factors: tuple[tuple[float, scipy.sparse.csr_array], ...]
    row_of_position: NDArray[np.int64]
    products: FoldProducts | None = None

    @classmethod
    def of_folds(cls, products: FoldProducts) -> ImplicitGram:
        """The cross-validated estimate."""
        weight = products.scale / (products.n * (products.n - 1))
        total = sum_in_pairs(products.roots)
        factors = ((weight, total), *((-weight, roots) for roots in products.roots))
        return cls(factors, products.row_of_position, products)

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

    def apply(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """B z of columns z; shapes (m, s) and (m, s)."""
        gathered = self.gathered(vectors)
        if self.products is None:
            return self.scattered(sum(c * (x @ (x.T @ gathered)) for c, x in self.factors))
        # S S^T - sum R_f R_f^T = sum R_f (S - R_f)^T, so that S itself is not multiplied.
        roots = self.products.roots
        by_token = [part.T @ gathered for part in roots]
        total = np.sum(by_token, axis=0)
        weight = self.factors[0][0]
        return self.scattered(weight * sum(part @ (total - own) for part, own in zip(roots, by_token, strict=True)))

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
        out = np.zeros(first.size)
        rows = self.row_of_position
        for start in range(0, first.size, _PAIRS_AT_ONCE):
            part = slice(start, start + _PAIRS_AT_ONCE)
            for c, x in self.factors:
                gap = x[rows[first[part]]] - x[rows[second[part]]]
                out[part] += c * np.asarray(gap.power(2).sum(axis=1)).ravel()
        return out

    def inner_product(self, points: NDArray[np.float64]) -> float:
        """<P P^T, B> of coordinates, shape (m, d)."""
        return float(sum((part * self.apply(part)).sum() for part in column_blocks(points)))

    def lag_sums(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Sums of B over the pairs of positions of each lag, in both orders, shape (span + 1,).

        The autocorrelation along the sequence of each column of J W X, from its power spectrum.
        """
        places, span = positions - positions[0], int(positions[-1] - positions[0])
        length = scipy.fft.next_fast_len(2 * span + 1, real=True)
        power = np.zeros(length // 2 + 1)
        width = max(1, _FFT_NUMBERS // length)
        for c, x in self.factors:
            by_token = (self.spread @ x).tocsc()
            filled = np.flatnonzero(np.diff(by_token.indptr))
            for start in range(0, filled.size, width):
                columns = by_token[:, filled[start : start + width]].toarray().T
                signal = np.zeros((len(columns), span + 1))
                signal[:, places] = columns - columns.mean(axis=1, keepdims=True)
                transformed = scipy.fft.rfft(signal, length)
                power += c * (transformed.real**2 + transformed.imag**2).sum(axis=0)
        sums = np.asarray(scipy.fft.irfft(power, length)[: span + 1])
        sums[1:] *= 2
        return sums


def column_blocks(matrix: NDArray[np.float64], width: int = 32) -> Iterator[NDArray[np.float64]]:
    """A matrix in blocks of columns, so that what is made of each stays small."""
    for start in range(0, matrix.shape[1], width):
        yield np.ascontiguousarray(matrix[:, start : start + width])
