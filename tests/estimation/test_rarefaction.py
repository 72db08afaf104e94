import numpy as np
import pytest
from scipy import sparse
from scipy.stats import hypergeom

from posgeom.errors import GeometryError
from posgeom.estimation.rarefaction import rarefied_rows, rarefied_sqrt


def slow(count: int, total: int, depth: int) -> float:
    x = np.arange(min(count, depth) + 1)
    return float((hypergeom(total, count, depth).pmf(x) * np.sqrt(x / depth)).sum())


@pytest.mark.slow
def test_agrees_with_the_sum_over_the_whole_distribution() -> None:
    rng = np.random.default_rng(1)
    for _ in range(400):
        total = int(rng.integers(2, 5000))
        depth, count = int(rng.integers(1, total + 1)), int(rng.integers(1, total + 1))
        got = rarefied_sqrt(np.array([count]), np.array([total]), depth)[0]
        assert got == pytest.approx(slow(count, total, depth), rel=1e-7), (count, total, depth)


def test_is_the_plain_root_at_full_depth() -> None:
    count = np.array([0, 1, 5, 70, 400, 1000])
    total = np.full(count.size, 1000)
    np.testing.assert_allclose(rarefied_sqrt(count, total, 1000), np.sqrt(count / 1000), rtol=1e-14)


def test_agrees_with_drawing() -> None:
    rng = np.random.default_rng(2)
    counts = np.array([1, 3, 20, 76])
    draws = rng.multivariate_hypergeometric(counts, 40, size=40_000)
    expected = np.sqrt(draws / 40).mean(axis=0)
    error = np.sqrt(draws / 40).std(axis=0) / np.sqrt(len(draws))
    got = rarefied_sqrt(counts, np.full(4, 100), 40)
    assert (np.abs(got - expected) < 5 * error).all()


def test_rows_agree_with_single_values() -> None:
    rng = np.random.default_rng(3)
    dense = rng.poisson(np.geomspace(0.05, 300, 60), (4, 60)) + np.eye(4, 60, dtype=int)
    totals = dense.sum(axis=1)
    depth = int(totals.min()) // 2
    got = rarefied_rows(sparse.csr_array(dense), depth).toarray()
    for i, j in np.ndindex(*dense.shape):
        assert got[i, j] == pytest.approx(slow(int(dense[i, j]), int(totals[i]), depth), rel=1e-7)


@pytest.mark.parametrize("depth", [0, 11])
def test_refuses_an_impossible_depth(depth: int) -> None:
    with pytest.raises(GeometryError, match="expected 1 to 10"):
        rarefied_sqrt(np.array([2]), np.array([10]), depth)
