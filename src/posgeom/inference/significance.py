"""How many axes of a geometry are more than noise: the signs of folds are flipped.

If every position has the same token distribution among the documents long enough to reach it, the deviations of a
fold's root frequencies from their mean over positions are symmetric about 0 at a common depth. Then flipping the signs
s_f of folds leaves the law of the mean of s_f s_g B_fg unchanged, whatever ties documents together inside a fold (runs
of a token, topics, copies of one source), and the observed geometry is one of its 2^(n - 1) equally likely patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.estimation.build import Geometry
from posgeom.estimation.crossval import balanced_splits
from posgeom.estimation.fold_products import FoldProducts
from posgeom.frames import Framed, estimated
from posgeom.inference.jackknife import Estimate, jackknife
from posgeom.policies import ALPHA, FEWEST_TO_TEST, HELD_OUT_SPLITS, LEVEL, MAX_SIGN_PATTERNS
from posgeom.progress import ProgressHook, silent
from posgeom.seeds import make_rng
from posgeom.threads import thread_map

HYPOTHESIS = (
    "every position has the same token distribution among the documents that are long enough to reach it, and "
    "documents of different folds are independent"
)
"""What is tested, in words that fit behind "that"."""
_MAX_AXES, _MAX_TESTED = 64, 512
"""Axes tested, and positions: where there are more of these, means over neighbours are, which the hypothesis holds for
too."""
_AT_ONCE = 8
"""Patterns whose matrices are made by one product, in memory that is used again."""
_RELATIVE = 1e-9


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a geometry.

    Attributes
    ----------
    eigenvalue : float
        Of the double-centred squared distances.
    corrected : Estimate
        The eigenvalue less what noise adds to it, as the jackknife estimates both that bias and the error.
    p_value : float
        Share of the patterns of signs whose largest eigenvalue, with the axes before this one projected out, reaches
        this one's.
    """

    eigenvalue: float
    corrected: Estimate
    p_value: float


