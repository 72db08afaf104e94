"""Cross-validated squared distances from all pairs of folds: one value for each pair, so that any part can be left out.

With R_f the rarefied square-root frequencies of fold f, the product of two different folds is free of noise on
average, and the mean over all pairs of folds is a complete U-statistic of order two. It uses every pair where a handful
of splits into halves uses some, needs no random choice, and its terms give its own sampling variance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import GeometryError
from posgeom.geometry.crossval import squared_distances, total_of, uniform_roots
from posgeom.geometry.distance_matrix import physical_memory, upper_pairs
from posgeom.geometry.gram import cross_gram
from posgeom.geometry.pair_variance import block_sums
from posgeom.geometry.rarefaction import rarefied_rows
from posgeom.geometry.sparse_rows import append_row
from posgeom.progress import ProgressHook, silent

MAX_BLOCKS = 20
"""Folds beyond this many are put together: the product of two small folds resolves less."""
MIN_BLOCK_DEPTH = 20
"""Common depth below which folds are put together in pairs."""
ENOUGH_BLOCKS = 4
"""Blocks that a sampling variance needs."""
BYTES_OF_AN_ENTRY = 60
"""About what the roots of all blocks take in memory while they are worked on, for each entry of the counts."""
_MAX_KERNEL_BYTES = 4 << 30
_SHARE_OF_MEMORY = 4


def choose_blocks(counts: PositionCounts, shallowest: int) -> list[tuple[int, ...]]:
    """Folds, or unions of folds, that serve as independent parts of the corpus.

    Folds without documents are left out. More than `MAX_BLOCKS` are put together, and so are pairs of folds that are
    too small, as long as `ENOUGH_BLOCKS` remain.

    Parameters
    ----------
    counts : PositionCounts
    shallowest : int
        Sequences of the shallowest position that will be used.

    Returns
    -------
    list of tuple of int

    Raises
    ------
    GeometryError
        When fewer than two folds hold documents.
    """
    folds = np.flatnonzero(counts.depth_by_fold.any(axis=1)).tolist()
    if counts.n_folds < 2:
        raise GeometryError("1 fold: cross-validation needs at least 2; use more --folds or --estimator plugin")
    if len(folds) < 2:
        raise GeometryError(
            f"cross-validation needs documents in at least 2 folds, got {len(folds)}: give it more documents, more "
            "folds or more groups, or use --estimator plugin"
        )
    n_blocks = min(len(folds), MAX_BLOCKS)
    while shallowest < MIN_BLOCK_DEPTH * n_blocks and n_blocks // 2 >= ENOUGH_BLOCKS:
        n_blocks //= 2
    return [tuple(folds[start::n_blocks]) for start in range(n_blocks)]


def block_depths(counts: PositionCounts, blocks: Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
    """Sequences of each block with a token at each position, shape (n_blocks, n_positions)."""
    return np.stack([counts.depth_by_fold[list(block)].sum(axis=0) for block in blocks])


@dataclass(frozen=True, eq=False)
class FoldPairs:
    """Squared distances estimated from each pair of blocks.

    Attributes
    ----------
    kernel : ndarray of float, shape (n_blocks (n_blocks - 1) / 2, n_pairs)
        For blocks f < g, in the order of `itertools.combinations`: the squared distances of the pairs of positions
        i < j that these two blocks give, (R_fi - R_fj) . (R_gi - R_gj).
    n_blocks : int
    sample_sizes : ndarray of int, shape (m,)
        Sequences over all blocks at each position; 0 for a position that is uniform by policy.
    self_affinity : float
        Mean inner product of a position's root frequencies in one block with those in another: the resolved share.
    scale : float
        Factor that the squared distances have, against Hellinger's.
    """

    kernel: NDArray[np.float64]
    n_blocks: int
    sample_sizes: NDArray[np.int64]
    self_affinity: float
    scale: float = 1.0

    @cached_property
    def mean(self) -> NDArray[np.float64]:
        """The estimate from all pairs of blocks, shape (n_pairs,)."""
        return np.asarray(self.kernel.mean(axis=0))

    @cached_property
    def sums(self) -> NDArray[np.float64]:
        """For each block, the sum over the pairs it is in, shape (n_blocks, n_pairs)."""
        return block_sums(self.kernel, self.n_blocks)

    def without(self, block: int) -> NDArray[np.float64]:
        """The estimate without one block, shape (n_pairs,)."""
        total = comb(self.n_blocks, 2) * self.mean - self.sums[block]
        return np.asarray(total / comb(self.n_blocks - 1, 2))

    def of(self, blocks: Sequence[int]) -> NDArray[np.float64]:
        """The estimate from some blocks only, shape (n_pairs,); at least two."""
        rows = [self.row(f, g) for f, g in combinations(blocks, 2)]
        return np.asarray(self.kernel[rows].mean(axis=0))

    def weighted(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The estimate with weights on blocks, shape (n_pairs,)."""
        f, g = np.triu_indices(self.n_blocks, 1)
        products = weights[f] * weights[g]
        return np.asarray(products @ self.kernel / products.sum())

    def row(self, f: int, g: int) -> int:
        """Row of the kernel that a pair of blocks has, in either order."""
        f, g = min(f, g), max(f, g)
        return f * self.n_blocks - f * (f + 1) // 2 + g - f - 1


