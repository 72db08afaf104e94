"""What MDS is best at, and which distances are Euclidean."""

import numpy as np
import pytest
import scipy

from posgeom.errors import GeometryError
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.estimation.metrics import METRICS
from posgeom.theory.mds_claims import hellinger_is_geodesic, isometry, random_rows, smacof, stress_and_strain
from posgeom.theory.verdict import Verdict


def matrix(points: np.ndarray) -> DistanceMatrix:
    return DistanceMatrix(euclidean_distances(points), np.arange(len(points)), "given", "given")


def stress(points: np.ndarray, target: np.ndarray) -> float:
    return float(((euclidean_distances(points) - target) ** 2).sum())


def test_smacof_never_raises_stress_and_ends_at_zero_where_there_is_one() -> None:
    rng = np.random.default_rng(0)
    points = rng.standard_normal((12, 2))
    target = euclidean_distances(points)
    start = points + 0.1 * rng.standard_normal(points.shape)
    path = [stress(smacof(target, start, k), target) for k in range(40)]
    assert (np.diff(path) <= 1e-12).all()
    assert stress(smacof(target, start), target) < 1e-6


def test_mds_minimises_strain_and_not_stress() -> None:
    points = np.random.default_rng(1).standard_normal((20, 8))
    result = stress_and_strain(matrix(points), (1, 2, 3, 8))
    assert result.verdict is Verdict.FALSE
    assert result.lowest_strain
    assert result.rank == 8
    assert [one.rank for one in result.optima] == [1, 2, 3]
    assert all(one.smacof_stress < one.mds_stress for one in result.optima)
    assert result.stress_at_rank < 1e-20


def test_mds_that_is_exact_cannot_be_improved() -> None:
    """Two axes of which the second is next to nothing: MDS on the first has no stress to lose."""
    points = np.random.default_rng(1).standard_normal((20, 2)) * [1, 1e-4]
    assert stress_and_strain(matrix(points), (1,)).verdict is Verdict.HOLDS
    with pytest.raises(GeometryError, match="no rank below"):
        stress_and_strain(matrix(points[:, :1]), (1, 2))


def test_hellinger_is_flat_and_the_geodesic_is_not() -> None:
    result = isometry(random_rows(0))
    assert result.verdict is Verdict.FALSE
    assert result.rank == 3
    assert result.hellinger_stress < 1e-20
    assert result.fisher_rao_smallest < -1e-3
    assert result.fisher_rao_stress > 1e-5
    assert hellinger_is_geodesic(result)[0] is Verdict.FALSE
    assert 2 <= result.smallest_ratio < result.largest_ratio <= np.pi / np.sqrt(2) + 1e-9


def test_a_curved_distance_would_not_be_flat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METRICS, "hellinger", METRICS["fisher-rao"])
    result = isometry(random_rows(0))
    assert result.verdict is Verdict.HOLDS
    assert hellinger_is_geodesic(result)[0] is Verdict.HOLDS
    assert scipy.sparse.issparse(random_rows(0))
