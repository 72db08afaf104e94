"""Leading axes of classical MDS from sparse counts, for any number of positions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import GeometryError, check_type
from posgeom.estimation.choices import Depth, check_choices, chosen_positions
from posgeom.estimation.depth import Selection
from posgeom.estimation.devices import device_named
from posgeom.estimation.distance_matrix import physical_memory
from posgeom.estimation.distributions import position_distributions
from posgeom.estimation.fold_products import fold_products
from posgeom.estimation.implicit_gram import COLUMNS, ImplicitGram, column_blocks
from posgeom.estimation.mds import fix_signs
from posgeom.estimation.metrics import metric_named
from posgeom.frames import Framed
from posgeom.options import EmptyPolicy, Estimator
from posgeom.progress import ProgressHook, silent
from posgeom.seeds import make_rng

Method = Literal["dense", "lanczos"]

_DENSE_UP_TO = 1024
_TOLERANCE = 1e-9
"""Residual of an axis, as a share of its eigenvalue, at which it is accepted."""
_BYTES_PER_ENTRY = 72
"""Of a stored count: itself, in the matrix of its fold, in the roots of its group and of the sum, and to add them."""


@dataclass(frozen=True, eq=False)
class LeadingAxes(Framed):
    """The leading axes of a geometry, without its distances.

    Attributes
    ----------
    eigenvalues : ndarray of float, shape (k,)
        The largest ones of B, largest first.
    error_bounds : ndarray of float, shape (k,)
        |B u - lambda u| for each unit axis u: an eigenvalue of B lies within so much of it.
    coordinates : ndarray of float, shape (m, r)
        Principal coordinates on the r axes of positive eigenvalue, signs as those of `MDS`.
    positions : ndarray of int, shape (m,)
    method : {"dense", "lanczos"}
        All eigenvalues of the whole matrix, or Lanczos iterations with sparse factors.
    total : float
        Sum of all eigenvalues: the trace of B, m - 1 times half the mean squared distance.
    round_off : float
        Magnitude up to which an eigenvalue is round-off.
    estimator, metric : str
    depth : int or None
        Sequences per position in each group of folds that counts were rarefied to.
    n_positions, n_folds : int
        Context length, and the groups of folds that were multiplied; 0 for the plug-in estimator.
    selection : Selection
    gram : ImplicitGram
        B as products of sparse factors.
    """

    eigenvalues: NDArray[np.float64]
    error_bounds: NDArray[np.float64]
    coordinates: NDArray[np.float64]
    positions: NDArray[np.int64]
    method: Method
    total: float
    round_off: float
    estimator: Estimator
    metric: str
    depth: int | None
    n_positions: int
    n_folds: int
    selection: Selection
    gram: ImplicitGram

    def __repr__(self) -> str:
        return (
            f"<LeadingAxes: {self.eigenvalues.size} of {self.positions.size:,} positions, {self.metric}, "
            f"{self.estimator}, {self.method}, on {self.gram.device.name}>"
        )

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain dictionary per axis, for JSON, CSV or a data frame."""
        pairs = zip(self.eigenvalues.tolist(), self.error_bounds.tolist(), strict=True)
        return [{"axis": k, "eigenvalue": value, "error_bound": bound} for k, (value, bound) in enumerate(pairs, 1)]

    @cached_property
    def lag_sums(self) -> NDArray[np.float64]:
        """Sums of B over the pairs of each lag, in both orders, from lag 0: what a function of the lag meets of it."""
        return self.gram.lag_sums(self.positions)

    @property
    def mean_squared(self) -> float:
        """Mean squared distance over pairs of positions."""
        return 2 * self.total / (self.positions.size - 1)


