"""Stress: how far an encoding's distances are from the corpus geometry, in three named variants.

Every variant is made of sum e^2, sum e D and sum D^2 over pairs. For cross-validated distances the last two come from
`DistanceMatrix.corrected` and `DistanceMatrix.squared`, whose sums are free of noise bias, so that an estimate may fall
below 0 by chance, as an unbiased estimate of a number near 0 must.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posgeom.encodings.base import LARGEST, SMALLEST, Encoding, PointEncoding
from posgeom.errors import EncodingError, GeometryError
from posgeom.geometry.build import Geometry
from posgeom.geometry.distance_matrix import DistanceMatrix, upper_pairs
from posgeom.scores.moments import Moments, stress_of_moments
from posgeom.scores.replicates import has_blocks, replicate_scores
from posgeom.scores.scoring import FIELDS

StressKind = Literal["raw", "scaled", "stress_1"]


@dataclass(frozen=True, slots=True)
class Stress:
    """The stress of an encoding, in every variant; None where a denominator is zero.

    Attributes
    ----------
    raw : float or None
        sum (e - D)^2 / sum D^2 over pairs (the paper's). The all-zero encoding scores 1.
    scaled : float or None
        The least raw stress over all rescalings c > 0 of the encoding; in [0, 1], but for the noise of an estimate.
    scale : float or None
        The rescaling c that attains it.
    stress_1 : float or None
        sqrt(sum (e - D)^2 / sum e^2) (Kruskal 1964).
    """

    raw: float | None
    scaled: float | None
    scale: float | None
    stress_1: float | None


def stress_of_pairs(encoding: NDArray[np.float64], target: NDArray[np.float64]) -> Stress:
    """Stress from distances of pairs that are exact.

    Parameters
    ----------
    encoding, target : ndarray of float, shape (n_pairs,)
        Distances e and D of the same pairs.

    Returns
    -------
    Stress
    """
    sum_d2, sum_e2 = float(target @ target), float(encoding @ encoding)
    residual = encoding - target
    sum_r2 = float(residual @ residual)
    raw = sum_r2 / sum_d2 if sum_d2 else None
    if not sum_e2:
        return Stress(raw, None, None, None)
    scale = float(encoding @ target) / sum_e2
    stress_1 = float(np.sqrt(sum_r2 / sum_e2))
    if not sum_d2:
        return Stress(raw, None, None, stress_1)
    # From residuals: 1 - (sum eD)^2 / (sum e^2 sum D^2) would lose the digits of a small stress.
    residual = scale * encoding - target
    return Stress(raw, float(residual @ residual) / sum_d2, scale, stress_1)


def stress_against(encoding: NDArray[np.float64], target: DistanceMatrix) -> Stress:
    """Stress from the distances of pairs, against distances that may be estimates.

    Parameters
    ----------
    encoding : ndarray of float, shape (n_pairs,)
    target : DistanceMatrix

    Returns
    -------
    Stress
    """
    if target.corrected is target.values:
        return stress_of_pairs(encoding, target.pairs)
    moments = Moments.of_pairs(encoding[None], upper_pairs(target.corrected), upper_pairs(target.squared))
    values = {name: float(array[0]) for name, array in stress_of_moments(moments).items()}
    return Stress(**{name: value if np.isfinite(value) else None for name, value in values.items()})


def paired_distances(
    encoding: Encoding | ArrayLike, geometry: Geometry | DistanceMatrix
) -> tuple[NDArray[np.float64], DistanceMatrix]:
    """An encoding's distances over the positions of a geometry.

    Parameters
    ----------
    encoding : Encoding or array_like, shape (n, d)
        A matrix has one row per position, from position 0.
    geometry : Geometry or DistanceMatrix

    Returns
    -------
    ndarray of float, shape (m, m)
    DistanceMatrix
        The geometry's distances.

    Raises
    ------
    EncodingError
        When the encoding lacks a position, or its distances are not finite or too large or small to square.
    """
    target = geometry.distances if isinstance(geometry, Geometry) else geometry
    scheme = encoding if isinstance(encoding, Encoding) else PointEncoding("given", encoding)
    distances = scheme.distances(target.positions)
    largest = float(distances.max(initial=0))
    if not np.isfinite(distances).all() or (largest and not SMALLEST <= largest <= LARGEST):
        raise EncodingError(
            f"encoding {scheme.name} has distances of {largest:g}: expected finite ones, from {SMALLEST:g} to "
            f"{LARGEST:g}; rescale it"
        )
    return distances, target


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
    distances, target = paired_distances(encoding, geometry)
    if isinstance(geometry, Geometry) and has_blocks(geometry):
        scheme = encoding if isinstance(encoding, Encoding) else PointEncoding("given", encoding)
        found = replicate_scores([scheme], geometry, errors=False, ceiling=False).leaving[0].full
        value = float(found[FIELDS.index(_KINDS[kind])])
        return value if np.isfinite(value) else None
    result = stress_against(upper_pairs(distances), target)
    return {"raw": result.raw, "scaled": result.scaled, "stress_1": result.stress_1}[kind]


_KINDS = {"raw": "stress_raw", "scaled": "stress_scaled", "stress_1": "stress_1"}
