"""What one half of a corpus gives, scored on the other half: encodings that are fitted, and the noise ceiling.

Both directions of several splits of the folds are averaged, so that nothing is scored on what it was fitted to. The
jackknife leaves a fold out of the half that it is in, which is fitted, or scored on, anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.estimation.build import Geometry
from posgeom.estimation.crossval import balanced_splits, squared_distances
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.fold_products import FoldProducts
from posgeom.inference.fields import FIELDS, EncodingPairs, Target
from posgeom.policies import HELD_OUT_SPLITS
from posgeom.progress import ProgressHook, silent
from posgeom.threads import thread_map

Fit = Callable[[Geometry], NDArray[np.float64]]
"""Distances between positions, shape (m, m), from a geometry that a part of the corpus gave."""
_Half = tuple[int, ...]
_FEWEST = 2


def fit_of(encoding: Encoding, positions: NDArray[np.int64]) -> Fit:
    """How an encoding that is fitted to a corpus comes out of a part of it."""
    refit = encoding.refit
    if refit is None:
        raise ValueError(f"encoding {encoding.name} is not fitted to a corpus")
    return lambda part: refit(part).distances(positions)


def other_half(part: Geometry) -> NDArray[np.float64]:
    """The distances of a part of the corpus themselves: what the noise ceiling scores."""
    return part.distances.values


def held_out(
    fits: Sequence[Fit],
    geometry: Geometry,
    products: FoldProducts,
    norms: Sequence[float],
    *,
    errors: bool,
    progress: ProgressHook = silent,
) -> NDArray[np.float64]:
    """Scores of what one half gives against the other half, with all folds, then without each.

    The norms |B| are given in the same order. Shape (1 + n_folds, n_fields, n_fits); NaN where a half would have fewer
    than two folds, and without folds left out where no errors are wanted.
    """
    splits = [(s.a, s.b) for s in balanced_splits(list(range(products.n)), HELD_OUT_SPLITS, geometry.seed)]
    shape = (1 + products.n, len(FIELDS), len(fits))
    if not fits or min(len(half) for split in splits for half in split) < _FEWEST:
        return np.full(shape, np.nan)
    tasks: list[tuple[tuple[_Half, _Half], int | None]] = [(split, None) for split in splits]
    if errors:
        tasks += [(split, fold) for split in splits for fold in range(products.n)]
    memory = 8 * products.m**2 * (4 + 3 * len(fits))
    found = thread_map(
        lambda task: _both_ways(fits, geometry, products, *task, norms),
        tasks,
        memory=memory,
        stage="scoring on other halves",
        progress=progress,
    )
    out = np.full(shape, np.nan)
    for row in range(1 + (products.n if errors else 0)):
        of_row = [one for one, (_, fold) in zip(found, tasks, strict=True) if (0 if fold is None else 1 + fold) == row]
        out[row] = np.mean(of_row, axis=0)
    return out


def _both_ways(
    fits: Sequence[Fit],
    geometry: Geometry,
    products: FoldProducts,
    split: tuple[_Half, _Half],
    fold: int | None,
    norms: Sequence[float],
) -> NDArray[np.float64]:
    """Mean scores of both directions of a split, one fold left out; shape (n_fields, n_fits)."""
    halves = [tuple(f for f in half if f != fold) for half in split]
    if min(map(len, halves)) < _FEWEST:
        return np.full((len(FIELDS), len(fits)), np.nan)
    centred = [products.centred(half) for half in halves]
    norm = norms[0 if fold is None else 1 + fold]
    both = []
    for own, other in ((0, 1), (1, 0)):
        part, target = _part(geometry, centred[own]), Target.of(centred[other], norm)
        both.append(np.stack([EncodingPairs.of(fit(part)).against(target) for fit in fits], axis=1))
    return np.asarray(np.mean(both, axis=0))


def _part(geometry: Geometry, centred: NDArray[np.float64]) -> Geometry:
    """The geometry that a part of the corpus gives."""
    squared = squared_distances(centred)
    distances = DistanceMatrix.from_squared(squared, geometry.positions, geometry.metric.name, "crossval")
    return replace(geometry, crossval=distances, products=None)
