"""Sums by lag, against the products of all pairs."""

import numpy as np
import pytest
import scipy

from posgeom.estimation import lag_sums as module
from posgeom.estimation.lag_sums import lag_sums


@pytest.mark.parametrize("density", [0.0, 0.02, 0.3, 1.0])
@pytest.mark.parametrize("direct", [0, 0.02, 6, 1e6])
def test_they_are_sums_over_all_pairs(density: float, direct: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DIRECT", direct)
    monkeypatch.setattr(module, "_NUMBERS_AT_ONCE", 300)
    rng = np.random.default_rng(3)
    places = np.sort(rng.choice(90, 60, replace=False))
    places -= places[0]
    rows = scipy.sparse.csr_array(rng.random((60, 200)) * (rng.random((60, 200)) < density))
    gram = (rows @ rows.T).toarray()
    lags = np.abs(places[:, None] - places)
    slow = [gram[lags == lag].sum() for lag in range(places[-1] + 1)]
    np.testing.assert_allclose(lag_sums(rows, places), slow, atol=1e-11)
