import numpy as np
import pytest
from scipy import sparse

from posgeom.geometry import gram


@pytest.mark.parametrize("density", [0.0, 0.02, 0.3, 1.0])
def test_agrees_with_the_dense_product(density: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gram, "_BLOCK_CELLS", 500)  # several blocks
    a, b = (sparse.random_array((30, 200), density=density, rng=s, format="csr") for s in (1, 2))
    np.testing.assert_allclose(gram.cross_gram(a, b), a.toarray() @ b.toarray().T, atol=1e-12)


def test_rows_may_differ_in_number() -> None:
    a, b = (sparse.random_array((m, 50), density=0.2, rng=m, format="csr") for m in (4, 9))
    np.testing.assert_allclose(gram.cross_gram(a, b), a.toarray() @ b.toarray().T, atol=1e-12)