def block_roots(
    counts: PositionCounts, positions: NDArray[np.int64], blocks: Sequence[tuple[int, ...]], depth: int
) -> Iterator[scipy.sparse.csr_array]:
    """Rarefied square-root frequencies of each block.

    Parameters
    ----------
    counts : PositionCounts
    positions : ndarray of int, shape (m,)
        Positions to use, with a token in every block or without data at all.
    blocks : sequence of tuple of int
    depth : int
        Common depth that every position of every block is rarefied to.

    Yields
    ------
    CSR array of float, shape (k, W)
        One row for each position with data, and where some have none a last one for all of those, uniform.
    """
    occupied = counts.depth[positions] > 0
    used = [matrix[positions[occupied]] for matrix in counts.fold_matrices]
    uniform = None if occupied.all() else uniform_roots(counts, depth)
    for block in blocks:
        roots = rarefied_rows(total_of(used, block), depth)
        yield roots if uniform is None else append_row(roots, uniform)


def row_of_position(counts: PositionCounts, positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row of `block_roots` that each position has, shape (m,)."""
    occupied = counts.depth[positions] > 0
    return np.where(occupied, np.cumsum(occupied) - 1, int(occupied.sum()))


def fold_pairs(
    counts: PositionCounts,
    positions: NDArray[np.int64],
    blocks: Sequence[tuple[int, ...]],
    depth: int,
    *,
    scale: float = 1.0,
    progress: ProgressHook = silent,
) -> FoldPairs | None:
    """Squared distances from every pair of blocks.

    Parameters
    ----------
    counts : PositionCounts
    positions, blocks, depth
        See `block_roots`.
    scale : float
        Factor of the squared distances, for metrics that are Hellinger's in another unit.
    progress : callable
        Called as ``progress(stage, pairs_done, n_pairs)``.

    Returns
    -------
    FoldPairs or None
        None where they would take more memory than they are worth; `pairwise_mean` then gives their mean.
    """
    n_pairs, m = comb(len(blocks), 2), positions.size
    size = m * (m - 1) // 2
    if 8 * n_pairs * size > min(_MAX_KERNEL_BYTES, physical_memory() // _SHARE_OF_MEMORY):
        return None
    roots = [part.tocsc() for part in block_roots(counts, positions, blocks, depth)]
    rows = row_of_position(counts, positions)
    kernel, affinity = np.empty((n_pairs, size)), 0.0
    for done, (f, g) in enumerate(combinations(range(len(blocks)), 2)):
        progress("cross-validating", done, n_pairs)
        gram = cross_gram(roots[f], roots[g])
        gram = (gram + gram.T) / 2
        gram = gram[np.ix_(rows, rows)]
        kernel[done] = upper_pairs(squared_distances(gram)) * scale
        affinity += float(np.diagonal(gram).mean()) / n_pairs
    progress("cross-validating", n_pairs, n_pairs)
    sizes = block_depths(counts, blocks).sum(axis=0)[positions]
    return FoldPairs(kernel, len(blocks), sizes, affinity, scale)


def pairwise_mean(
    counts: PositionCounts, positions: NDArray[np.int64], blocks: Sequence[tuple[int, ...]], depth: int
) -> NDArray[np.float64]:
    """The mean of `fold_pairs` alone, from sums over blocks: one product a block instead of one a pair.

    Parameters
    ----------
    counts : PositionCounts
    positions, blocks, depth
        See `block_roots`.

    Returns
    -------
    ndarray of float, shape (m, m)
    """
    total, same = None, None
    for roots in block_roots(counts, positions, blocks, depth):
        total = roots if total is None else total + roots
        gram = cross_gram(roots, roots)
        same = gram if same is None else same + gram
    if total is None or same is None:
        raise GeometryError("no blocks of folds: expected at least 2")
    gram = (cross_gram(total, total) - same) / (len(blocks) * (len(blocks) - 1))
    rows = row_of_position(counts, positions)
    return squared_distances(((gram + gram.T) / 2)[np.ix_(rows, rows)])
