"""Mean squared distance against depth: whether more text would show more, and what unlimited text could.

Tokens that a part of the corpus holds about once are not resolved, and what rests on them is not in the distance. The
counts are thinned to lower depths and put together to higher ones, without any draw; each point is unbiased for what
samples of that depth show. What is left beyond the deepest point cannot be estimated, but it can be bracketed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from posgeom.counts.position_counts import PositionCounts
from posgeom.geometry.build import Geometry
from posgeom.geometry.crossval import error_of_partitions, halvings_of
from posgeom.geometry.fold_pairs import (
    BYTES_OF_AN_ENTRY,
    ENOUGH_BLOCKS,
    FoldPairs,
    block_depths,
    block_roots,
    row_of_position,
)
from posgeom.geometry.noise import mean_with_error, order_two_error
from posgeom.geometry.pair_variance import quantile
from posgeom.geometry.sparse_rows import with_data
from posgeom.progress import ProgressHook, silent
from posgeom.threads import thread_map

_Partitions = Sequence[Sequence[Sequence[int]]]
"""Blocks of each part of each partition."""
_Plan = tuple[_Partitions, int]
"""Partitions of the corpus to average over, and the depth of their parts."""
_THINNING = (4, 2, 1)
_OVERSHOOT = 1.5
"""A distance can overshoot at intermediate depth, where frequent tokens are resolved and their rare counterparts are
not: by less than this times the resolved and the unresolved share, in every corpus of known truth that was tried."""


@dataclass(frozen=True, slots=True)
class DepthPoint:
    """What samples of one depth show.

    Attributes
    ----------
    depth : int
        Sequences per position.
    mean_squared : float
        Mean squared distance over pairs of positions.
    standard_error : float or None
    self_affinity : float
        Resolved share: 1 when every token is seen often.
    n_blocks : int
        Blocks of folds that the error rests on.
    """

    depth: int
    mean_squared: float
    standard_error: float | None
    self_affinity: float
    n_blocks: int


@dataclass(frozen=True, eq=False)
class DepthCurve:
    """Mean squared distance against depth.

    Attributes
    ----------
    points : tuple of DepthPoint
        By increasing depth.
    """

    points: tuple[DepthPoint, ...]

    def __repr__(self) -> str:
        shown = ", ".join(f"{p.depth:,}: {p.mean_squared:.4g}" for p in self.points)
        return f"<DepthCurve {shown}>"

    def interval(self, index: int, level: float) -> tuple[float, float] | None:
        """Interval of a point by Student's t, or None where its error is not known."""
        point = self.points[index]
        if point.standard_error is None:
            return None
        reach = quantile(level, point.n_blocks) * point.standard_error
        return point.mean_squared - reach, point.mean_squared + reach

    def limit(self, level: float) -> tuple[float, float, float] | None:
        """A value for unlimited depth with a lower and an upper bound, or None with fewer than two points.

        The curve goes on in the resolved share towards 1, at most as steeply as between its last two points, and may
        come down by what it can have overshot. The bounds also take in sampling error: below, that of the last point;
        above, what it grows to on the way. They are a bracket, not a confidence interval: nothing in the data tells
        what tokens that are never seen would add.
        """
        if len(self.points) < 2:
            return None
        before, last = self.points[-2:]
        gained = last.self_affinity - before.self_affinity
        missing = max(1 - last.self_affinity, 0)
        steps = missing / gained if gained > 0 else 0.0
        straight = last.mean_squared + steps * (last.mean_squared - before.mean_squared)
        low, high = min(straight, last.mean_squared), max(straight, last.mean_squared)
        low -= abs(low) * min(_OVERSHOOT * missing * last.self_affinity, 1)
        error = last.standard_error or 0
        grown = error + steps * max(error - (before.standard_error or error), 0)
        reach = quantile(level, last.n_blocks)
        return (last.mean_squared + straight) / 2, low - reach * error, high + reach * grown


