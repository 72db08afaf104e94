"""Stress of the paper's five encodings, on its distances and on sound ones."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.registry import build_encoding
from posgeom.geometry.build import Geometry
from posgeom.geometry.distance_matrix import DistanceMatrix, upper_pairs
from posgeom.geometry.euclidean import euclidean_distances
from posgeom.geometry.mds import classical_mds
from posgeom.scores.stress import Stress, paired_distances, stress_of_pairs
from posgeom.studies.paper.inputs import Corpus
from posgeom.studies.paper.intervals import jackknife
from posgeom.studies.paper.result import Estimate

FIXED = {"sinusoidal": "sinusoidal", "RoPE": "rope", "ALiBi": "alibi", "random": "random"}
"""Specs of the encodings that know nothing of the corpus, by their names in the paper."""
MDS = "MDS"
FIVE = (MDS, *FIXED)
"""The paper's five encodings."""
IN_SAMPLE = "MDS is fitted to the very distances that it is scored on, in every column."


def stress_of(spec: str, shape: Geometry, n_dims: int, seed: int) -> Stress:
    """Stress of the encoding of a spec.

    Parameters
    ----------
    spec : str
        As `build_encoding` takes it.
    shape : Geometry
    n_dims, seed : int

    Returns
    -------
    Stress
    """
    encoding = build_encoding(spec, n_positions=shape.n_positions, n_dims=n_dims, geometry=shape, seed=seed)
    return stress_against(encoding, shape)


def stress_against(encoding: Encoding, shape: Geometry) -> Stress:
    """Stress of an encoding against a geometry."""
    distances, target = paired_distances(encoding, shape)
    return stress_of_pairs(upper_pairs(distances), target.pairs)


def mds_stresses(distances: DistanceMatrix) -> list[Stress]:
    """Stress of classical MDS at rank 1, 2, 3, ... up to all its axes.

    Parameters
    ----------
    distances : DistanceMatrix

    Returns
    -------
    list of Stress
        Empty where there is no axis.
    """
    coordinates, target = classical_mds(distances).coordinates, distances.pairs
    first, second = np.triu_indices(len(distances), 1)
    squared, found = np.zeros(target.size), []
    for axis in coordinates.T:
        squared += (axis[first] - axis[second]) ** 2
        found.append(stress_of_pairs(np.sqrt(squared), target))
    return found


def sound_stress(spec: str, corpus: Corpus, n_dims: int) -> Estimate | None:
    """Scaled stress against cross-validated distances, with a jackknife interval.

    Parameters
    ----------
    spec : str
        As `build_encoding` takes it; ``mds`` is fitted anew to the distances of every resample.
    corpus : Corpus
    n_dims : int

    Returns
    -------
    Estimate or None
    """
    shape = corpus.sound
    return jackknife(scaled_statistic(spec, shape, n_dims, corpus.seed), shape.distances, corpus.resampled)


def scaled_statistic(spec: str, shape: Geometry, n_dims: int, seed: int) -> Callable[[DistanceMatrix], float | None]:
    """Scaled stress of one encoding as a function of the distances."""
    if spec.startswith("mds"):
        rank = int(spec.partition("rank=")[2] or n_dims)
        return lambda distances: _mds_scaled(distances, rank)
    encoding = build_encoding(spec, n_positions=shape.n_positions, n_dims=n_dims, geometry=shape, seed=seed)
    return scaled_against(upper_pairs(encoding.distances(shape.positions)))


def scaled_against(pairs: NDArray[np.float64]) -> Callable[[DistanceMatrix], float | None]:
    """Scaled stress of given distances of pairs, as a function of the distances that they are compared with."""
    return lambda distances: stress_of_pairs(pairs, distances.pairs).scaled


def _mds_scaled(distances: DistanceMatrix, rank: int) -> float | None:
    axes = classical_mds(distances).coordinates[:, :rank]
    if not axes.shape[1]:
        return None
    return stress_of_pairs(upper_pairs(euclidean_distances(axes)), distances.pairs).scaled