def leading_axes(
    counts: PositionCounts,
    n_axes: int = 64,
    *,
    metric: str = "hellinger",
    estimator: Estimator | None = None,
    empty: EmptyPolicy = "mask",
    min_depth: int | None = None,
    positions: tuple[int, int] | None = None,
    depth: Depth = "common",
    method: Method | None = None,
    seed: int = 0,
    memory: int | None = None,
    device: str | None = None,
    progress: ProgressHook = silent,
) -> LeadingAxes:
    """The leading axes of the geometry that `geometry` estimates, for more positions than a matrix of pairs allows.

    Classical MDS of Hellinger distances is the principal component analysis of square-root frequencies, and the
    cross-validated Gram matrix a sum of products of such sparse factors (Algorithm 1 of the paper; B as in
    `FoldProducts`).

    Parameters
    ----------
    counts : PositionCounts
    n_axes : int
        Axes to compute; fewer where there are fewer positions.
    metric : {"hellinger", "hellinger-normalized"}
    estimator, empty, min_depth, positions, depth
        As those of `geometry`.
    method : {"dense", "lanczos"}, optional
        By default the one that is faster; the numbers are the same to within `error_bounds`.
    seed : int
        Of the first vector of the iteration.
    memory : int, optional
        Bytes that may be used; by default what the machine has.
    device : str, optional
        Of PyTorch, as ``"cuda"``, or ``"cpu"`` for SciPy. By default a GPU where there are one, torch, and more
        positions than the dense method takes. Numbers differ by round-off alone.
    progress : callable
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    LeadingAxes

    Raises
    ------
    GeometryError
        When the metric has no such factors, fewer than two positions can be used, the memory does not suffice, or the
        device cannot be used.
    """
    check_type(counts, PositionCounts, "PositionCounts; count documents with count or count_texts", GeometryError)
    chosen = metric_named(metric)
    if chosen.crossval_scale is None:
        raise GeometryError(
            f"metric {metric} is no distance of square-root frequencies, so that its axes need all distances: use "
            "hellinger, or a geometry of all distances"
        )
    if n_axes < 1 or method not in (None, "dense", "lanczos"):
        raise GeometryError(f"got {n_axes} axes by method {method!r}: expected 1 or more, by dense or lanczos")
    estimator = check_choices(chosen, estimator, empty, depth, 1)
    groups, group_depth, selection = chosen_positions(counts, estimator, empty, min_depth, positions)
    used = selection.positions
    n_axes = min(n_axes, used.size)
    if method is None:
        method = "dense" if used.size <= _DENSE_UP_TO or 4 * n_axes > used.size else "lanczos"
    _check_memory(counts, used.size, n_axes, method, memory)
    place = device_named(device, is_large=method == "lanczos")
    progress("square roots of counts", 0, None)
    common_depth = None
    if group_depth is None:
        distributions = position_distributions(counts, used)
        roots = distributions.rows.sqrt()
        gram = ImplicitGram(((chosen.crossval_scale, roots),), distributions.row_of_position, device=place)
    else:
        occupied = counts.depth[used] > 0
        if depth == "common" and occupied.any():
            common_depth = int(group_depth[used[occupied]].min())
        products = fold_products(counts, used, groups, common_depth, scale=chosen.crossval_scale)
        gram = ImplicitGram.of_folds(products, place)
    progress("leading axes", 0, None)
    eigenvalues, axes = (_dense if method == "dense" else _lanczos)(gram, n_axes, seed)
    applied = np.hstack([gram.apply(part) for part in column_blocks(axes)])
    residuals = np.linalg.norm(applied - axes * eigenvalues, axis=0)
    # Centring subtracts products of rows, which are no larger than the scale.
    size = max(abs(float(eigenvalues[0])), chosen.crossval_scale)
    round_off = 10 * used.size * float(np.finfo(float).eps) * size
    n_positive = int((eigenvalues > np.maximum(residuals, round_off)).sum())
    return LeadingAxes(
        eigenvalues=eigenvalues,
        error_bounds=residuals,
        coordinates=fix_signs(axes[:, :n_positive] * np.sqrt(eigenvalues[:n_positive])),
        positions=used,
        method=method,
        total=gram.trace(),
        round_off=round_off,
        estimator=estimator,
        metric=metric,
        depth=common_depth,
        n_positions=counts.n_positions,
        n_folds=len(groups),
        selection=selection,
        gram=gram,
    )


def _check_memory(counts: PositionCounts, m: int, n_axes: int, method: Method, memory: int | None) -> None:
    """Refuse, before any work, what would not fit."""
    vectors = 4 * m if method == "dense" else _basis(m, n_axes) + 3 * n_axes
    needed = (
        counts.count.size * _BYTES_PER_ENTRY
        + 8 * m * vectors
        + 8 * COLUMNS * counts.n_folds * counts.distinct_tokens.size
    )
    available = physical_memory() if memory is None else memory
    if needed > available:
        raise GeometryError(
            f"{n_axes} axes of {m:,} positions with {counts.count.size:,} counts need about {needed / 1e9:,.2f} GB, "
            f"{available / 1e9:,.2f} GB may be used: ask for fewer axes, put positions in --bins, or use a smaller -n"
        )


def _basis(m: int, n_axes: int) -> int:
    """Vectors that an iteration holds, of which it restarts with the best."""
    return min(m, max(2 * n_axes + 1, 20))


def _dense(gram: ImplicitGram, n_axes: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # noqa: ARG001
    m = gram.m
    values, vectors = scipy.linalg.eigh(gram.dense(), subset_by_index=(m - n_axes, m - 1))
    return values[::-1], vectors[:, ::-1]


def _lanczos(gram: ImplicitGram, n_axes: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    m = gram.m
    if n_axes >= m:
        raise GeometryError(f"{n_axes} axes of {m} positions by Lanczos iterations: expected fewer axes than positions")
    operator = scipy.sparse.linalg.LinearOperator(
        (m, m), matvec=lambda z: gram.apply(z.reshape(m, 1)).ravel(), dtype=np.float64
    )
    try:
        values, vectors = scipy.sparse.linalg.eigsh(
            operator,
            n_axes,
            which="LA",
            ncv=_basis(m, n_axes),
            tol=_TOLERANCE,
            v0=make_rng(seed).standard_normal(m),
        )
    except scipy.sparse.linalg.ArpackNoConvergence as error:
        raise GeometryError(
            f"{len(error.eigenvalues)} of {n_axes} axes converged: ask for fewer axes, or use method dense"
        ) from None
    order = np.argsort(-values)
    return values[order], vectors[:, order]
