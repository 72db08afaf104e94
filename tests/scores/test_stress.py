import numpy as np
import pytest

from posgeom.encodings.base import PointEncoding
from posgeom.errors import GeometryError
from posgeom.geometry.distance_matrix import DistanceMatrix
from posgeom.scores.stress import stress, stress_against, stress_of_pairs


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


def test_estimates_of_distances_have_the_scores_of_their_moments() -> None:
    """Squared distances with noise: raw stress is linear in them, so it is unbiased where a clipped root is not."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(9, 2))
    e = PointEncoding("x", points).distances()
    squared = np.zeros((9, 9))
    squared[np.triu_indices(9, 1)] = (e[np.triu_indices(9, 1)] / 2) ** 2 + rng.normal(0, 0.05, 36)
    squared += squared.T
    corrected = np.sqrt(np.maximum(squared, 0)) * 0.97
    target = DistanceMatrix.from_squared(squared, np.arange(9), "hellinger", "crossval", None, corrected)
    pairs = np.triu_indices(9, 1)
    residual = (e[pairs] ** 2).sum() - 2 * (e[pairs] * corrected[pairs]).sum() + squared[pairs].sum()
    assert stress(points, target) == pytest.approx(residual / squared[pairs].sum())
    assert stress(points, target, "stress_1") == pytest.approx(np.sqrt(residual / (e[pairs] ** 2).sum()))
    found = stress_against(e[pairs], target)
    assert found.scale == pytest.approx((e[pairs] * corrected[pairs]).sum() / (e[pairs] ** 2).sum())
    exact = DistanceMatrix(np.sqrt(np.maximum(squared, 0)), np.arange(9), "given", "given")
    assert stress_against(e[pairs], exact) == stress_of_pairs(e[pairs], exact.pairs)


def test_an_estimate_below_zero_leaves_relative_stress_undefined() -> None:
    squared = np.full((4, 4), -0.01)
    np.fill_diagonal(squared, 0)
    target = DistanceMatrix.from_squared(squared, np.arange(4), "hellinger", "crossval", None, np.full((4, 4), 0.0))
    for kind in ("raw", "scaled"):
        assert stress(np.arange(4.0)[:, None], target, kind) is None
    assert stress(np.arange(4.0)[:, None], target, "stress_1") == pytest.approx(1, abs=0.01)
