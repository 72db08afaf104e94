"""Sums over the pairs of each lag of the products of sparse rows, without the products of all pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.threads import thread_map

_NUMBERS_AT_ONCE, _BUNDLES = 1 << 20, 16
_DIRECT = 6
"""Pairs of a column that take as long as one number of a transform, which decides the faster way alone."""
Columns = NDArray[np.int64]


def lag_sums(rows: scipy.sparse.csr_array, places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sums of x_i . x_j over the ordered pairs of rows of each lag, from lag 0.

    A column of few numbers gives its pairs one by one, a fuller one its autocorrelation from its power spectrum.

    Shapes: `rows` (m, V), `places` (m,), increasing from 0; the result (places[-1] + 1,).
    """
    by_token, span = rows.tocsc(), int(places[-1])
    length = scipy.fft.next_fast_len(2 * span + 1, real=True)
    filled = np.diff(by_token.indptr)
    in_order = np.argsort(filled, kind="stable")
    first, fuller = np.searchsorted(filled[in_order], [1, int(np.sqrt(_DIRECT * length))])
    few, many = in_order[first:fuller], in_order[fuller:]
    pairs = _sum(partial(_of_pairs, by_token, places), _groups(few, filled[few]))
    power = _sum(partial(_power, by_token, places, length), _groups(many, np.full(many.size, length)))
    sums = np.zeros(span + 1) + pairs
    sums += scipy.fft.irfft(np.zeros(length // 2 + 1) + power, length)[: span + 1]
    sums[1:] *= 2
    return sums


def _of_pairs(by_token: scipy.sparse.csc_array, places: NDArray[np.int64], columns: Columns) -> NDArray[np.float64]:
    """Sums over the pairs i <= j of columns of few numbers, which zeros in the last row make equally long."""
    starts, ends = by_token.indptr[columns], by_token.indptr[columns + 1]
    at = starts[:, None] + np.arange(int((ends - starts).max()))
    is_there = at < ends[:, None]
    at[~is_there] = 0
    lines = np.where(is_there, places[by_token.indices[at]], places[-1])
    values = np.where(is_there, by_token.data[at], 0.0)
    sums = np.zeros(int(places[-1]) + 1)
    sums[0] = (values**2).sum()
    for step in range(1, values.shape[1]):
        lags = lines[:, step:] - lines[:, :-step]
        sums += np.bincount(lags.ravel(), (values[:, step:] * values[:, :-step]).ravel(), sums.size)
    return sums


def _power(
    by_token: scipy.sparse.csc_array, places: NDArray[np.int64], length: int, columns: Columns
) -> NDArray[np.float64]:
    """Sum of the power spectra of columns, padded to a length."""
    signal = np.zeros((columns.size, length))
    signal[:, places] = by_token[:, columns].toarray().T
    transformed = scipy.fft.rfft(signal, overwrite_x=True)
    return np.asarray((transformed.real**2 + transformed.imag**2).sum(axis=0))


def _groups(columns: Columns, sizes: NDArray[np.int64]) -> list[Columns]:
    """Columns, the shortest first, in groups that hold so many numbers when all are as long as the last."""
    groups, end = [], columns.size
    while end:
        start = max(0, end - max(1, _NUMBERS_AT_ONCE // int(sizes[end - 1])))
        groups.append(columns[start:end])
        end = start
    return groups


def _sum(
    of_columns: Callable[[Columns], NDArray[np.float64]], groups: Sequence[Columns]
) -> NDArray[np.float64] | float:
    """Sum over groups, in an order that does not depend on the threads that share them."""

    def of_bundle(first: int) -> NDArray[np.float64]:
        return sum((of_columns(group) for group in groups[first + _BUNDLES :: _BUNDLES]), of_columns(groups[first]))

    return sum(thread_map(of_bundle, range(min(_BUNDLES, len(groups)))), 0.0)
