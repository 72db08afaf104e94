from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from posgeom.errors import GeometryError
from posgeom.estimation.metrics import METRICS, distribution_distances, metric_named


def random_distributions(k: int = 7, v: int = 40) -> np.ndarray:
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.full(v, 0.3), k)
    weights[rng.random((k, v)) < 0.3] = 0
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


SLOW: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "hellinger": lambda p, q: np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum()),
    "hellinger-normalized": lambda p, q: np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2),
    "fisher-rao": lambda p, q: 2 * np.arccos(min(1.0, np.sqrt(p * q).sum())),
    "jensen-shannon": jensenshannon,
    "total-variation": lambda p, q: np.abs(p - q).sum() / 2,
}


def test_every_metric_has_a_slow_twin_here() -> None:
    assert SLOW.keys() == METRICS.keys()


@pytest.mark.parametrize("metric", METRICS)
def test_agrees_with_the_formula(metric: str) -> None:
    p = random_distributions()
    got = distribution_distances(p, metric)
    for i in range(len(p)):
        for j in range(len(p)):
            want = 0.0 if i == j else SLOW[metric](p[i], p[j])
            assert got[i, j] == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_proportional_counts_are_at_distance_zero(metric: str) -> None:
    np.testing.assert_array_equal(distribution_distances([[1, 2], [2, 4]], metric), np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("metric", "largest"),
    [
        ("hellinger", np.sqrt(2)),
        ("hellinger-normalized", 1),
        ("fisher-rao", np.pi),
        ("jensen-shannon", np.sqrt(np.log(2))),
        ("total-variation", 1),
    ],
)
def test_disjoint_distributions_are_at_the_largest_distance(metric: str, largest: float) -> None:
    assert distribution_distances([[1, 0, 0], [0, 1, 1]], metric)[0, 1] == pytest.approx(largest, rel=1e-14)


def test_close_distributions_keep_their_digits() -> None:
    p = np.full((2, 50_000), 1 / 50_000)
    p[1, 0] += 1e-7
    p[1, 1] -= 1e-7
    assert distribution_distances(p, "hellinger-normalized")[0, 1] == pytest.approx(1.118e-5, rel=1e-3)
    exact = np.sqrt(((np.sqrt(p[0]) - np.sqrt(p[1])) ** 2).sum())
    assert distribution_distances(p)[0, 1] == pytest.approx(exact, rel=1e-9)


def test_triangle_inequality() -> None:
    p = random_distributions(12)
    for metric in METRICS:
        d = distribution_distances(p, metric)
        assert (d[:, None, :] <= d[:, :, None] + d[None, :, :] + 1e-12).all(), metric


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([[1.0, np.nan], [1, 1]], "finite"),
        ([[1.0, -1], [1, 1]], "not negative"),
        ([[1, 1], [0, 0]], "row 1"),
        ([1, 2], "shape"),
        ([["a"]], "no matrix of numbers"),
    ],
)
def test_refuses_what_is_no_distribution(weights: Any, message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        distribution_distances(weights)


def test_large_weights_do_not_overflow() -> None:
    large = distribution_distances([[1e308, 1e308], [1.0, 2.0]])
    np.testing.assert_allclose(large, distribution_distances([[1, 1], [1, 2]]), rtol=1e-12)


def test_unknown_metric_names_the_known_ones() -> None:
    with pytest.raises(GeometryError, match="fisher-rao"):
        metric_named("euclid")
