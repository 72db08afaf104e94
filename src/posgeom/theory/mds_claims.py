"""What classical MDS is best at, and which distances are Euclidean (Sections 5.2 and 5.3 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.errors import GeometryError
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.estimation.mds import classical_mds, double_centre, spectrum_of
from posgeom.estimation.metrics import METRICS
from posgeom.scores.stress import stress_of_pairs
from posgeom.seeds import make_rng
from posgeom.theory.verdict import Cell, Check, Verdict

RANKS = (1, 2, 3, 8, 16)
_ITERATIONS = 300
_ROUND_OFF = 1e-9
_N_TOKENS, _N_RANDOM = 3, 24


@dataclass(frozen=True, slots=True)
class Optimum:
    """Raw stress and strain of MDS of one rank, and of the points that stress majorisation comes to from there."""

    rank: int
    mds_stress: float
    smacof_stress: float
    mds_strain: float
    smacof_strain: float


@dataclass(frozen=True, kw_only=True)
class StressAndStrain(Check):
    """Whether MDS minimises stress; `lowest_strain` says whether it has the lower strain at every rank."""

    headers: ClassVar[tuple[str, ...]] = ("rank", "stress, MDS", "stress, SMACOF", "strain, MDS", "strain, SMACOF")

    optima: tuple[Optimum, ...]
    rank: int
    stress_at_rank: float
    lowest_strain: bool

    def rows(self) -> Sequence[tuple[Cell, ...]]:
        """Both at every rank."""
        return [(o.rank, o.mds_stress, o.smacof_stress, o.mds_strain, o.smacof_strain) for o in self.optima]


def stress_and_strain(distances: DistanceMatrix, ranks: Sequence[int] = RANKS) -> StressAndStrain:
    """Compare MDS with what stress majorisation (SMACOF) comes to from there, on stress and on strain.

    Parameters
    ----------
    distances : DistanceMatrix
    ranks : sequence of int
        Those below the rank of B are tried.

    Returns
    -------
    StressAndStrain
        On "classical MDS minimises stress": false where a lower stress is reached at any rank.

    Raises
    ------
    GeometryError
        When no rank is below that of B.
    """
    solution, centred = classical_mds(distances), double_centre(distances.squared)
    rank = solution.spectrum.rank
    optima = []
    for r in [r for r in ranks if r < solution.coordinates.shape[1]]:
        start = solution.coordinates[:, :r]
        end = smacof(distances.values, start)
        stresses = [_raw(points, distances) for points in (start, end)]
        optima.append(Optimum(r, *stresses, *(_strain(points, centred) for points in (start, end))))
    if not optima:
        raise GeometryError(f"B has rank {rank}: no rank below it was asked for")
    lower = [o for o in optima if o.mds_stress - o.smacof_stress > _ROUND_OFF]
    best = max(lower, key=lambda o: 1 - o.smacof_stress / o.mds_stress, default=None)
    if best is None:
        verdict, because = Verdict.HOLDS, "Stress majorisation from MDS comes to no lower stress at any rank."
    else:
        verdict = Verdict.FALSE
        because = (
            f"At {len(lower)} of {len(optima)} ranks stress majorisation from MDS comes to a lower stress: "
            f"{best.smacof_stress:.4g} for {best.mds_stress:.4g} at rank {best.rank}."
        )
    return StressAndStrain(
        optima=tuple(optima),
        rank=rank,
        stress_at_rank=_raw(solution.coordinates, distances),
        lowest_strain=all(o.mds_strain <= o.smacof_strain * (1 + _ROUND_OFF) + _ROUND_OFF for o in optima),
        verdict=verdict,
        because=because,
    )


def smacof(
    distances: NDArray[np.float64], start: NDArray[np.float64], n_iterations: int = _ITERATIONS
) -> NDArray[np.float64]:
    """Points of lower stress, by the Guttman transform X <- B(X) X / m (de Leeuw 1977), which never raises it.

    Shapes: `distances` (m, m), `start` (m, d); the result (m, d).
    """
    points = start
    for _ in range(n_iterations):
        own = euclidean_distances(points)
        ratio = np.divide(distances, own, out=np.zeros_like(own), where=own > 0)
        points = (ratio.sum(axis=1)[:, None] * points - ratio @ points) / len(points)
    return points


def _raw(points: NDArray[np.float64], distances: DistanceMatrix) -> float:
    own = DistanceMatrix(euclidean_distances(points), distances.positions, "given", "given").pairs
    raw = stress_of_pairs(own, distances.pairs).raw
    if raw is None:
        raise GeometryError("all distances are 0: there is no stress")
    return raw


def _strain(points: NDArray[np.float64], centred: NDArray[np.float64]) -> float:
    gram = points @ points.T
    scale = float((gram * centred).sum() / (gram**2).sum())
    return float(((scale * gram - centred) ** 2).sum() / (centred**2).sum())


@dataclass(frozen=True, kw_only=True)
class Isometry(Check):
    """Whether distances between distributions are Euclidean: Hellinger's, and the geodesic of the Fisher metric.

    Smallest eigenvalues of B are shares of the largest; ratios are of the geodesic to the Hellinger distance.
    """

    n: int
    rank: int
    hellinger_smallest: float
    fisher_rao_smallest: float
    hellinger_stress: float
    fisher_rao_stress: float
    smallest_ratio: float
    largest_ratio: float


def isometry(rows: scipy.sparse.csr_array) -> Isometry:
    """Compare the Hellinger distance between distributions with the geodesic of the Fisher metric.

    Parameters
    ----------
    rows : CSR array of float, shape (n, V)
        One distribution a row.

    Returns
    -------
    Isometry
        On "an exact isometry into a flat space cannot be had": false where MDS reproduces the Hellinger distance.
    """
    n = rows.shape[0]
    both = {name: METRICS[name].distances(rows) for name in ("hellinger", "fisher-rao")}
    matrices = {name: DistanceMatrix(d, np.arange(n), name, "given") for name, d in both.items()}
    spectra = [spectrum_of(one.squared) for one in matrices.values()]
    smallest = [float(one.eigenvalues[-1] / one.eigenvalues[0]) for one in spectra]
    stresses = [_raw(classical_mds(one).coordinates, one) for one in matrices.values()]
    d, arc = (one.pairs for one in matrices.values())
    ratio = arc[d > 0] / d[d > 0]
    is_flat = spectra[0].negative_mass == 0 and stresses[0] < _ROUND_OFF
    return Isometry(
        n=n,
        rank=spectra[0].rank,
        hellinger_smallest=smallest[0],
        fisher_rao_smallest=smallest[1],
        hellinger_stress=stresses[0],
        fisher_rao_stress=stresses[1],
        smallest_ratio=float(ratio.min()),
        largest_ratio=float(ratio.max()),
        # The statement is that an exact isometry is not to be had.
        verdict=Verdict.FALSE if is_flat else Verdict.HOLDS,
        because=(
            f"MDS of rank {spectra[0].rank} reproduces the Hellinger distances of {n} distributions with stress "
            f"{stresses[0]:.2g}, since they are distances between square roots; for the Fisher-Rao geodesic the "
            f"smallest eigenvalue of B is {smallest[1]:.2g} of the largest, and stress {stresses[1]:.2g}."
        ),
    )


def random_rows(seed: int) -> scipy.sparse.csr_array:
    """Distributions of few tokens, drawn at random; many tokens would set all of them nearly equally far apart."""
    return scipy.sparse.csr_array(make_rng(seed).dirichlet(np.ones(_N_TOKENS), _N_RANDOM))


def hellinger_is_geodesic(check: Isometry) -> tuple[Verdict, str]:
    """Whether the Hellinger distance is the geodesic of the Fisher metric, up to a constant factor."""
    low, high = check.smallest_ratio, check.largest_ratio
    verdict = Verdict.HOLDS if high - low <= _ROUND_OFF * high else Verdict.FALSE
    return verdict, (
        f"2 arccos(sum sqrt(mu nu)) is {low:.4f} to {high:.4f} times d_H: that is the chord, and the geodesic the arc."
    )
