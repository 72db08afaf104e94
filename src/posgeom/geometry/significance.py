"""How many axes of a geometry are more than noise: parallel analysis against null corpora.

A null corpus has the same documents with the tokens of each permuted over its own positions: lengths and frequencies
stay, position means nothing. Its cross-validated spectrum shows what noise looks like, and what the lengths of
documents alone produce: far positions exist in long documents only, so that early and late positions differ even there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.geometry.build import Geometry
from posgeom.geometry.crossval import balanced_splits
from posgeom.geometry.distance_matrix import full_matrix
from posgeom.geometry.eigenvalue_errors import without_noise
from posgeom.geometry.fold_pairs import BYTES_OF_AN_ENTRY, ENOUGH_BLOCKS, pairwise_mean
from posgeom.geometry.mds import double_centre
from posgeom.geometry.pair_variance import quantile
from posgeom.progress import ProgressHook, silent
from posgeom.threads import thread_map

DEFAULT_ALPHA = 0.05
FEWEST_NULLS = 3
"""Null corpora below which their spread is not known well enough to test against."""
_BEYOND, _MOST_AXES = 3, 64
_N_HALVINGS = 3


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis against the null corpora.

    Attributes
    ----------
    eigenvalue : float
    corrected : float or None
        Without what noise adds, see `without_noise`; None for an axis of noise, and without blocks enough.
    standard_error : float or None
        Of that.
    n_blocks : int
        Blocks of folds that it rests on.
    null_mean, null_upper : float
        Mean over the null corpora of what the eigenvalue is compared with, and what an eigenvalue must exceed.
    p_value : float
        Probability that one more null corpus has as large an eigenvalue, by Student's t for a further observation.
    """

    eigenvalue: float
    corrected: float | None
    standard_error: float | None
    n_blocks: int
    null_mean: float
    null_upper: float
    p_value: float

    def interval(self, level: float) -> tuple[float, float] | None:
        """Interval of the eigenvalue that there would be without noise, by Student's t; None for an axis of noise."""
        if self.corrected is None or self.standard_error is None:
            return None
        reach = quantile(level, self.n_blocks) * self.standard_error
        return self.corrected - reach, self.corrected + reach


@dataclass(frozen=True, eq=False)
class Significance:
    """The spectrum of a geometry against that of null corpora.

    Attributes
    ----------
    axes : tuple of Axis
        The leading axes: those that are significant and a few more.
    rank : int
        Significant rank: leading axes that all are.
    signal_share : float or None
        Inertia of one half of the corpus along the significant axes of the other half, as a share of all inertia;
        None where there is no inertia, or too few folds.
    null : ndarray of float, shape (n_null, m)
        Spectrum of each null corpus: its own first axes show what lengths of documents alone produce.
    alpha : float
        Level of the test of each axis.
    """

    axes: tuple[Axis, ...]
    rank: int
    signal_share: float | None
    null: NDArray[np.float64]
    alpha: float

    def __repr__(self) -> str:
        return f"<Significance: {self.rank} axes at level {self.alpha}, {len(self.null)} null corpora>"


