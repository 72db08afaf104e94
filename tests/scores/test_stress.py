import numpy as np
import pytest

from posgeom.encodings.base import PointEncoding
from posgeom.errors import GeometryError
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.inference.scoring import stress
from posgeom.scores.stress import stress_of_pairs


def line(n: int, step: float) -> DistanceMatrix:
    x = step * np.arange(n)
    return DistanceMatrix(np.abs(x[:, None] - x), np.arange(n), "given", "given")


def test_worked_example() -> None:
    target = line(4, 0.1)
    points = np.arange(4.0)[:, None]
    residual = PointEncoding("x", points).distances()[np.triu_indices(4, 1)] - target.pairs
    assert residual @ residual == pytest.approx(16.2)
    assert stress(points, target) == pytest.approx(81)
    assert stress(points, target, "scaled") == pytest.approx(0, abs=1e-25)
    assert stress(points, target, "stress_1") == pytest.approx(0.9)


def test_scaled_by_its_closed_form_and_by_search() -> None:
    rng = np.random.default_rng(0)
    e, d = rng.random(50) + 0.1, rng.random(50) + 0.1
    result = stress_of_pairs(e, d)
    assert result.scaled == pytest.approx(1 - (e @ d) ** 2 / ((e @ e) * (d @ d)))
    grid = np.linspace(0, 3, 30_001)
    raw = [((c * e - d) ** 2).sum() / (d @ d) for c in grid]
    assert result.scaled == pytest.approx(min(raw), abs=1e-7)
    assert result.scale == pytest.approx(grid[int(np.argmin(raw))], abs=2e-4)


def test_the_zero_encoding_scores_one_and_has_no_scale() -> None:
    result = stress_of_pairs(np.zeros(6), line(4, 1).pairs)
    assert (result.raw, result.scaled, result.scale, result.stress_1) == (1.0, None, None, None)


def test_a_zero_geometry_leaves_relative_stress_undefined() -> None:
    result = stress_of_pairs(np.ones(3), np.zeros(3))
    assert (result.raw, result.scaled, result.scale) == (None, None, None)
    assert result.stress_1 == 1


def test_unknown_kind() -> None:
    with pytest.raises(GeometryError, match="raw, scaled, stress_1"):
        stress(np.eye(4), line(4, 1), "normalised")  # type: ignore[arg-type]


def test_estimates_below_zero_are_distances_of_zero() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(9, 2))
    e = PointEncoding("x", points).distances()[np.triu_indices(9, 1)]
    squared = np.zeros((9, 9))
    squared[np.triu_indices(9, 1)] = (e / 8) ** 2 + rng.normal(0, 0.05, 36)
    squared += squared.T
    assert (squared < 0).any()
    target = DistanceMatrix.from_squared(squared, np.arange(9), "hellinger", "crossval")
    d = np.sqrt(np.maximum(squared, 0))[np.triu_indices(9, 1)]
    assert stress(points, target) == pytest.approx(((e - d) ** 2).sum() / (d**2).sum())
    nothing = DistanceMatrix.from_squared(-np.abs(squared), np.arange(9), "hellinger", "crossval")
    assert stress(points, nothing) is stress(points, nothing, "scaled") is None
    assert stress(points, nothing, "stress_1") == 1
