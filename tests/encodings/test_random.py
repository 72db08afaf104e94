import numpy as np
import pytest

from posgeom.encodings.random import random
from posgeom.errors import EncodingError


def test_deviation_and_seed() -> None:
    points = random(400, 50, std=0.5, seed=3).coordinates()
    assert points is not None
    assert points.std() == pytest.approx(0.5, rel=0.02)
    again, other = (random(400, 50, std=0.5, seed=s).coordinates() for s in (3, 4))
    assert again is not None
    assert other is not None
    np.testing.assert_array_equal(points, again)
    assert not np.array_equal(points, other)


def test_expected_separation_of_berts_initialisation() -> None:
    distances = random(128, 768).distances()
    upper = distances[np.triu_indices(128, 1)]
    assert upper.mean() == pytest.approx(0.02 * np.sqrt(2 * 768), rel=0.01)
    assert upper.min() == pytest.approx(0.70, abs=0.02)  # what the paper reports for training from scratch


@pytest.mark.parametrize("std", [0.0, -1.0, float("nan")])
def test_bad_deviation(std: float) -> None:
    with pytest.raises(EncodingError, match="expected a positive number"):
        random(4, 4, std=std)


def test_uniform_entries_have_the_same_deviation_and_a_bound() -> None:
    points = random(400, 50, std=0.5, distribution="uniform").coordinates()
    assert points is not None
    assert points.std() == pytest.approx(0.5, rel=0.02)
    assert np.abs(points).max() == pytest.approx(0.5 * np.sqrt(3), rel=1e-3)
    assert np.abs(points).max() <= 0.5 * np.sqrt(3)
    with pytest.raises(EncodingError, match="random distribution 'cauchy': expected gaussian or uniform"):
        random(4, 4, distribution="cauchy")  # type: ignore[arg-type]