def depth_curve(counts: PositionCounts, geometry: Geometry, *, progress: ProgressHook = silent) -> DepthCurve | None:
    """Mean squared distance at depths below and above that of a geometry.

    Parameters
    ----------
    counts : PositionCounts
    geometry : Geometry
        Of these counts.
    progress : callable
        Called as ``progress("depth curve", done, total)``.

    Returns
    -------
    DepthCurve or None
        None where the geometry is not cross-validated at a common depth.
    """
    if not geometry.blocks or geometry.depth is None:
        return None
    n = len(geometry.blocks)
    single = [[[k] for k in range(n)]]
    plans: list[_Plan] = [(single, max(geometry.depth // thinning, 1)) for thinning in _THINNING]
    if n >= 2 * ENOUGH_BLOCKS:
        paired = [[list(range(start, n, n // 2)) for start in range(n // 2)]]
        plans.append((paired, _depth(counts, geometry, paired)))
    if n >= ENOUGH_BLOCKS:
        halves = halvings_of(n, geometry.seed)
        plans.append((halves, _depth(counts, geometry, halves)))
    known = [] if geometry.fold_pairs is None else [_point_of_pairs(geometry.fold_pairs, geometry.depth)]
    plans = [plan for plan in plans if not known or plan[1] != geometry.depth]
    memory = BYTES_OF_AN_ENTRY * counts.count.size
    found = thread_map(
        lambda plan: _point(counts, geometry, *plan), plans, memory=memory, stage="depth curve", progress=progress
    )
    points = {point.depth: point for point in [*found, *known]}
    singles = sorted({plan[1] for plan in plans if plan[0] is single} | {point.depth for point in known})
    for partitions, depth in plans:
        if depth not in singles:
            points[depth] = _with_grown_error(points[depth], [points[k] for k in singles], partitions)
    return DepthCurve(tuple(points[depth] for depth in sorted(points)))


def _with_grown_error(point: DepthPoint, singles: Sequence[DepthPoint], partitions: _Partitions) -> DepthPoint:
    """A point of blocks put together, which are few: its error is that of single blocks, as it grows with the depth."""
    if len(singles) < 2:
        return point
    before, last = singles[-2:]
    if before.standard_error is None or last.standard_error is None:
        return point
    error = last.standard_error
    if 0 < before.standard_error < error:
        # Errors at two depths of the same blocks err together, so that how fast they grow is known well.
        steps = np.log(point.depth / last.depth) / np.log(last.depth / before.depth)
        error *= float((error / before.standard_error) ** steps)
    return replace(point, standard_error=error * error_of_partitions(partitions), n_blocks=last.n_blocks)


def _depth(counts: PositionCounts, geometry: Geometry, partitions: _Partitions) -> int:
    """Depth that every used position with data has in every part."""
    occupied = geometry.positions[counts.depth[geometry.positions] > 0]
    parts = [_folds(geometry, partition) for partition in partitions]
    return min(int(block_depths(counts, partition)[:, occupied].min()) for partition in parts)


def _folds(geometry: Geometry, partition: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Folds of each part, of the blocks in it."""
    return [tuple(fold for block in part for fold in geometry.blocks[block]) for part in partition]


def _point_of_pairs(pairs: FoldPairs, depth: int) -> DepthPoint:
    """The point of the geometry itself."""
    return DepthPoint(depth, *mean_with_error(pairs), pairs.self_affinity, pairs.n_blocks)


def _point(counts: PositionCounts, geometry: Geometry, partitions: _Partitions, depth: int) -> DepthPoint:
    rows = row_of_position(counts, geometry.positions)
    weights = np.bincount(rows).astype(np.float64)
    scale = geometry.metric.crossval_scale or 1.0
    means, affinities, n_parts, m = [], [], len(partitions[0]), rows.size
    for partition in partitions:
        roots = list(block_roots(counts, geometry.positions, _folds(geometry, partition), depth))
        weighted = [with_data(part, part.data * np.repeat(weights, np.diff(part.indptr))) for part in roots]
        sums = [part.sum(axis=0) for part in weighted]
        for f, g in combinations(range(n_parts), 2):
            # Inner products of the same position in both parts, and of all positions with all.
            same, every = float(weighted[f].multiply(roots[g]).data.sum()), float(sums[f] @ sums[g])
            means.append(2 * (m * same - every) / (m * (m - 1)) * scale)
            affinities.append(same / m)
    error = None
    if n_parts == len(geometry.blocks) and n_parts >= ENOUGH_BLOCKS:
        error = float(order_two_error(np.array(means)[:, None], n_parts)[1][0])
    return DepthPoint(depth, float(np.mean(means)), error, float(np.mean(affinities)), n_parts)
