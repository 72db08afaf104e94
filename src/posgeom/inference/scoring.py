"""Scores of encodings that rest on the corpus, with all folds and without each: what the scorecard is made of."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.given import as_encoding
from posgeom.errors import GeometryError
from posgeom.estimation.build import Geometry
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.leading_axes import LeadingAxes
from posgeom.estimation.mds import double_centre
from posgeom.inference.alignment import targets_of, why_undefined
from posgeom.inference.fields import FIELDS, EncodingPairs, Target
from posgeom.inference.held_out import fit_of, held_out, other_half
from posgeom.inference.jackknife import Estimate, Interval, Replicates, jackknife
from posgeom.inference.large_alignment import large_alignment
from posgeom.policies import ENOUGH_FOLDS, MAX_REFITTED_POSITIONS
from posgeom.progress import ProgressHook, silent
from posgeom.scores.stress import paired_distances

StressKind = Literal["raw", "scaled", "stress_1"]


def replicates_of(encodings: Sequence[Encoding], geometry: Geometry, *, errors: bool) -> list[dict[str, Replicates]]:
    """For each encoding its scores that rest on the corpus, by name, with all folds and (or NaN) without each."""
    pairs = [EncodingPairs.of(paired_distances(encoding, geometry)[0]) for encoding in encodings]
    errors = errors and geometry.products is not None and geometry.products.n >= ENOUGH_FOLDS
    found, _ = all_replicates(encodings, pairs, geometry, why_undefined(geometry), errors=errors, with_ceiling=False)
    return [dict(zip(FIELDS, one, strict=True)) for one in found]


def all_replicates(
    encodings: Sequence[Encoding],
    pairs: Sequence[EncodingPairs],
    geometry: Geometry,
    undefined: str | None,
    *,
    errors: bool,
    progress: ProgressHook = silent,
    with_ceiling: bool = True,
) -> tuple[list[list[Replicates]], list[Replicates] | None]:
    """For each encoding all of `FIELDS`, with all folds and without each; and those of the other half of the corpus."""
    targets = targets_of(geometry, undefined, errors=errors, progress=progress)
    products = geometry.products
    scores = [np.stack([one.against(target) for target in targets]) for one in pairs]
    ceiling = None
    fitted = [k for k, encoding in enumerate(encodings) if encoding.is_fitted_to(geometry)]
    if products is not None and products.n >= ENOUGH_FOLDS:
        fits = [fit_of(encodings[k], geometry.positions) for k in fitted] + [other_half] * with_ceiling
        refitted = errors and products.m <= MAX_REFITTED_POSITIONS
        norms = [target.norm for target in targets]
        values = held_out(fits, geometry, products, norms, errors=refitted, progress=progress)
        for column, k in enumerate(fitted):
            scores[k] = values[:, :, column]
        if with_ceiling:
            ceiling = by_field(values[:, :, -1])
    return [by_field(one) for one in scores], ceiling


def statistic_of(statistic: Callable[[DistanceMatrix], float | None], geometry: Geometry) -> Estimate:
    """Any number that distances have, with its jackknife error where they are cross-validated."""
    products, value = geometry.products, statistic(geometry.distances)
    if value is None or products is None or products.n < ENOUGH_FOLDS:
        return Estimate(value)

    def of_groups(groups: Sequence[int]) -> float:
        squared = products.squared(groups)
        known = statistic(DistanceMatrix.from_squared(squared, geometry.positions, geometry.metric.name, "crossval"))
        return np.nan if known is None else known

    return jackknife(of_groups, products.n)[0].estimate


def by_field(values: NDArray[np.float64]) -> list[Replicates]:
    """Replicates of each field, from values of shape (1 + n_folds, n_fields)."""
    return [Replicates(float(column[0]), column[1:]) for column in values.T]


def values_of(found: Sequence[Replicates]) -> dict[str, Any]:
    """Values by name; None where undefined."""
    return {name: one.estimate.value for name, one in zip(FIELDS, found, strict=True)}


def intervals_of(found: Sequence[Replicates], level: float | None) -> dict[str, Interval]:
    """Intervals by name, of the fields that have one."""
    intervals = {name: one.estimate.interval(level) for name, one in zip(FIELDS, found, strict=True)}
    return {name: interval for name, interval in intervals.items() if interval is not None}


def alignment(encoding: Encoding | ArrayLike, geometry: Geometry | DistanceMatrix | LeadingAxes) -> float | None:
    """Alignment of an encoding with a geometry, as a scorecard has it: the cosine between the two.

    A = <B_P, B> / (|B_P| |B|), with B = -1/2 J D^2 J; linear centred kernel alignment (Cortes et al. 2012). Against a
    cross-validated geometry it is free of the bias of noise. A higher alignment is a more faithful geometry, not a
    better model.

    Parameters
    ----------
    encoding : Encoding or array_like, shape (n, d)
    geometry : Geometry, DistanceMatrix or LeadingAxes
        With leading axes, the cosine to all of their B nevertheless, from its sparse factors.

    Returns
    -------
    float or None
        At most 1, but for the noise of an estimate. None where it is undefined: no axis of the geometry is more than
        noise, or the encoding has all its positions at one point.
    """
    if isinstance(geometry, LeadingAxes):
        scheme = as_encoding(encoding)
        return large_alignment(scheme, geometry).value
    return corpus_scores(encoding, geometry)["alignment"]


def stress(
    encoding: Encoding | ArrayLike, geometry: Geometry | DistanceMatrix, kind: StressKind = "raw"
) -> float | None:
    """Stress of an encoding against a geometry, as a scorecard has it.

    A lower stress is a more faithful geometry, not a better model.

    Parameters
    ----------
    encoding : Encoding or array_like, shape (n, d)
    geometry : Geometry or DistanceMatrix
    kind : {"raw", "scaled", "stress_1"}
        See `Stress`.

    Returns
    -------
    float or None
        None where it is undefined: an all-zero geometry, or for the last two an all-zero encoding.

    Raises
    ------
    GeometryError
        When `kind` is none of these.
    """
    if kind not in _KINDS:
        raise GeometryError(f"stress kind {kind!r}: expected one of {', '.join(_KINDS)}")
    return corpus_scores(encoding, geometry)[_KINDS[kind]]


_KINDS = {"raw": "stress_raw", "scaled": "stress_scaled", "stress_1": "stress_1"}


def corpus_scores(encoding: Encoding | ArrayLike, geometry: Geometry | DistanceMatrix) -> dict[str, float | None]:
    """The scores of an encoding that rest on the corpus, by name, without errors; None where undefined."""
    scheme = as_encoding(encoding)
    if isinstance(geometry, Geometry):
        (found,) = replicates_of([scheme], geometry, errors=False)
        return values_of(list(found.values()))
    distances, target = paired_distances(scheme, geometry)
    centred = double_centre(target.squared)
    values = EncodingPairs.of(distances).against(Target.of(centred, float(np.linalg.norm(centred)), target.pairs))
    return values_of([Replicates(float(value), np.empty(0)) for value in values])
