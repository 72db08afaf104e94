"""Scores of P M against slow forms with M written out."""

import numpy as np
import pytest

from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.mds import double_centre
from posgeom.inference.fields import Target
from posgeom.inference.scoring import alignment, stress
from posgeom.models.projection import ProjectionScores, projected, score_projection
from posgeom.scores.effective_rank import effective_rank


def target(m: int) -> DistanceMatrix:
    return DistanceMatrix(np.abs(np.subtract.outer(np.arange(m), np.arange(m))) ** 0.5, np.arange(m), "test", "given")


def scored(points: np.ndarray, query: np.ndarray, key: np.ndarray, known: DistanceMatrix) -> ProjectionScores:
    centred = double_centre(known.squared)
    exact = Target.of(centred, float(np.linalg.norm(centred)), known.pairs)
    return score_projection(points, query, key, exact, known.positions)


@pytest.mark.parametrize("rank", [1, 3, 8, 11, 30])
@pytest.mark.parametrize("m", [4, 8, 20])
def test_against_m_written_out(rank: int, m: int) -> None:
    rng = np.random.default_rng(rank)
    query, key, points = rng.normal(size=(rank, 8)), rng.normal(size=(rank, 8)), rng.normal(size=(m, 8))
    matrix = np.zeros((8, 8))
    for r in range(rank):
        matrix += np.outer(query[r], key[r])
    moved = points @ matrix
    got = scored(points, query, key, target(m))
    slow = np.array([[np.linalg.norm(a - b) for b in moved] for a in moved])
    close = projected(points, query, key)
    np.testing.assert_allclose([[np.linalg.norm(a - b) for b in close] for a in close], slow, atol=1e-10)
    assert got.stress_raw == pytest.approx(stress(moved, target(m), "raw"))
    assert got.stress_scaled == pytest.approx(stress(moved, target(m), "scaled"))
    assert got.alignment == pytest.approx(alignment(moved, target(m)))
    assert got.norm == pytest.approx(np.linalg.norm(matrix))
    even, odd = (matrix + matrix.T) / 2, (matrix - matrix.T) / 2
    assert got.symmetric_share == pytest.approx((even**2).sum() / (matrix**2).sum())
    assert got.antisymmetric_share == pytest.approx((odd**2).sum() / (matrix**2).sum())
    values = np.linalg.svd(points @ matrix @ points.T, compute_uv=False)
    np.testing.assert_allclose(got.singular_values[:4], values[: min(4, len(got.singular_values))], atol=1e-9)
    assert got.effective_rank == pytest.approx(effective_rank(np.where(values < 1e-9 * values[0], 0, values)), rel=1e-6)


def test_symmetric_and_antisymmetric_products() -> None:
    query = np.eye(4)
    odd = np.array([[0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 2], [0, 0, -2, 0]], float)
    points = np.random.default_rng(0).normal(size=(6, 4))
    assert scored(points, query, query, target(6)).symmetric_share == 1
    got = scored(points, query, odd, target(6))
    assert got.symmetric_share == pytest.approx(0, abs=1e-12)
    assert got.antisymmetric_share == pytest.approx(1)


def test_an_orthogonal_m_leaves_stress_alone() -> None:
    points = sinusoidal(16, 8).coordinates()
    assert points is not None
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0]
    got = scored(points, np.eye(8), rotation, target(16))
    assert got.stress_raw == pytest.approx(stress(points, target(16), "raw"))
    twice = scored(points, 2 * np.eye(8), rotation, target(16))
    assert twice.stress_scaled == pytest.approx(got.stress_scaled)
    assert twice.alignment == pytest.approx(got.alignment)
    assert got.scale is not None
    assert twice.scale == pytest.approx(got.scale / 2)


def test_zero_weights_are_undefined_where_they_are() -> None:
    points = np.random.default_rng(0).normal(size=(6, 4))
    got = scored(points, np.zeros((2, 4)), np.ones((2, 4)), target(6))
    assert (got.stress_raw, got.stress_scaled, got.scale, got.pearson, got.alignment) == (1, None, None, None, None)
    assert (got.norm, got.symmetric_share, got.antisymmetric_share, got.effective_rank) == (0, None, None, 0)
