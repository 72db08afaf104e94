"""Eigenvalues of a cross-validated geometry without what noise adds, and their standard errors.

Noise pushes eigenvalues apart: to second order, axis j adds E (v_j' E v_k)^2 / (lambda_k - lambda_j) to eigenvalue k,
E being the noise of the double-centred squared distances (Kato 1966, II.2). Both this and the error of first order,
v_k' E v_k, are sums over pairs of blocks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posgeom.geometry.distance_matrix import full_matrix
from posgeom.geometry.fold_pairs import FoldPairs
from posgeom.geometry.mds import double_centre
from posgeom.geometry.pair_variance import PairVariance, between

_UNBIASED_SHARE = 0.0
"""Of the variance, see `between`: where intervals covered best on corpora of known truth. What is taken out is an
estimate too."""


def without_noise(
    pairs: FoldPairs, values: NDArray[np.float64], vectors: NDArray[np.float64], n_axes: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Leading eigenvalues less what noise adds to them, and their standard errors.

    Parameters
    ----------
    pairs : FoldPairs
        At least four blocks.
    values : ndarray of float, shape (m,)
        Eigenvalues of the double-centred mean, the largest first.
    vectors : ndarray of float, shape (m, m)
        Their axes in columns.
    n_axes : int
        Leading axes to treat; these must stand out of the noise.

    Returns
    -------
    ndarray of float, shape (n_axes,)
    ndarray of float, shape (n_axes,)
    """
    n, m = pairs.n_blocks, values.size
    if n_axes == 0:
        return np.empty(0), np.empty(0)
    terms = np.empty((len(pairs.kernel), m, n_axes))
    for term, row in zip(terms, pairs.kernel, strict=True):
        term[:] = vectors.T @ (double_centre(full_matrix(row, m)) @ vectors[:, :n_axes])
    terms = (terms - terms.mean(axis=0)) / len(terms)
    mixing = PairVariance.of_all(n)(terms.reshape(len(terms), -1)).reshape(m, n_axes)
    gaps = values[:n_axes] - values[:, None]
    # Of two eigenvalues g apart that their mixing, of variance e^2, has pushed: each has moved by about e^2 / g, and at
    # most by half of g, where nothing would lie between them without it.
    pushed = np.sign(gaps) * (np.abs(gaps) - np.sqrt(np.maximum(gaps**2 - 4 * mixing, 0))) / 2
    own = np.arange(n_axes)
    errors = np.sqrt(between(n, _UNBIASED_SHARE)(terms[:, own, own]))
    return values[:n_axes] - pushed.sum(axis=0), errors
