import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posgeom.scores.monotonicity import monotonicity
from posgeom.scores.violations_by_lag import violations_by_lag


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 14))
def test_against_a_loop_and_the_total(seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    positions = np.sort(rng.choice(30, m, replace=False))
    distances = rng.integers(0, 5, (m, m)).astype(float)  # with ties
    distances = distances + distances.T
    np.fill_diagonal(distances, 0)
    found = violations_by_lag(distances, positions)
    whole = monotonicity(distances, positions)
    assert (int(found.violations.sum()), int(found.triples.sum())) == (whole.violations, whole.triples)
    lag_of = np.abs(positions[:, None] - positions)
    for lag, violations, triples in zip(found.lags, found.violations, found.triples, strict=True):
        cases = [
            distances[i, j] > distances[i, k]
            for i in range(m)
            for k in range(m)
            for j in range(m)
            if lag_of[i, k] == lag and j != i and lag_of[i, j] < lag
        ]
        assert (violations, triples) == (sum(cases), len(cases))


def test_limits_and_undefined_rates() -> None:
    positions = np.arange(60)
    line = np.abs(positions[:, None] - positions).astype(float)
    found = violations_by_lag(line, positions, max_lags=10, max_rows=7)
    assert found.lags.size == 10
    assert found.lags[[0, -1]].tolist() == [1, 59]
    assert found.rates[0] is None  # nothing is nearer than a neighbour
    assert set(found.rates[1:]) == {0.0}
    assert violations_by_lag(-line + 59 * (line > 0), positions).rates[-1] == pytest.approx(1)
