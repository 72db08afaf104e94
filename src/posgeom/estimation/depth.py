"""How many sequences a position needs to take part, and which positions do."""

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from posgeom.counts.bins import Bins
from posgeom.errors import GeometryError
from posgeom.policies import ENOUGH_DEPTH, SHARE_OF_DEEPEST


def choose_min_depth(depth: NDArray[np.int64], bins: Bins | None = None) -> int:
    """Default minimum depth: 5 % of the deepest position's, and at least 100 where the corpus has that many.

    All positions are rarefied to the shallowest one kept, so one rare far position would cost every other
    position its precision. The floor of 100 is lowered to half of the deepest position's depth in corpora that
    small, so that they are analysed at all. A bin counts for as deep as its positions are on average, so that wide
    bins do not mask narrow ones.

    Shapes: `depth` (n,).
    """
    deepest = int(depth.max(initial=0)) if bins is None else ceil((depth[bins.centres] / bins.widths).max())
    return max(1, ceil(SHARE_OF_DEEPEST * deepest), min(ENOUGH_DEPTH, ceil(deepest / 2)))


@dataclass(frozen=True, eq=False, slots=True)
class Selection:
    """Which positions a geometry uses, and why not the others.

    Attributes
    ----------
    positions : ndarray of int, shape (m,)
        Used positions, increasing.
    empty : ndarray of int
        Positions without data. They are among `positions` under the policy ``"uniform"``.
    shallow : ndarray of int
        Positions with data, but with less than the minimum depth (or none in some fold); masked.
    min_depth : int
    chosen_automatically : bool
    bins : Bins or None
        Bins whose centres these positions are, where they are not positions themselves.
    within : tuple of int or None
        First and last position that were looked at; None where all were.
    """

    positions: NDArray[np.int64]
    empty: NDArray[np.int64]
    shallow: NDArray[np.int64]
    min_depth: int
    chosen_automatically: bool
    bins: Bins | None = None
    within: tuple[int, int] | None = None


def select_positions(
    depth: NDArray[np.int64],
    *,
    min_depth: int | None,
    empty: str,
    group_depth: NDArray[np.int64] | None,
    bins: Bins | None = None,
    within: tuple[int, int] | None = None,
) -> Selection:
    """Choose the positions that take part.

    Shapes: `depth` (n,), `group_depth` (n,).
    """
    if min_depth is not None and min_depth < 1:
        raise GeometryError(f"minimum depth {min_depth}: expected at least 1")
    exists = looked_at(depth.size, within)
    depth = np.where(exists, depth, 0)
    threshold = choose_min_depth(depth, bins) if min_depth is None else min_depth
    if bins is not None:
        centres = np.zeros_like(exists)
        centres[bins.centres] = True
        exists &= centres
    deep = enough = depth >= threshold
    if group_depth is not None:
        deep = enough & (group_depth > 0)
    is_empty = exists & (depth == 0)
    used = deep | is_empty if empty == "uniform" else deep
    if int(used.sum()) < 2:
        what = ("positions", "sequences") if bins is None else ("bins", "tokens")
        if int(enough.sum()) < 2:
            found = f"{int(enough.sum())} of {int(exists.sum())} {what[0]} have {threshold} {what[1]} or more"
            way_out = f"the deepest has {int(depth.max())}; lower --min-depth or add text"
        else:
            found = f"{int(deep.sum())} of {int(exists.sum())} {what[0]} have a sequence in every fold"
            way_out = "add text, or use fewer --folds or --estimator plugin"
        raise GeometryError(f"{found}: a geometry needs 2; {way_out}")
    return Selection(
        positions=np.flatnonzero(used),
        empty=np.flatnonzero(is_empty),
        shallow=np.flatnonzero(exists & ~deep & ~is_empty),
        min_depth=threshold,
        chosen_automatically=min_depth is None,
        bins=bins,
        within=within,
    )


def looked_at(n_positions: int, within: tuple[int, int] | None) -> NDArray[np.bool_]:
    """Which positions are in a range of them, both ends included; all of them without one."""
    if within is None:
        return np.ones(n_positions, np.bool_)
    first, last = within
    if not 0 <= first < last < n_positions:
        raise GeometryError(
            f"positions {first}-{last}: expected a range of at least 2 of the positions 0 to {n_positions - 1}"
        )
    inside = np.zeros(n_positions, np.bool_)
    inside[first : last + 1] = True
    return inside
