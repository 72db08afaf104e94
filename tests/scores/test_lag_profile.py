import numpy as np
import pytest

from posgeom.scores.lag_profile import lag_profile


def test_against_a_loop() -> None:
    rng = np.random.default_rng(0)
    positions = np.array([0, 1, 2, 4, 7, 8, 12])
    distances = rng.random((7, 7))
    distances = distances + distances.T
    profile = lag_profile(distances, positions, max_bins=4)
    assert profile.first.tolist() == [1, 4, 7, 10]
    assert profile.last.tolist() == [3, 6, 9, 12]
    for k, (first, last) in enumerate(zip(profile.first, profile.last, strict=True)):
        values = [distances[i, j] for i in range(7) for j in range(i) if first <= positions[i] - positions[j] <= last]
        assert profile.pairs[k] == len(values)
        np.testing.assert_allclose(profile.quantiles[k], np.quantile(values, [0.1, 0.5, 0.9]))
    assert profile.pairs.sum() == 21


def test_lags_that_no_pair_has_are_left_out() -> None:
    distances = np.array([[0.0, 3.0], [3.0, 0.0]])
    profile = lag_profile(distances, np.array([2, 9]))
    assert (profile.first.tolist(), profile.pairs.tolist()) == ([7], [1])
    assert profile.quantiles[0] == pytest.approx([3, 3, 3])