@dataclass(frozen=True, eq=False)
class Significance(Framed):
    """The axes of a geometry against patterns of signs.

    Attributes
    ----------
    axes : tuple of Axis
        Those that are significant, and the first that is not.
    rank : int
        Significant rank: leading axes whose p-value is at most `alpha`.
    alpha : float
        Level of the test of each axis.
    n_patterns : int
        Patterns of signs that were tried, the observed one among them; no p-value is below one over their number.
    signal_share : float or None
        Inertia of one half of the corpus along the significant axes of the other half, as a share of all inertia; None
        where there is none.
    """

    axes: tuple[Axis, ...]
    rank: int
    alpha: float
    n_patterns: int
    signal_share: float | None

    def __repr__(self) -> str:
        return f"<Significance: {self.rank} axes at level {self.alpha}, {self.n_patterns} patterns of signs>"

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain dictionary per axis, for JSON, CSV or a data frame."""
        return [
            {"axis": number, "eigenvalue": axis.eigenvalue, "p_value": axis.p_value}
            | estimated({"corrected": axis.corrected}, LEVEL)
            for number, axis in enumerate(self.axes, 1)
        ]

    @property
    def smallest_p(self) -> float:
        """The smallest p-value that there could be."""
        return 1 / self.n_patterns


_known: WeakKeyDictionary[Geometry, dict[float, Significance]] = WeakKeyDictionary()


def significance(geometry: Geometry, *, alpha: float = ALPHA, progress: ProgressHook = silent) -> Significance | None:
    """Test the axes of a cross-validated geometry, one after the other, up to the first that is not significant.

    Parameters
    ----------
    geometry : Geometry
    alpha : float
        Level of the test of each axis.
    progress : callable
        Called as ``progress("testing axes", done, None)``.

    Returns
    -------
    Significance or None
        None where the geometry is not cross-validated, or has fewer than six groups of folds, with which no p-value
        could be below 1/16.
    """
    products = geometry.products
    if products is None or products.n < FEWEST_TO_TEST:
        return None
    known = _known.setdefault(geometry, {})
    if alpha not in known:
        known[alpha] = _significance(geometry, products, alpha, progress)
    return known[alpha]


def _significance(geometry: Geometry, products: FoldProducts, alpha: float, progress: ProgressHook) -> Significance:
    tested = products if products.m <= _MAX_TESTED else products.averaged(_MAX_TESTED)
    values, vectors = np.linalg.eigh(tested.centred())
    values, vectors = values[::-1], vectors[:, ::-1]
    signs = sign_patterns(products.n, geometry.seed)
    within = _within(tested, vectors)
    p_values: list[float] = []
    most = min(_MAX_AXES, int((values > geometry.spectrum.tolerance).sum()), values.size - 1)
    while len(p_values) < most and (not p_values or p_values[-1] <= alpha):
        progress("testing axes", len(p_values), None)
        k = len(p_values)
        p_values.append(_share_reaching(within[:, k:, k:], tested.pairs, signs, float(values[k])))
    rank = sum(p <= alpha for p in p_values)
    eigenvalues = jackknife(lambda groups: leading_eigenvalues(products, groups, len(p_values)), products.n)
    axes = tuple(Axis(one.value, one.bias_corrected, p) for one, p in zip(eigenvalues, p_values, strict=True))
    return Significance(axes, rank, alpha, len(signs), _signal_share(products, rank, geometry.seed))


def leading_eigenvalues(products: FoldProducts, groups: Sequence[int], n_axes: int) -> NDArray[np.float64]:
    """The largest eigenvalues of B as some groups of folds give it, shape (n_axes,)."""
    centred, m = products.centred(groups), products.m
    if not n_axes:
        return np.empty(0)
    if m <= _MAX_TESTED:
        return np.asarray(scipy.linalg.eigh(centred, eigvals_only=True, subset_by_index=[m - n_axes, m - 1])[::-1])
    start = make_rng(0).standard_normal(m)  # a fixed one, so that the last digits do not change from run to run
    return np.sort(scipy.sparse.linalg.eigsh(centred, n_axes, which="LA", v0=start, return_eigenvectors=False))[::-1]


def sign_patterns(n: int, seed: int) -> NDArray[np.float64]:
    """Signs of n folds, the first always +1, the observed pattern first; all there are, or a draw; shape (k, n)."""
    if 1 << (n - 1) <= MAX_SIGN_PATTERNS:
        bits = np.arange(1 << (n - 1))[:, None] >> np.arange(n - 1) & 1
    else:
        bits = make_rng(seed).integers(2, size=(MAX_SIGN_PATTERNS, n - 1))
        bits[0] = 0
    return np.hstack([np.ones((len(bits), 1)), 1.0 - 2.0 * bits])


def _share_reaching(
    within: NDArray[np.float64], pairs: Sequence[tuple[int, int]], signs: NDArray[np.float64], eigenvalue: float
) -> float:
    """Share of the patterns whose largest eigenvalue, beyond the axes before, reaches the observed one.

    A matrix has no eigenvalue as large as t if and only if its difference from t times the identity has a Cholesky
    factor, which costs a tenth of the eigenvalues; and it cannot have one where its norm is smaller.
    """
    n_pairs, k, _ = within.shape
    flat = within.reshape(n_pairs, k * k)
    threshold = eigenvalue * (1 - _RELATIVE)
    first, second = np.array(pairs).T
    weights = signs[1:, first] * signs[1:, second] / n_pairs
    norms = np.einsum("sp,pq,sq->s", weights, flat @ flat.T, weights)
    undecided = weights[norms >= threshold**2]

    def reaching(part: NDArray[np.float64]) -> int:
        room, reached = np.empty((min(_AT_ONCE, len(part)), k * k)), 0
        for start in range(0, len(part), _AT_ONCE):
            some = part[start : start + _AT_ONCE]
            shifted = np.matmul(-some, flat, out=room[: len(some)])
            shifted[:, :: k + 1] += threshold
            reached += sum(not _is_positive_definite(one.reshape(k, k).T) for one in shifted)
        return reached

    step = max(1, -(-len(undecided) // 8))
    parts = [undecided[start : start + step] for start in range(0, len(undecided), step)]
    return (1 + sum(thread_map(reaching, parts))) / len(signs)


def _within(products: FoldProducts, basis: NDArray[np.float64]) -> NDArray[np.float64]:
    """B_fg of every pair of folds in a basis, shape (n_pairs, k, k)."""
    out = np.zeros((len(products.pairs), basis.shape[1], basis.shape[1]))
    for part, block in products.row_blocks():
        out += basis[part].T @ (block @ basis)
    return out


def _is_positive_definite(matrix: NDArray[np.float64]) -> bool:
    """Whether a symmetric matrix in Fortran's order, which is overwritten, has a Cholesky factor."""
    return bool(scipy.linalg.lapack.dpotrf(matrix, clean=False, overwrite_a=True)[1] == 0)


def _signal_share(products: FoldProducts, rank: int, seed: int) -> float | None:
    """Share of the inertia that the leading axes of one half of the corpus have in the other."""
    kept = total = 0.0
    for split in balanced_splits(list(range(products.n)), HELD_OUT_SPLITS, seed):
        halves = [products.centred(half) for half in (split.a, split.b)]
        for fitted, other in (halves, halves[::-1]):
            axes = np.linalg.eigh(fitted)[1][:, products.m - rank :]
            kept += float(np.einsum("ik,ij,jk->", axes, other, axes, optimize=True))
            total += float(np.trace(other))
    return kept / total if total > 0 else None
