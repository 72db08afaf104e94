"""Distances between token distributions: Hellinger and its relatives, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from posgeom.errors import GeometryError
from posgeom.estimation.gram import cross_gram
from posgeom.estimation.sparse_rows import divide_rows, row_sums

_RECOMPUTE_BELOW = 1e-6
_CHUNK_PAIRS = 4096


def hellinger_squared(rows: scipy.sparse.csr_array) -> NDArray[np.float64]:
    """Squared Hellinger distances |sqrt(mu_i) - sqrt(mu_j)|^2, in [0, 2].

    Shapes: `rows` (k, V); the result (k, k).
    """
    roots = rows.sqrt()
    squared = np.clip(2 - 2 * cross_gram(roots, roots), 0, 2)
    squared = (squared + squared.T) / 2
    np.fill_diagonal(squared, 0)
    # 2 - 2 sum sqrt(pq) cancels for close pairs: those are summed from differences instead.
    first, second = np.nonzero(np.triu(squared < _RECOMPUTE_BELOW, 1))
    for start in range(0, first.size, _CHUNK_PAIRS):
        i, j = first[start : start + _CHUNK_PAIRS], second[start : start + _CHUNK_PAIRS]
        squared[i, j] = squared[j, i] = (roots[i] - roots[j]).power(2).sum(axis=1)
    return np.asarray(squared)


def _hellinger(rows: scipy.sparse.csr_array) -> NDArray[np.float64]:
    return np.sqrt(hellinger_squared(rows))


def _hellinger_normalized(rows: scipy.sparse.csr_array) -> NDArray[np.float64]:
    return np.sqrt(hellinger_squared(rows) / 2)


def _fisher_rao(rows: scipy.sparse.csr_array) -> NDArray[np.float64]:
    # 2 arccos(1 - h^2/2) = 4 arcsin(h/2), which keeps its digits for close pairs.
    return np.asarray(4 * np.arcsin(np.clip(_hellinger(rows) / 2, 0, np.sqrt(0.5))))


def _jensen_shannon(rows: scipy.sparse.csr_array) -> NDArray[np.float64]:
    def divergence(p: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
        mixed = (p + others) / 2
        inside = (scipy.special.xlogy(p, p) + scipy.special.xlogy(others, others)) / 2 - scipy.special.xlogy(
            mixed, mixed
        )
        # Mass of the other rows outside the support of p counts with log 2 / 2.
        return np.asarray(inside.sum(axis=1) + (1 - others.sum(axis=1)) * np.log(2) / 2)

    return np.sqrt(np.maximum(_row_by_row(rows, divergence), 0))


def _total_variation(rows: scipy.sparse.csr_array) -> NDArray[np.float64]:
    def distance(p: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((np.abs(p - others).sum(axis=1) + 1 - others.sum(axis=1)) / 2)

    return np.maximum(_row_by_row(rows, distance), 0)


def _row_by_row(
    rows: scipy.sparse.csr_array, compare: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Compare each row with the later ones on its own support: what lies outside has a closed form."""
    k = rows.shape[0]
    by_token = rows.tocsc()
    out = np.zeros((k, k))
    for i in range(k - 1):
        support = rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
        p = rows.data[rows.indptr[i] : rows.indptr[i + 1]]
        out[i, i + 1 :] = compare(p, by_token[:, support].toarray()[i + 1 :])
    return np.asarray(out + out.T)


@dataclass(frozen=True, slots=True)
class Metric:
    """A named distance between distributions.

    Attributes
    ----------
    name : str
    distances : callable
        From distributions, CSR of shape (k, V), to distances, shape (k, k).
    crossval_scale : float or None
        Factor from cross-validated squared Hellinger distances to this metric's; None where there is no
        cross-validated estimator.
    formula : str
        For documentation and messages.
    """

    name: str
    distances: Callable[[scipy.sparse.csr_array], NDArray[np.float64]]
    crossval_scale: float | None
    formula: str


METRICS: dict[str, Metric] = {
    m.name: m
    for m in (
        Metric("hellinger", _hellinger, 1.0, "|sqrt(mu) - sqrt(nu)|, range [0, sqrt 2]"),
        Metric("hellinger-normalized", _hellinger_normalized, 0.5, "Hellinger divided by sqrt 2, range [0, 1]"),
        Metric("fisher-rao", _fisher_rao, None, "2 arccos(sum sqrt(mu nu)), range [0, pi]"),
        Metric("jensen-shannon", _jensen_shannon, None, "sqrt of the divergence in nats, range [0, sqrt(ln 2)]"),
        Metric("total-variation", _total_variation, None, "half of sum |mu - nu|, range [0, 1]"),
    )
}


def metric_named(name: str) -> Metric:
    """Look a metric up."""
    try:
        return METRICS[name]
    except KeyError:
        raise GeometryError(f"unknown metric {name!r}: expected one of {', '.join(METRICS)}") from None


def distribution_distances(
    weights: ArrayLike | scipy.sparse.csr_array, metric: str = "hellinger"
) -> NDArray[np.float64]:
    """Distances between distributions given as a matrix.

    Parameters
    ----------
    weights : array_like or CSR array, shape (k, V)
        Non-negative; each row is divided by its sum, so counts do.
    metric : str
        One of `METRICS`.

    Returns
    -------
    ndarray of float, shape (k, k)

    Raises
    ------
    GeometryError
        When a row is not a distribution, or the metric is unknown.

    Examples
    --------
    >>> distribution_distances([[1, 2], [2, 4]]).tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    try:
        rows = scipy.sparse.csr_array(
            weights if scipy.sparse.issparse(weights) else np.asarray(weights, np.float64), copy=True
        )
    except (TypeError, ValueError):
        raise GeometryError("weights are no matrix of numbers: expected shape (distributions, tokens)") from None
    if rows.ndim != 2:
        raise GeometryError(f"weights have shape {rows.shape}: expected (distributions, tokens)")
    rows = rows.astype(np.float64)
    if not np.isfinite(rows.data).all() or (rows.data < 0).any():
        raise GeometryError("weights must be finite and not negative")
    largest = np.asarray(abs(rows).max(axis=1).toarray()).ravel()
    if (largest == 0).any():
        raise GeometryError(f"row {int(np.argmin(largest))} of the weights is all zero: it has no distribution")
    rows.eliminate_zeros()
    shares = divide_rows(rows, largest)  # by the largest first, so that the sum of large weights cannot overflow
    return metric_named(metric).distances(divide_rows(shares, row_sums(shares)))
