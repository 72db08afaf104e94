"""The sound version of a number: against cross-validated distances, with its interval."""

from collections.abc import Callable, Sequence

import numpy as np

from posgeom.encodings.base import Encoding
from posgeom.geometry.build import Geometry
from posgeom.geometry.distance_matrix import DistanceMatrix, full_matrix, upper_pairs
from posgeom.geometry.pair_variance import between
from posgeom.scores.correlation import pearson_against
from posgeom.scores.interval import Leaving
from posgeom.scores.moving import move_away
from posgeom.scores.replicates import has_blocks, replicate_scores
from posgeom.scores.scorecard import DEFAULT_LEVEL
from posgeom.scores.scoring import FIELDS
from posgeom.scores.stress import stress_against
from posgeom.studies.paper.result import Estimate

_UNBIASED_SHARE = 0.6
"""Of the variance, see `between`: where intervals of violations covered best on corpora of known truth."""
STRESS, PEARSON = "stress_scaled", "pearson"


def sound_scores(
    encodings: Sequence[Encoding], shape: Geometry, score: str = STRESS, *, intervals: bool = True
) -> list[Estimate | None]:
    """A score of encodings; one that is fitted to the corpus is fitted on one half of it and scored on the other.

    Parameters
    ----------
    encodings : sequence of Encoding
        At least one.
    shape : Geometry
        A cross-validated one. Where it has too few blocks of folds, nothing is left out, and there are no intervals.
    score : {"stress_scaled", "pearson"}
    intervals : bool

    Returns
    -------
    list of Estimate or None
        None where the score is undefined.
    """
    if not has_blocks(shape):
        return [_estimate(_whole(encoding, shape, score)) for encoding in encodings]
    intervals = intervals and shape.noise is not None
    column = FIELDS.index(score)
    found: list[Estimate | None] = []
    for leaving in replicate_scores(encodings, shape, errors=intervals).leaving:
        value = float(leaving.full[column])
        interval = leaving.intervals(DEFAULT_LEVEL)[column] if intervals else None
        if not np.isfinite(value):
            found.append(None)
        elif interval is None:
            found.append(Estimate(value))
        else:
            found.append(Estimate(value, interval.low, interval.high, "jackknife"))
    return found


def _whole(encoding: Encoding, shape: Geometry, score: str) -> float | None:
    pairs = upper_pairs(encoding.distances(shape.positions))
    return (
        pearson_against(pairs, shape.distances) if score == PEARSON else stress_against(pairs, shape.distances).scaled
    )


def sound_statistic(statistic: Callable[[DistanceMatrix], float | None], shape: Geometry) -> Estimate | None:
    """Any number that cross-validated distances have, with its interval.

    Parameters
    ----------
    statistic : callable
    shape : Geometry

    Returns
    -------
    Estimate or None
        None where the number is undefined.
    """
    value = statistic(shape.distances)
    pairs = shape.fold_pairs
    if value is None or pairs is None or not has_blocks(shape):
        return _estimate(value)

    def changed_by(row: int) -> float:
        away, factor = move_away(pairs.mean, pairs.kernel[row], len(pairs.kernel))
        squared = full_matrix(away, shape.positions.size)
        moved = statistic(DistanceMatrix.from_squared(squared, shape.positions, shape.metric.name, "crossval"))
        return np.nan if moved is None else (value - moved) * factor

    terms = np.array([[changed_by(row)] for row in range(len(pairs.kernel))])
    nothing = np.full((pairs.n_blocks, 1), np.nan)
    variance = between(pairs.n_blocks, _UNBIASED_SHARE)
    (interval,) = Leaving(np.array([value]), nothing, terms - terms.mean(), variance).intervals(DEFAULT_LEVEL)
    if interval is None:
        return Estimate(value)
    return Estimate(value, interval.low, interval.high, "jackknife")


def _estimate(value: float | None) -> Estimate | None:
    return None if value is None else Estimate(value)
