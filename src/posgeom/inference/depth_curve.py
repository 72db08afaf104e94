"""Mean squared distance against depth: whether more text would show more.

Tokens that a part of the corpus holds about once are not resolved, and what rests on them is not in the distance. The
counts are thinned to lower depths and put together to higher ones, without any draw; each point is unbiased for what
samples of that depth show, and its error is the jackknife's over the parts that it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from posgeom.counts.position_counts import PositionCounts
from posgeom.estimation.build import Geometry
from posgeom.estimation.fold_products import depth_of_groups, fold_products
from posgeom.frames import Framed, estimated
from posgeom.inference.jackknife import Estimate
from posgeom.inference.mean_distance import mean_of_products
from posgeom.policies import LEVEL
from posgeom.progress import ProgressHook, silent
from posgeom.threads import thread_map

_THINNING = (4, 2, 1)
_FEWEST_PARTS = 3
"""Parts that a jackknife of a mean over pairs of parts needs."""
_BYTES_OF_AN_ENTRY = 60


@dataclass(frozen=True, slots=True)
class DepthPoint:
    """What samples of one depth show.

    Attributes
    ----------
    depth : int
        Sequences per position.
    mean_squared : Estimate
        Mean squared distance over pairs of positions.
    self_affinity : float
        Resolved share: 1 when every token is seen often.
    """

    depth: int
    mean_squared: Estimate
    self_affinity: float


@dataclass(frozen=True, eq=False)
class DepthCurve(Framed):
    """Mean squared distance against depth.

    Attributes
    ----------
    points : tuple of DepthPoint
        By increasing depth.
    """

    points: tuple[DepthPoint, ...]

    def __repr__(self) -> str:
        shown = ", ".join(f"{p.depth:,}: {p.mean_squared.value:.4g}" for p in self.points)
        return f"<DepthCurve {shown}>"

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain dictionary per depth, for JSON, CSV or a data frame."""
        return [
            {"depth": point.depth, "self_affinity": point.self_affinity}
            | estimated({"mean_squared": point.mean_squared}, LEVEL)
            for point in self.points
        ]

    @property
    def last_step(self) -> float | None:
        """Change of the distance over the last step of depth, as a share of it; None where that is not positive."""
        if len(self.points) < 2:
            return None
        before, last = (point.mean_squared.value or 0.0 for point in self.points[-2:])
        return (last - before) / last if last > 0 else None


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
    groups, depth = geometry.fold_groups, geometry.depth
    if not groups or depth is None:
        return None
    occupied = geometry.positions[counts.depth[geometry.positions] > 0]
    plans = {max(depth // thinning, 1): groups for thinning in _THINNING}
    for n_parts in (len(groups) // 2, _FEWEST_PARTS):
        if _FEWEST_PARTS <= n_parts < len(groups):
            parts = put_together(groups, n_parts)
            plans.setdefault(int(depth_of_groups(counts, parts)[:, occupied].min()), parts)

    def point(plan: tuple[int, Sequence[Sequence[int]]]) -> DepthPoint:
        at, parts = plan
        scale = geometry.metric.crossval_scale or 1.0
        products = fold_products(counts, geometry.positions, parts, at, scale=scale)
        value = mean_of_products(products, fewest=_FEWEST_PARTS)
        return DepthPoint(at, value, float(np.mean(products.affinity)))

    memory = _BYTES_OF_AN_ENTRY * counts.count.size
    found = thread_map(point, sorted(plans.items()), memory=memory, stage="depth curve", progress=progress)
    return DepthCurve(tuple(found))


def put_together(groups: Sequence[Sequence[int]], n_parts: int) -> tuple[tuple[int, ...], ...]:
    """Groups of folds in so many parts, as equal as can be."""
    return tuple(tuple(fold for group in groups[start::n_parts] for fold in group) for start in range(n_parts))
