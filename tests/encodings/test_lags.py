import numpy as np
import pytest

from posgeom.encodings.lags import lag_span, spread_lags


@pytest.mark.parametrize("positions", [[], [3], [3, 4], [0, 1, 2, 3], [2, 3, 5], [5, 3, 4], [4, 3, 2]])
def test_each_pair_gets_the_entry_of_its_lag(positions: list[int]) -> None:
    chosen = np.array(positions, np.int64)
    table = np.random.default_rng(0).normal(size=lag_span(chosen) + 1)
    expected = [[table[abs(i - j)] for j in positions] for i in positions]
    np.testing.assert_array_equal(spread_lags(table, chosen), np.reshape(expected, (len(positions),) * 2))
