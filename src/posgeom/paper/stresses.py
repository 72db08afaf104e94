"""Stress of the paper's five encodings on its own, plug-in distances."""

from posgeom.encodings.base import Encoding
from posgeom.encodings.registry import build_encoding
from posgeom.estimation.build import Geometry
from posgeom.estimation.distance_matrix import DistanceMatrix, upper_pairs
from posgeom.estimation.mds import classical_mds
from posgeom.scores.stress import Stress, paired_distances, stress_of_pairs, stresses_by_rank

FIXED = {"sinusoidal": "sinusoidal", "RoPE": "rope", "ALiBi": "alibi", "random": "random"}
"""Specs of the encodings that know nothing of the corpus, by their names in the paper."""
MDS = "MDS"
SPECS = {MDS: "mds"} | FIXED
"""The paper's five encodings."""
IN_SAMPLE = (
    "In the plug-in column MDS is fitted to the very distances that it is scored on; in the cross-validated one it is "
    "fitted to one half of the corpus and scored on the other."
)


def build(spec: str, shape: Geometry, n_dims: int, seed: int) -> Encoding:
    """The encoding of a spec over the positions of a geometry."""
    return build_encoding(spec, n_positions=shape.n_positions, n_dims=n_dims, geometry=shape, seed=seed)


def stress_of(spec: str, shape: Geometry, n_dims: int, seed: int) -> Stress:
    """Stress of the encoding of a spec against plug-in distances."""
    distances, target = paired_distances(build(spec, shape, n_dims, seed), shape)
    return stress_of_pairs(upper_pairs(distances), target.pairs)


def mds_stresses(distances: DistanceMatrix) -> list[Stress]:
    """Stress of classical MDS at rank 1, 2, 3, ... up to all its axes, against the distances that it is fitted to."""
    return stresses_by_rank(classical_mds(distances).coordinates, distances.pairs)
