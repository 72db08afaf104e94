"""Intervals by the delete-one-fold jackknife, on the same splits with each fold left out in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.corpus.counts import PositionCounts
from posgeom.geometry.build import Geometry
from posgeom.geometry.crossval import Split, balanced_splits, half_depths, squared_distances
from posgeom.geometry.distance_matrix import DistanceMatrix
from posgeom.geometry.gram import cross_gram
from posgeom.geometry.rarefaction import rarefied_rows
from posgeom.progress import ProgressHook, silent
from posgeom.studies.paper.result import Estimate

N_SPLITS = 4
"""Splits that each fold is left out of: fewer than the estimate averages over, as only differences matter."""
_NORMAL_95 = 1.959964


def leave_one_out(
    counts: PositionCounts, shape: Geometry, *, progress: ProgressHook = silent
) -> tuple[DistanceMatrix, ...]:
    """Cross-validated distances over the positions of a geometry, one fold of the corpus left out of each.

    Every fold is left out of the same splits, so that the choice of splits adds no spread.

    Parameters
    ----------
    counts : PositionCounts
    shape : Geometry
        A cross-validated one of these counts.
    progress : callable

    Returns
    -------
    tuple of DistanceMatrix
        Empty where the halves would become too small.
    """
    folds = np.flatnonzero(counts.depth_by_fold.any(axis=1)).tolist()
    if len(folds) < 4 or shape.depth is None:
        return ()
    splits = balanced_splits(folds, N_SPLITS, shape.seed)
    positions = shape.positions
    depth = min(int(half_depths(counts, [_without(s, fold) for s in splits])[positions].min()) for fold in folds)
    if depth < 1:
        return ()
    used = [matrix[positions] for matrix in counts.fold_matrices]
    grams = np.zeros((len(folds), positions.size, positions.size))
    for done, split in enumerate(splits):
        progress("jackknife", done, len(splits))
        for half, other in ((split.a, split.b), (split.b, split.a)):
            total = _sum([used[f] for f in half])
            unchanged = rarefied_rows(_sum([used[f] for f in other]), depth)
            for fold in half:
                grams[folds.index(fold)] += cross_gram(rarefied_rows(_less(total, used[fold]), depth), unchanged)
    progress("jackknife", len(splits), len(splits))
    scale = shape.metric.crossval_scale or 1.0
    return tuple(
        DistanceMatrix.from_squared(
            squared_distances((gram + gram.T) / (2 * len(splits))) * scale, positions, shape.metric.name, "crossval"
        )
        for gram in grams
    )


def _without(split: Split, fold: int) -> Split:
    a, b = (tuple(f for f in half if f != fold) for half in (split.a, split.b))
    return Split(a, b)


def _sum(matrices: list[scipy.sparse.csr_array]) -> scipy.sparse.csr_array:
    total = matrices[0]
    for matrix in matrices[1:]:
        total = total + matrix
    return total


def _less(total: scipy.sparse.csr_array, part: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    rest = scipy.sparse.csr_array(total - part)
    rest.eliminate_zeros()
    return rest


def jackknife(
    statistic: Callable[[DistanceMatrix], float | None], whole: DistanceMatrix, parts: Sequence[DistanceMatrix]
) -> Estimate | None:
    """A statistic of distances with its 95 % interval.

    Parameters
    ----------
    statistic : callable
    whole : DistanceMatrix
        Of all folds.
    parts : sequence of DistanceMatrix
        See `leave_one_out`; an empty one gives no interval.

    Returns
    -------
    Estimate or None
        None where the statistic is undefined.
    """
    value = statistic(whole)
    if value is None:
        return None
    found = [v for v in map(statistic, parts) if v is not None]
    if len(found) < 2 or len(found) < len(parts):
        return Estimate(value)
    deviations: NDArray[np.float64] = np.array(found) - np.mean(found)
    error = float(np.sqrt((len(found) - 1) / len(found) * (deviations**2).sum()))
    return Estimate(value, value - _NORMAL_95 * error, value + _NORMAL_95 * error, "jackknife")
