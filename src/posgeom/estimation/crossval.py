"""Cross-validated squared Hellinger distances: unbiased around zero, so that noise is not geometry.

The idea is that of the crossnobis distance of representational similarity analysis (Walther et al. 2016): noise
of two disjoint halves of the documents is independent, so it has mean zero in the product of the halves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.token_counts import sum_in_pairs
from posgeom.errors import GeometryError
from posgeom.estimation.gram import cross_gram
from posgeom.estimation.rarefaction import rarefied_rows
from posgeom.estimation.sparse_rows import append_row, divide_rows, row_sums
from posgeom.progress import ProgressHook, silent
from posgeom.seeds import make_rng


@dataclass(frozen=True, slots=True)
class Split:
    """Two disjoint halves of the folds."""

    a: tuple[int, ...]
    b: tuple[int, ...]


def balanced_splits(folds: list[int], n_splits: int, seed: int) -> list[Split]:
    """Distinct splits of the folds into two halves of equal size (or off by one)."""
    if len(folds) < 2:
        raise GeometryError(
            f"cross-validation needs documents in at least 2 folds, got {len(folds)}: give it more documents, more "
            "folds or more groups, or use --estimator plugin"
        )
    first, rest = folds[0], folds[1:]
    half = len(folds) // 2
    # The half that holds the first fold names the split, so no split comes twice under another name.
    sizes = [half] if len(folds) % 2 == 0 else [half, half + 1]
    available = sum(comb(len(rest), size - 1) for size in sizes)
    if available <= n_splits:
        chosen = [set(c) | {first} for size in sizes for c in combinations(rest, size - 1)]
    else:
        chosen = list(_random_halves(first, rest, sizes, n_splits, make_rng(seed)))
    return [Split(tuple(sorted(a)), tuple(sorted(set(folds) - a))) for a in chosen]


def _random_halves(
    first: int, rest: list[int], sizes: list[int], n_splits: int, rng: np.random.Generator
) -> Iterator[set[int]]:
    seen: set[frozenset[int]] = set()
    weights = np.array([comb(len(rest), size - 1) for size in sizes], dtype=float)
    while len(seen) < n_splits:
        size = int(rng.choice(sizes, p=weights / weights.sum()))
        half = frozenset([first, *rng.choice(rest, size - 1, replace=False).tolist()])
        if half not in seen:
            seen.add(half)
            yield set(half)


def squared_distances(gram: NDArray[np.float64]) -> NDArray[np.float64]:
    """d^2_ij = G_ii + G_jj - 2 G_ij, with an exactly zero diagonal; shapes (m, m)."""
    norms = np.diagonal(gram)
    squared = norms[:, None] + norms - 2 * gram
    np.fill_diagonal(squared, 0)
    return np.asarray(squared)


def crossval_gram(
    counts: PositionCounts,
    positions: NDArray[np.int64],
    splits: list[Split],
    depth: int | None,
    *,
    progress: ProgressHook = silent,
) -> NDArray[np.float64]:
    """Cross-validated inner products of square-root token distributions.

    For each split G = (R_a R_b^T + R_b R_a^T) / 2 with R the square-root frequencies of a half, averaged over
    splits. Its `squared_distances` are unbiased for equal distributions. A token that a half holds about once
    counts for less than its share, so differences among such tokens are lost, and one between a frequent and a
    rare token is exaggerated: G_ii, which is 1 when every token is seen often, says how much of position i is
    resolved.

    Shapes: `positions` (m,); the result (m, m).
    """
    occupied = counts.depth[positions] > 0
    used = [matrix[positions[occupied]] for matrix in counts.fold_matrices]
    uniform = None if occupied.all() else uniform_roots(counts, depth)
    n_rows = int(occupied.sum()) + (uniform is not None)
    gram = np.zeros((n_rows, n_rows))
    stage = "cross-validating" if depth is None else "cross-validating at common depth"
    for done, split in enumerate(splits):
        progress(stage, done, len(splits))
        a, b = (square_roots(total_of(used, half), depth, uniform) for half in (split.a, split.b))
        gram += cross_gram(a, b)
    progress(stage, len(splits), len(splits))
    gram = (gram + gram.T) / (2 * len(splits))
    row_of_position = np.where(occupied, np.cumsum(occupied) - 1, n_rows - 1)
    return np.asarray(gram[np.ix_(row_of_position, row_of_position)])


def total_of(matrices: Sequence[scipy.sparse.csr_array], folds: Sequence[int]) -> scipy.sparse.csr_array:
    """Counts of some folds together."""
    return sum_in_pairs([matrices[fold] for fold in folds])


def square_roots(
    counts: scipy.sparse.csr_array, depth: int | None, uniform: NDArray[np.float64] | None
) -> scipy.sparse.csr_array:
    """Square-root frequencies of a half, shape (m, V), with a last row for the positions without data."""
    roots = divide_rows(counts, row_sums(counts)).sqrt() if depth is None else rarefied_rows(counts, depth)
    return roots if uniform is None else append_row(roots, uniform)


def uniform_roots(counts: PositionCounts, depth: int | None) -> NDArray[np.float64]:
    """What a sample of `depth` tokens of the uniform distribution shows in expectation."""
    n_seen = int(counts.distinct_tokens.size)
    if depth is None:
        root = np.sqrt(1 / counts.vocab_size)
    else:
        x, p = np.arange(depth + 1), 1 / counts.vocab_size
        log_choose = (
            scipy.special.gammaln(depth + 1) - scipy.special.gammaln(x + 1) - scipy.special.gammaln(depth - x + 1)
        )
        binomial = np.exp(log_choose + scipy.special.xlogy(x, p) + scipy.special.xlog1py(depth - x, -p))
        root = float((binomial * np.sqrt(x / depth)).sum())
    out = np.full(n_seen + 1, root)
    out[-1] = root * np.sqrt(counts.vocab_size - n_seen)  # all unseen tokens in one column
    return out
