"""Products of the folds of a corpus: what cross-validated distances, their errors and alignment are made of.

With R_f the square-root token frequencies of the documents of fold f (rarefied to a common depth), noise of two folds
is independent, so that B_fg = J (R_f R_g^T + R_g R_f^T) J / 2 is free of it on average. Everything here is a mean of
these matrices over pairs of folds, or an inner product of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import GeometryError
from posgeom.estimation.crossval import square_roots, squared_distances, total_of, uniform_roots
from posgeom.estimation.depth import choose_min_depth, looked_at
from posgeom.estimation.distance_matrix import physical_memory
from posgeom.estimation.gram import cross_gram
from posgeom.policies import FEWEST_TO_TEST, MAX_FOLD_GROUPS, SHALLOW_GROUP
from posgeom.threads import thread_map

_BLOCK_BYTES, _SHARE_OF_MEMORY = 1 << 28, 12
"""Products that take up to this share of the memory are kept; larger ones are made anew, in blocks of rows."""


def choose_fold_groups(counts: PositionCounts, shallowest: int) -> tuple[tuple[int, ...], ...]:
    """Folds, or unions of folds, that serve as independent parts of the corpus; `shallowest` is the depth to keep."""
    if counts.n_folds < 2:
        raise GeometryError("1 fold: cross-validation needs at least 2; use more --folds or --estimator plugin")
    folds = np.flatnonzero(counts.depth_by_fold.any(axis=1)).tolist()
    if len(folds) < 2:
        raise GeometryError(
            f"cross-validation needs documents in at least 2 folds, got {len(folds)}: give it more documents, more "
            "folds or more groups, or use --estimator plugin"
        )
    n = min(len(folds), MAX_FOLD_GROUPS)
    while shallowest < SHALLOW_GROUP * n and n // 2 >= FEWEST_TO_TEST:
        n //= 2
    return tuple(tuple(folds[start::n]) for start in range(n))


def depth_of_groups(counts: PositionCounts, groups: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Sequences of each group of folds with a token at each position, shape (n_groups, n_positions)."""
    return np.stack([counts.depth_by_fold[list(group)].sum(axis=0) for group in groups])


def fold_groups_of(
    counts: PositionCounts, min_depth: int | None = None, within: tuple[int, int] | None = None
) -> tuple[tuple[tuple[int, ...], ...], NDArray[np.int64]]:
    """Groups of folds for the positions of a minimum depth (its default where None), and the least depth in a group.

    Shapes: the least depths (n_positions,).
    """
    depth = np.where(looked_at(counts.n_positions, within), counts.depth, 0)
    threshold = choose_min_depth(depth, counts.bins) if min_depth is None else min_depth
    deep = depth[depth >= max(threshold, 1)]
    groups = choose_fold_groups(counts, int(deep.min(initial=depth.max())))
    return groups, depth_of_groups(counts, groups).min(axis=0)


