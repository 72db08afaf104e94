"""What can be chosen where a geometry is estimated, and the positions and folds that follow from it."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import GeometryError
from posgeom.estimation.depth import Selection, select_positions
from posgeom.estimation.fold_products import fold_groups_of
from posgeom.estimation.metrics import Metric
from posgeom.options import EmptyPolicy, Estimator

Depth = Literal["common", "full"]


def chosen_positions(
    counts: PositionCounts,
    estimator: Estimator,
    empty: EmptyPolicy,
    min_depth: int | None,
    within: tuple[int, int] | None = None,
) -> tuple[tuple[tuple[int, ...], ...], NDArray[np.int64] | None, Selection]:
    """Groups of folds and the least depth in one, neither for the plug-in estimator, and the positions that take part.

    Shapes: the least depths (n_positions,).
    """
    groups, group_depth = fold_groups_of(counts, min_depth, within) if estimator == "crossval" else ((), None)
    selection = select_positions(
        counts.depth, min_depth=min_depth, empty=empty, group_depth=group_depth, bins=counts.bins, within=within
    )
    return groups, group_depth, selection


def check_choices(
    metric: Metric, estimator: Estimator | None, empty: EmptyPolicy, depth: Depth, n_splits: int
) -> Estimator:
    """The estimator to use, once the choices are known to be such."""
    for name, value, choices in (
        ("estimator", estimator, (None, "crossval", "plugin")),
        ("empty", empty, ("mask", "uniform")),
        ("depth", depth, ("common", "full")),
    ):
        if value not in choices:
            raise GeometryError(f"{name} {value!r}: expected one of {', '.join(c for c in choices if c)}")
    if n_splits < 1:
        raise GeometryError(f"{n_splits} splits: expected at least 1")
    if estimator == "crossval" and metric.crossval_scale is None:
        raise GeometryError(
            f"metric {metric.name} has no cross-validated estimator: use --estimator plugin (biased upwards by "
            "sampling noise) or --metric hellinger"
        )
    return estimator or ("plugin" if metric.crossval_scale is None else "crossval")
