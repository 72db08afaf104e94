import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from posgeom.estimation.euclidean import euclidean_distances


@pytest.mark.parametrize("shape", [(2, 1), (9, 1), (30, 4), (20, 300)])
def test_agrees_with_scipy(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(0).normal(3, 2, shape)
    np.testing.assert_allclose(euclidean_distances(x), squareform(pdist(x)), rtol=1e-11, atol=0)


def test_close_pairs_far_from_the_origin_are_exact() -> None:
    x = np.array([[1e3, 1.0], [1e3, 1.0 + 1e-9], [-1e3, 5.0], [-1e3, 5.0]])
    d = euclidean_distances(x)
    assert d[0, 1] == pytest.approx((1.0 + 1e-9) - 1.0, rel=1e-12)
    assert d[2, 3] == 0


def test_single_precision_input_is_computed_in_double() -> None:
    x = np.array([[0.7125930], [0.7123166]], np.float32)
    assert euclidean_distances(x)[0, 1] == pytest.approx(2.764e-4, abs=5e-8)


def test_coinciding_points() -> None:
    np.testing.assert_array_equal(euclidean_distances(np.ones((5, 3))), np.zeros((5, 5)))