@dataclass(frozen=True, eq=False)
class FoldProducts:
    """The square-root frequencies of each group of folds, and what their products say.

    Attributes
    ----------
    roots : tuple of CSR array of float, shape (k, V)
        Of each group of folds, one row for each position with data; where positions have none, a last row for those.
    row_of_position : ndarray of int, shape (m,)
    scale : float
        Factor of the squared distances, for metrics that are Hellinger's in another unit.
    """

    roots: tuple[scipy.sparse.csr_array, ...]
    row_of_position: NDArray[np.int64]
    scale: float = 1.0

    @property
    def n(self) -> int:
        """Groups of folds."""
        return len(self.roots)

    @property
    def m(self) -> int:
        """Positions."""
        return int(self.row_of_position.size)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of groups f < g, in the order of every axis of pairs here."""
        return list(combinations(range(self.n), 2))

    def among(self, groups: Sequence[int]) -> NDArray[np.bool_]:
        """Which pairs have both of their groups among these, shape (n_pairs,)."""
        kept = set(groups)
        return np.array([f in kept and g in kept for f, g in self.pairs])

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """Positions that share each row of the roots."""
        return np.bincount(self.row_of_position, minlength=self.roots[0].shape[0]).astype(np.float64)

    @cached_property
    def _sums(self) -> list[NDArray[np.float64]]:
        """Sum of the roots of all positions, for each group, shape (V,)."""
        return [np.asarray(self._weights @ part) for part in self.roots]

    @cached_property
    def mean_squared(self) -> NDArray[np.float64]:
        """Mean squared distance over pairs of positions that each pair of groups gives, shape (n_pairs,)."""
        m = self.m
        every = np.array([self._sums[f] @ self._sums[g] for f, g in self.pairs])
        return np.asarray(2 * m * (self.affinity - every / m**2) / (m - 1) * self.scale)

    @cached_property
    def affinity(self) -> NDArray[np.float64]:
        """Mean inner product of a position's roots in one group and in the other, shape (n_pairs,)."""
        same = [self._weights @ self.roots[f].multiply(self.roots[g]).sum(axis=1) for f, g in self.pairs]
        return np.asarray(same, np.float64) / self.m

    def centred(self, groups: Sequence[int] | None = None) -> NDArray[np.float64]:
        """Mean of B_fg over the pairs among some groups (all by default): their estimate of B, shape (m, m)."""
        chosen = range(self.n) if groups is None else groups
        if self._kept is not None:
            mask = self.among(chosen)
            return np.tensordot(mask / mask.sum(), self._kept, 1)
        total = sum((self.roots[f] for f in chosen[1:]), self.roots[chosen[0]])
        gram = cross_gram(total, total)
        for f in chosen:
            gram -= self._of_itself(f)
        gram *= self.scale / (len(chosen) * (len(chosen) - 1))
        rows = self.row_of_position
        gram = ((gram + gram.T) / 2)[np.ix_(rows, rows)]
        means = gram.mean(axis=0)
        return np.asarray(gram - means - means[:, None] + means.mean())

    def squared(self, groups: Sequence[int] | None = None) -> NDArray[np.float64]:
        """Squared distances that the pairs among some groups give, shape (m, m); unbiased, so some may be negative."""
        return squared_distances(self.centred(groups))

    @cached_property
    def _kept(self) -> NDArray[np.float64] | None:
        """B_fg of every pair, shape (n_pairs, m, m); None where that is too large to keep."""
        if 8 * len(self.pairs) * self.m**2 > _most_kept():
            return None
        return self._rows(np.arange(self.m))

    @cached_property
    def _selves(self) -> dict[int, NDArray[np.float64]]:
        return {}

    def _of_itself(self, group: int) -> NDArray[np.float64]:
        """R_f R_f^T of one group, which every estimate without pairs needs; kept where all of them may be."""
        if group in self._selves:
            return self._selves[group]
        gram = cross_gram(self.roots[group], self.roots[group])
        if self.n * gram.nbytes <= _most_kept():
            self._selves[group] = gram
        return gram

    def _rows(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Some rows of B_fg of every pair, shape (n_pairs, k, m)."""
        rows, own = self.row_of_position, self.row_of_position[positions]
        by_token = [part.tocsc() for part in self.roots]
        cut = by_token if own.size == self.m else [part[own].tocsc() for part in self.roots]
        places = own if own.size == self.m else np.arange(own.size)
        means = [[np.asarray(part @ other) / self.m for other in self._sums] for part in self.roots]

        def product(pair: tuple[int, int]) -> NDArray[np.float64]:
            f, g = pair
            gram = cross_gram(cut[f], by_token[g])
            gram += gram.T if cut is by_token else cross_gram(cut[g], by_token[f])
            of_rows = means[f][g] + means[g][f]
            every = 2 * float(self._sums[f] @ self._sums[g]) / self.m**2
            gram = gram[np.ix_(places, rows)] - of_rows[rows] - of_rows[own][:, None] + every
            return np.asarray(gram * (self.scale / 2))

        return np.stack(thread_map(product, self.pairs, memory=24 * own.size * self.m))

    def row_blocks(self) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """B_fg of every pair, block after block of rows, so that nothing of n_pairs x m x m is ever needed."""
        if self._kept is not None:
            yield slice(0, self.m), self._kept
            return
        step = max(1, _BLOCK_BYTES // (8 * len(self.pairs) * self.m))
        for start in range(0, self.m, step):
            part = slice(start, min(start + step, self.m))
            yield part, self._rows(np.arange(part.start, part.stop))

    def averaged(self, most: int) -> FoldProducts:
        """The products of means over neighbouring positions, at most so many; smooth axes keep their lengths."""
        size = -(-self.m // most)
        block = np.arange(self.m) // size
        shape = (int(block[-1]) + 1, self.roots[0].shape[0])
        weights = scipy.sparse.csr_array((1 / np.bincount(block)[block], (block, self.row_of_position)), shape=shape)
        roots = tuple((weights @ part).tocsr() for part in self.roots)
        return FoldProducts(roots, np.arange(shape[0]), self.scale * size)

    @cached_property
    def inner_products(self) -> NDArray[np.float64]:
        """<B_fg, B_hk> for all pairs of pairs, shape (n_pairs, n_pairs)."""
        n = len(self.pairs)
        out = np.zeros((n, n))
        for _, block in self.row_blocks():
            flat = block.reshape(n, -1)
            out += flat @ flat.T
        return out


def _most_kept() -> int:
    return physical_memory() // _SHARE_OF_MEMORY


def fold_products(
    counts: PositionCounts,
    positions: NDArray[np.int64],
    groups: Sequence[Sequence[int]],
    depth: int | None,
    *,
    scale: float = 1.0,
) -> FoldProducts:
    """Products of groups of folds, at a common depth or (None) at the depths they have.

    A position needs a sequence in every group, or none at all: those without data have the uniform distribution.
    """
    occupied = counts.depth[positions] > 0
    used = [matrix[positions[occupied]] for matrix in counts.fold_matrices]
    uniform = None if occupied.all() else uniform_roots(counts, depth)
    roots = tuple(square_roots(total_of(used, group), depth, uniform) for group in groups)
    row_of_position = np.where(occupied, np.cumsum(occupied) - 1, int(occupied.sum()))
    return FoldProducts(roots, row_of_position.astype(np.int64), scale)