def significance(
    counts: PositionCounts, geometry: Geometry, *, alpha: float = DEFAULT_ALPHA, progress: ProgressHook = silent
) -> Significance | None:
    """Test the axes of a cross-validated geometry, one after the other.

    Axis k is compared, in each null corpus, with the larger of two numbers: the null's k-th eigenvalue, and the largest
    eigenvalue of the null's noise (its difference from the mean of all null corpora) once the axes before k are
    projected out. The first alone is the usual parallel analysis; it compares the first axis of noise with the null's
    eighth when seven axes are real, and finds structure in noise.

    Parameters
    ----------
    counts : PositionCounts
        With at least three null corpora.
    geometry : Geometry
        Of these counts.
    alpha : float
        Level of the test of each axis.
    progress : callable
        Called as ``progress("null corpora", done, total)``.

    Returns
    -------
    Significance or None
        None where the geometry is not cross-validated at a common depth, or there are too few null corpora.
    """
    if not geometry.blocks or geometry.depth is None or len(counts.null) < FEWEST_NULLS:
        return None
    scale = geometry.metric.crossval_scale or 1.0
    depth = geometry.depth

    def product_of(null: PositionCounts) -> NDArray[np.float64]:
        return double_centre(pairwise_mean(null, geometry.positions, geometry.blocks, depth) * scale)

    memory = BYTES_OF_AN_ENTRY * counts.count.size
    products = thread_map(product_of, counts.null, memory=memory, stage="null corpora", progress=progress)
    spectra = np.stack([np.linalg.eigvalsh(product)[::-1] for product in products])
    observed = double_centre(geometry.distances.squared)
    values, vectors = np.linalg.eigh(observed)
    values, vectors = values[::-1], vectors[:, ::-1]
    tolerance = geometry.spectrum.tolerance
    most = min(_MOST_AXES, values.size - 1)
    mean = sum(products) / len(products)
    inflation = np.sqrt(len(products) / (len(products) - 1))  # the mean has each one's own noise in it
    noises = [(product - mean) * inflation for product in products]
    axes: list[Axis] = []
    rank = None
    for k in range(most):
        before = vectors[:, :k]
        beyond = thread_map(partial(_top_beyond, axes=before), noises)
        top = np.maximum(spectra[:, k], beyond)
        p_value, upper = _compare(float(values[k]), top, alpha, tolerance)
        found = Axis(float(values[k]), None, None, len(geometry.blocks), float(top.mean()), upper, p_value)
        axes.append(found)
        if rank is None and not p_value <= alpha:
            rank = k
        if rank is not None and k >= rank + _BEYOND:
            break
    rank = len(axes) if rank is None else rank
    if geometry.fold_pairs is not None and geometry.noise is not None:
        corrected, errors = without_noise(geometry.fold_pairs, values, vectors, rank)
        axes[:rank] = [
            replace(axis, corrected=float(value), standard_error=float(error))
            for axis, value, error in zip(axes[:rank], corrected, errors, strict=True)
        ]
    return Significance(tuple(axes), rank, _signal_share(geometry, rank), spectra, alpha)


def _compare(value: float, null: NDArray[np.float64], alpha: float, tolerance: float) -> tuple[float, float]:
    """P-value of an eigenvalue as one more of the null's, and what it must exceed.

    By Student's t on logarithms, since largest eigenvalues are skewed: without them, one corpus in 13 without structure
    would be rejected at 5 %.
    """
    logs = bool((null > tolerance).all())
    scale, back = (np.log, np.exp) if logs else (np.asarray, float)
    compared, values = float(scale(max(value, tolerance) if logs else value)), scale(null)
    spread = float(values.std(ddof=1)) * np.sqrt(1 + 1 / values.size)
    # Differences that are round-off stay so as logarithms.
    smallest = tolerance / float(null.min()) if logs else tolerance
    p_value = float(scipy.special.stdtr(values.size - 1, -_ratio(compared - values.mean(), spread, smallest)))
    return p_value, float(back(values.mean() + scipy.special.stdtrit(values.size - 1, 1 - alpha) * spread))


def _ratio(difference: float, spread: float, tolerance: float) -> float:
    """A difference in units of a spread, which may be 0; 0 where the difference is round-off."""
    if abs(difference) <= tolerance:
        return 0.0
    return difference / spread if spread else float(np.copysign(np.inf, difference))


def _top_beyond(product: NDArray[np.float64], axes: NDArray[np.float64]) -> float:
    """Largest eigenvalue of B once some axes are projected out."""
    left = product - axes @ (axes.T @ product)
    left -= (left @ axes) @ axes.T
    last = left.shape[0] - 1
    return float(scipy.linalg.eigh(left, eigvals_only=True, subset_by_index=[last, last])[0])


def _signal_share(geometry: Geometry, rank: int) -> float | None:
    """Share of the inertia that the leading axes of one half of the corpus have in the other."""
    pairs, m = geometry.fold_pairs, geometry.positions.size
    if pairs is None or pairs.n_blocks < ENOUGH_BLOCKS:
        return None
    kept = total = 0.0
    for split in balanced_splits(list(range(pairs.n_blocks)), _N_HALVINGS, geometry.seed):
        halves = [double_centre(full_matrix(pairs.of(half), m)) for half in (split.a, split.b)]
        for fitted, other in (halves, halves[::-1]):
            axes = np.linalg.eigh(fitted)[1][:, m - rank :]
            kept += float(np.einsum("ik,ij,jk->", axes, other, axes, optimize=True))
            total += float(np.trace(other))
    return kept / total if total > 0 else None
