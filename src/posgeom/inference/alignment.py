"""Alignment with a geometry that is known through its folds, free of the bias of noise.

<B_P, B> is linear in the products of pairs of folds, so its mean over them is unbiased. |B|^2 is not estimated by its
plug-in, where noise is multiplied by itself; the mean of <B_fg, B_hk> over folds f, g, h, k that are all different is
unbiased ("debiased" CKA and HSIC: Song et al. 2012, Murphy et al. 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posgeom.estimation.build import Geometry
from posgeom.estimation.fold_products import FoldProducts
from posgeom.estimation.mds import double_centre
from posgeom.inference.fields import Target
from posgeom.inference.significance import significance
from posgeom.policies import ENOUGH_FOLDS
from posgeom.progress import ProgressHook, silent
from posgeom.threads import thread_map


class Norm:
    """|B|^2 of a geometry, over any of its folds."""

    def __init__(self, products: FoldProducts) -> None:
        self._products = products

    @cached_property
    def _disjoint(self) -> NDArray[np.bool_]:
        """Which pairs of folds have no fold in common, shape (n_pairs, n_pairs)."""
        first, second = np.array(self._products.pairs).T
        shared = np.zeros((first.size, first.size), np.bool_)
        for one in (first, second):
            for other in (first, second):
                shared |= one[:, None] == other
        return ~shared

    def squared(self, groups: Sequence[int]) -> float:
        """The unbiased estimate from some groups of folds; it may be negative, and is NaN with fewer than four."""
        return self.mean_of_disjoint(self._products.inner_products, groups)

    def mean_of_disjoint(self, values: NDArray[np.float64], groups: Sequence[int]) -> float:
        """Mean over pairs of pairs without a common fold, shape (n_pairs, n_pairs): of a bilinear form, unbiased."""
        if len(groups) < ENOUGH_FOLDS:
            return float("nan")
        among = self._products.among(groups)
        return float(values[self._disjoint & among & among[:, None]].mean())

    def __call__(self, groups: Sequence[int]) -> float:
        """The root of that; NaN where it is not positive."""
        squared = self.squared(groups)
        return float(np.sqrt(squared)) if squared > 0 else float("nan")


def why_undefined(geometry: Geometry) -> str | None:
    """Why nothing can be aligned with a geometry, as a clause; None where something can."""
    products = geometry.products
    if products is None:
        return None if float(np.abs(geometry.distances.squared).max()) > 0 else "all distances are 0"
    if products.n < ENOUGH_FOLDS:
        return f"its noise is not told from its structure by fewer than {ENOUGH_FOLDS} folds with documents"
    tested = significance(geometry)
    if tested is not None and tested.rank == 0:
        p_value = f" (p = {tested.axes[0].p_value:.2g})" if tested.axes else ""
        return f"no axis of this geometry is more than noise{p_value}, so that there is nothing to be aligned with"
    if not Norm(products).squared(range(products.n)) > 0:
        return "the estimate of |B|^2, free of noise, is not positive, so that there is nothing to be aligned with"
    return None


def targets_of(
    geometry: Geometry, undefined: str | None, *, errors: bool = False, progress: ProgressHook = silent
) -> list[Target]:
    """What encodings are scored against: the geometry, then where errors are wanted the geometry without each fold.

    Where alignment is undefined, no norm is known.
    """
    products, exact = geometry.products, geometry.distances.pairs
    if products is None:
        centred = double_centre(geometry.distances.squared)
        return [Target.of(centred, np.nan if undefined else float(np.linalg.norm(centred)), exact)]
    norm, everything = Norm(products), range(products.n)

    def target(fold: int | None) -> Target:
        groups = [group for group in everything if group != fold]
        known = np.nan if undefined else norm(groups)
        return Target.of(products.centred(groups), known, exact if fold is None else None)

    folds = [None, *everything] if errors else [None]
    return thread_map(target, folds, memory=8 * 6 * products.m**2, stage="leaving folds out", progress=progress)
