import numpy as np
import pytest
from scipy import sparse

from posgeom.estimation import gram


def random_rows(m: int, v: int, density: float, seed: int) -> sparse.csr_array:
    rng = np.random.default_rng(seed)
    return sparse.csr_array(np.where(rng.random((m, v)) < density, rng.random((m, v)), 0.0))


@pytest.mark.parametrize("density", [0.0, 0.02, 0.3, 1.0])
def test_agrees_with_the_dense_product(density: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gram, "_BLOCK_CELLS", 500)  # several blocks
    a, b = (random_rows(30, 200, density, seed) for seed in (1, 2))
    np.testing.assert_allclose(gram.cross_gram(a, b), a.toarray() @ b.toarray().T, atol=1e-12)


def test_rows_may_differ_in_number() -> None:
    a, b = (random_rows(m, 50, 0.2, m) for m in (4, 9))
    np.testing.assert_allclose(gram.cross_gram(a, b), a.toarray() @ b.toarray().T, atol=1e-12)
