"""The mean squared distance over pairs of positions, and the share of the plug-in one that is noise, with errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.estimation.build import Geometry
from posgeom.estimation.crossval import square_roots, total_of
from posgeom.estimation.fold_products import FoldProducts
from posgeom.inference.jackknife import Estimate, jackknife
from posgeom.policies import ENOUGH_FOLDS
from posgeom.threads import thread_map


def mean_of_products(products: FoldProducts, fewest: int = ENOUGH_FOLDS) -> Estimate:
    """Mean squared distance over pairs of positions, with an error from so many groups of folds or more."""
    terms = products.mean_squared

    def mean(groups: Sequence[int]) -> float:
        return float(terms[products.among(groups)].mean())

    if products.n < fewest:
        return Estimate(mean(range(products.n)))
    return jackknife(mean, products.n)[0].estimate


def mean_squared_distance(geometry: Geometry) -> Estimate:
    """Mean squared distance of a geometry; for the plug-in estimator without an error, which its bias exceeds."""
    return (
        Estimate(geometry.distances.mean_squared) if geometry.products is None else mean_of_products(geometry.products)
    )


def noise_share(counts: PositionCounts, geometry: Geometry, *, errors: bool = True) -> Estimate | None:
    """Share of the plug-in mean squared distance that two halves of the corpus do not agree on, at full depth.

    None for a plug-in geometry, and where there is no plug-in distance. The jackknife leaves each group of folds out of
    the plug-in counts, and out of the half that it is in.
    """
    if geometry.crossval_full_depth is None or not geometry.plugin.mean_squared > 0:
        return None
    value = 1 - geometry.crossval_full_depth.mean_squared / geometry.plugin.mean_squared
    groups, positions = geometry.fold_groups, geometry.positions
    occupied = bool((counts.depth[positions] > 0).all())
    if not errors or len(groups) < ENOUGH_FOLDS or not occupied:
        return Estimate(value)
    rows = [total_of([matrix[positions] for matrix in counts.fold_matrices], group) for group in groups]
    every = total_of(rows, range(len(groups)))
    halves = [[_groups_in(groups, half) for half in (split.a, split.b)] for split in geometry.splits]
    sums = [[total_of(rows, half) for half in split] for split in halves]
    roots = [[square_roots(half, None, None) for half in split] for split in sums]

    def without(group: int) -> float:
        if any(len(half) < 2 for split in halves for half in split):
            return float("nan")
        plugin = square_roots(_less(every, rows[group]), None, None)
        means = []
        for split, own_sums, own_roots in zip(halves, sums, roots, strict=True):
            side = 0 if group in split[0] else 1
            cut = square_roots(_less(own_sums[side], rows[group]), None, None)
            means.append(_mean_squared(cut, own_roots[1 - side]))
        return float(1 - np.mean(means) / _mean_squared(plugin, plugin))

    left_out = np.array(thread_map(without, range(len(groups)), memory=40 * every.nnz))
    n = left_out.size
    error = float(np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()))
    return Estimate(value, error, n - 1) if np.isfinite(error) else Estimate(value)


def _groups_in(groups: Sequence[Sequence[int]], half: Sequence[int]) -> list[int]:
    return [k for k, group in enumerate(groups) if group[0] in half]


def _less(counts: scipy.sparse.csr_array, part: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    left = scipy.sparse.csr_array(counts - part)
    left.eliminate_zeros()
    return left


def _mean_squared(a: scipy.sparse.csr_array, b: scipy.sparse.csr_array) -> float:
    """Mean of (a_i - a_j) . (b_i - b_j) over pairs of rows."""
    m = a.shape[0]
    same, every = float(a.multiply(b).sum()), float(_sum(a) @ _sum(b))
    return 2 * (m * same - every) / (m * (m - 1))


def _sum(rows: scipy.sparse.csr_array) -> NDArray[np.float64]:
    return np.asarray(rows.sum(axis=0), np.float64).ravel()
