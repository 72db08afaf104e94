"""Alignment with a geometry that is too large for distances: from products of its factors, or sums by lag."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.encodings.base import LARGEST, SMALLEST, Encoding
from posgeom.errors import EncodingError
from posgeom.estimation.implicit_gram import ImplicitGram, column_blocks, pairs_by_lag
from posgeom.estimation.leading_axes import LeadingAxes
from posgeom.inference.alignment import Norm
from posgeom.policies import ENOUGH_FOLDS
from posgeom.scores.alignment import alignment_of
from posgeom.seeds import make_rng
from posgeom.threads import thread_map

MAX_EXACT = 2048
"""Positions up to which |B|^2 is summed over all pairs; beyond, its part outside the leading axes is sampled."""
N_PROBES = 16
_BLOCK_NUMBERS = 1 << 25


@dataclass(frozen=True, slots=True)
class LargeAlignment:
    """Alignment of an encoding with leading axes' geometry: with all of B, not with the axes alone.

    Attributes
    ----------
    value : float or None
        None where it is undefined.
    error : float or None
        Standard error from sampling |B|^2 by `n_probes` random vectors; None where that is exact. It says nothing of
        the sampling of documents.
    n_probes : int
    """

    value: float | None
    error: float | None
    n_probes: int


def large_alignment(encoding: Encoding, axes: LeadingAxes) -> LargeAlignment:
    """A = <B_P, B> / (|B_P| |B|), nothing of it of the size of all pairs of positions.

    Whether any axis is more than noise is not tested here; a norm that noise drowns is not positive, or is off.
    """
    by_lag = encoding.lag_distances()
    if by_lag is not None:
        product, own = _of_lags(encoding, by_lag, axes)
    else:
        points = encoding.points(axes.positions)
        if points is None:
            raise EncodingError(
                f"encoding {encoding.name} has neither vectors nor distances that depend on the lag: its alignment "
                "needs all distances, from a geometry of fewer positions"
            )
        centred = points - points.mean(axis=0)
        centred /= _unit(encoding, float(np.abs(centred).max(initial=0)))
        product, own = axes.gram.inner_product(centred), float(np.linalg.norm(centred.T @ centred))
    squared, error, n_probes = squared_norm(axes)
    value = alignment_of(product, own, sqrt(squared)) if squared > axes.round_off**2 else None
    if value is None or error is None:
        return LargeAlignment(value, None, n_probes)
    return LargeAlignment(value, abs(value) * error / (2 * squared), n_probes)


def _unit(encoding: Encoding, largest: float) -> float:
    """The largest magnitude, by which all are divided so that fourth powers stay inside double precision."""
    if not np.isfinite(largest) or (largest and not SMALLEST <= largest <= LARGEST):
        raise EncodingError(
            f"encoding {encoding.name} has magnitudes of {largest:g}: expected finite ones, from {SMALLEST:g} to "
            f"{LARGEST:g}; rescale it"
        )
    return largest or 1.0


def _of_lags(encoding: Encoding, by_lag: NDArray[np.float64], axes: LeadingAxes) -> tuple[float, float]:
    """<B_P, B> and |B_P| of distances e by lag, B_P = -1/2 J e^2 J, from sums over lags."""
    positions, sums = axes.positions, axes.lag_sums
    if by_lag.size < sums.size:
        raise EncodingError(
            f"encoding {encoding.name} has positions 0 to {by_lag.size - 1}, asked for {int(positions[-1])}"
        )
    squared = (by_lag[: sums.size] / _unit(encoding, float(by_lag[: sums.size].max()))) ** 2
    m = positions.size
    occupied = np.zeros(sums.size)
    occupied[positions - positions[0]] = 1
    pairs = pairs_by_lag(occupied)
    squared = squared - float(squared @ pairs) / m**2  # a constant is nothing to B_P, and its digits would be lost
    both = np.concatenate([squared[:0:-1], squared])
    row_sums = scipy.signal.fftconvolve(occupied, both, "full")[sums.size - 1 : 2 * sums.size - 1]
    row_sums = row_sums[positions - positions[0]]
    own = float(squared**2 @ pairs) - 2 * float(row_sums @ row_sums) / m + float(row_sums.sum()) ** 2 / m**2
    return -float(squared @ sums) / 2, sqrt(max(own, 0.0)) / 2


@lru_cache(maxsize=4)
def squared_norm(axes: LeadingAxes, seed: int = 0) -> tuple[float, float | None, int]:
    """|B|^2, free of the bias of noise where B is cross-validated, with its standard error and the vectors it took.

    Where not all pairs are summed: tr(B B') is exact over the leading axes, and over their complement a mean over
    random vectors (Meyer et al. 2021, "Hutch++"), each of which gives an unbiased value.
    """
    gram = axes.gram
    products = gram.products
    if products is not None and products.n < ENOUGH_FOLDS:
        return float("nan"), None, 0
    if gram.m <= MAX_EXACT:
        squared = (gram.dense() ** 2).sum() if products is None else Norm(products).squared(range(products.n))
        return float(squared), None, 0
    basis, _ = np.linalg.qr(axes.coordinates) if axes.coordinates.shape[1] else (np.zeros((gram.m, 0)), None)
    probes = make_rng(seed).choice([-1.0, 1.0], (gram.m, N_PROBES))
    probes -= basis @ (basis.T @ probes)
    sampled = _column_norms(gram, probes)
    error = float(sampled.std(ddof=1)) / sqrt(N_PROBES)
    return float(_column_norms(gram, basis).sum() + sampled.mean()), error, N_PROBES


def _column_norms(gram: ImplicitGram, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """z^T B_fg B_hk z of each column z, shape (m, s): a mean over folds that all differ, shape (s,)."""
    products = gram.products
    if products is None:
        return np.asarray((gram.apply(vectors) ** 2).sum(axis=0))
    norm, everything = Norm(products), range(products.n)

    def of_columns(columns: NDArray[np.float64]) -> list[float]:
        by_token, roots = gram.by_token(columns), gram.multiplied
        images = np.stack(
            [
                gram.scattered(gram.device.fetch(roots[f] @ by_token[g] + roots[g] @ by_token[f]))
                for f, g in products.pairs
            ]
        )
        images *= products.scale / 2
        each = (images[:, :, column] for column in range(columns.shape[1]))
        return [norm.mean_of_disjoint(one @ one.T, everything) for one in each]

    width = max(1, _BLOCK_NUMBERS // (len(products.pairs) * gram.m))
    return np.array([value for part in thread_map(of_columns, column_blocks(vectors, width)) for value in part])
