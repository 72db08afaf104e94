"""Does order matter beyond who is long? The geometry against null corpora, in which only lengths can matter.

In a null corpus the tokens of each document are permuted or rotated over its own positions: lengths and frequencies
stay, and position means nothing but that far positions exist in long documents only. This is an option, since no kind
of null corpus is valid everywhere: see `CAVEAT`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.estimation.build import Geometry
from posgeom.estimation.fold_products import fold_products
from posgeom.inference.significance import significance
from posgeom.policies import ALPHA
from posgeom.progress import ProgressHook, silent
from posgeom.threads import thread_map

FEWEST_NULLS = 3
"""Null corpora below which their spread is not known well enough to test against."""
CAVEAT = {
    "permute": (
        "permuting destroys runs and other ties inside a document, so that a corpus with runs is taken for one with "
        "order, and edited copies of one source always are"
    ),
    "rotate": (
        "rotating keeps what ties tokens of a document together; copies of one source of unequal length are taken for "
        "order where they share a group"
    ),
}
"""Where each kind does not hold, as a clause."""
_BYTES_OF_AN_ENTRY = 60


@dataclass(frozen=True, eq=False)
class OrderBeyondLengths:
    """The leading axes of a geometry against those of null corpora.

    Attributes
    ----------
    kind : str
        ``"permute"`` or ``"rotate"``.
    p_values : tuple of float
        Of each axis that is more than noise (of the first in any case), up to the first that is not significant: the
        probability that one more null corpus has as
        large an eigenvalue there, by Student's t for a further observation, on logarithms where all are positive.
    rank : int
        Leading axes that are significant (parallel analysis: Horn 1965).
    null : ndarray of float, shape (n_null, m)
        Spectrum of each null corpus; its own first axes show what the lengths of documents alone produce.
    alpha : float
    """

    kind: str
    p_values: tuple[float, ...]
    rank: int
    null: NDArray[np.float64]
    alpha: float

    def __repr__(self) -> str:
        moved = {"permute": "permuted", "rotate": "rotated"}[self.kind]
        return f"<OrderBeyondLengths: {self.rank} axes beyond those of {len(self.null)} {moved} corpora>"


def order_beyond_lengths(
    counts: PositionCounts, geometry: Geometry, *, alpha: float = ALPHA, progress: ProgressHook = silent
) -> OrderBeyondLengths | None:
    """Parallel analysis against the null corpora of some counts; None without three of them, or for the plug-in."""
    if geometry.products is None or len(counts.null) < FEWEST_NULLS:
        return None
    scale = geometry.metric.crossval_scale or 1.0

    def spectrum(null: PositionCounts) -> NDArray[np.float64]:
        products = fold_products(null, geometry.positions, geometry.fold_groups, geometry.depth, scale=scale)
        return np.asarray(np.linalg.eigvalsh(products.centred())[::-1])

    memory = _BYTES_OF_AN_ENTRY * counts.count.size
    spectra = np.stack(thread_map(spectrum, counts.null, memory=memory, stage="null corpora", progress=progress))
    tested = significance(geometry)
    n_axes = max(1, geometry.spectrum.n_positive if tested is None else tested.rank)  # what is noise is no order either
    p_values: list[float] = []
    for value, null in zip(geometry.spectrum.eigenvalues[:n_axes], spectra.T, strict=False):
        p_values.append(_p_value(float(value), null, geometry.spectrum.tolerance))
        if p_values[-1] > alpha:
            break
    rank = sum(p <= alpha for p in p_values)
    return OrderBeyondLengths(counts.null_kind or "permute", tuple(p_values), rank, spectra, alpha)


def _p_value(value: float, null: NDArray[np.float64], tolerance: float) -> float:
    smallest = max(tolerance, float(np.finfo(float).tiny))
    if (null > smallest).all():
        value, null = float(np.log(max(value, smallest))), np.log(null)
    spread = float(null.std(ddof=1)) * np.sqrt(1 + 1 / null.size)
    gap = value - float(null.mean())
    if not spread:
        return 0.5 if gap == 0 else float(gap < 0)
    return float(scipy.special.stdtr(null.size - 1, -gap / spread))
