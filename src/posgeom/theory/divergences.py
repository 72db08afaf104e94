"""KL, Hellinger distance and largest ratio of distributions that have a pseudo-count, all pairs, nothing dense."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.estimation.gram import cross_gram
from posgeom.estimation.sparse_rows import row_sums, with_data


def ratio_constant(ratio: NDArray[np.float64]) -> NDArray[np.float64]:
    """(r log r - r + 1) / (sqrt r - 1)^2, which is the least C(r) with KL <= C(r) d^2; it is 2 at r = 1."""
    r = np.asarray(ratio, np.float64)
    near = np.abs(np.log(r)) < 1e-3
    safe = np.where(near, 4.0, r)
    exact = (safe * np.log(safe) - safe + 1) / (np.sqrt(safe) - 1) ** 2
    return np.where(near, 2 + np.log(r) / 3, exact)


def smoothed_divergences(
    counts: scipy.sparse.csr_array, vocab_size: int, pseudo_count: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """KL(i, j), d(i, j) and max mu_i / mu_j of rows (c + alpha) / (N + alpha V), each of shape (k, k).

    log mu_j(v) = log a_j + log(1 + c_j(v) / alpha), with a_j what an unseen token has: only the second term depends on
    the token, and it is 0 where the count is, so all of it is sums and products of sparse rows.
    """
    scaled = with_data(counts, counts.data / pseudo_count)
    logs, roots = with_data(counts, np.log1p(scaled.data)), with_data(counts, np.sqrt(1 + scaled.data) - 1)
    base = 1 / (row_sums(scaled) + vocab_size)
    mean_log = base[:, None] * (row_sums(logs) + cross_gram(scaled, logs)) + np.log(base)
    kl = np.maximum(np.diagonal(mean_log)[:, None] - mean_log, 0)
    sums = row_sums(roots)
    affinity = np.sqrt(np.outer(base, base)) * (vocab_size + sums[:, None] + sums + cross_gram(roots, roots))
    return kl, np.sqrt(np.clip(2 - 2 * affinity, 0, 2)), _largest_ratios(scaled, base, vocab_size)


def _largest_ratios(scaled: scipy.sparse.csr_array, base: NDArray[np.float64], vocab_size: int) -> NDArray[np.float64]:
    """Largest of a_i (1 + x_i) / (a_j (1 + x_j)) over tokens, row by row on the tokens that i has."""
    k = scaled.shape[0]
    by_token, filled = scaled.tocsc(), np.diff(scaled.indptr)
    out = np.empty((k, k))
    for i in range(k):
        own = slice(scaled.indptr[i], scaled.indptr[i + 1])
        tokens = scaled.indices[own]
        others = by_token[:, tokens].toarray()
        inside = ((1 + scaled.data[own]) / (1 + others)).max(axis=1, initial=0)
        # A token that neither has gives 1; where there is none, the rarest of j's among those that i lacks.
        union = filled[i] + filled - (others > 0).sum(axis=1)
        outside = np.ones(k)
        for j in np.flatnonzero(union >= vocab_size):
            lacking = np.setdiff1d(scaled.indices[scaled.indptr[j] : scaled.indptr[j + 1]], tokens)
            outside[j] = 1 / (1 + by_token[[j]][:, lacking].toarray().min()) if lacking.size else 0
        out[i] = base[i] / base * np.maximum(inside, outside)
    return out
