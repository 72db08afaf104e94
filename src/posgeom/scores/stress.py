"""Stress: how far an encoding's distances are from the corpus geometry, in three named variants.

It needs distances D, roots of squared ones. Cross-validated squared distances are unbiased; their roots, 0 for negative
ones, are right where distances stand well above their noise and too large where they do not. Alignment needs no root.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posgeom.encodings.base import Encoding, check_magnitudes
from posgeom.encodings.given import as_encoding
from posgeom.estimation.build import Geometry
from posgeom.estimation.distance_matrix import DistanceMatrix


@dataclass(frozen=True, slots=True)
class Stress:
    """The stress of an encoding, in every variant; None where a denominator is zero.

    Attributes
    ----------
    raw : float or None
        sum (e - D)^2 / sum D^2 over pairs (the paper's). The all-zero encoding scores 1.
    scaled : float or None
        The least raw stress over all rescalings c > 0 of the encoding; in [0, 1].
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
    """Stress from distances of pairs.

    Shapes: `encoding, target` (n_pairs,).
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


def stresses_by_rank(coordinates: NDArray[np.float64], target: NDArray[np.float64]) -> list[Stress]:
    """Stress of the first axis of some coordinates alone, of the first two, and so on, against distances of pairs.

    Shapes: `coordinates` (m, k), `target` (m (m - 1) / 2,).
    """
    first, second = np.triu_indices(len(coordinates), 1)
    squared, stresses = np.zeros(target.size), []
    for axis in coordinates.T:
        squared += (axis[first] - axis[second]) ** 2
        stresses.append(stress_of_pairs(np.sqrt(squared), target))
    return stresses


def paired_distances(
    encoding: Encoding | ArrayLike, geometry: Geometry | DistanceMatrix
) -> tuple[NDArray[np.float64], DistanceMatrix]:
    """An encoding's distances over the positions of a geometry.

    Shapes: `encoding` (n, d); the result (m, m).
    """
    target = geometry.distances if isinstance(geometry, Geometry) else geometry
    scheme = as_encoding(encoding)
    distances = scheme.distances(target.positions)
    check_magnitudes(scheme, distances)
    return distances, target
