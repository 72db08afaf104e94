"""The sound version of a number: against cross-validated distances, with its jackknife interval."""

from collections.abc import Callable, Sequence

from posgeom.encodings.base import Encoding
from posgeom.estimation.build import Geometry
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.inference.jackknife import Estimate as Known
from posgeom.inference.scoring import replicates_of, statistic_of
from posgeom.paper.result import Estimate
from posgeom.policies import LEVEL

ALIGNMENT, PEARSON = "alignment", "pearson"


def scores_of(
    encodings: Sequence[Encoding], shape: Geometry, score: str = ALIGNMENT, *, intervals: bool = True
) -> list[Estimate | None]:
    """A score of encodings against either geometry; None where it is undefined.

    Against a cross-validated geometry one that is fitted to the corpus is fitted on one half of it and scored on the
    other, and there are intervals; against a plug-in one it is scored on what it is fitted to.
    """
    return [_shown(one[score].estimate) for one in replicates_of(encodings, shape, errors=intervals)]


def sound_statistic(statistic: Callable[[DistanceMatrix], float | None], shape: Geometry) -> Estimate | None:
    """Any number that cross-validated distances have, with its interval; None where it is undefined."""
    return _shown(statistic_of(statistic, shape))


def _shown(known: Known) -> Estimate | None:
    if known.value is None:
        return None
    interval = known.interval(LEVEL)
    return (
        Estimate(known.value) if interval is None else Estimate(known.value, interval.low, interval.high, "jackknife")
    )
