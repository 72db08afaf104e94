import numpy as np
import pytest

from posgeom.scores.density import pair_density


def test_every_pair_is_in_its_bin() -> None:
    rng = np.random.default_rng(0)
    target, encoding = rng.random(500), 10 * rng.random(500)
    density = pair_density(encoding, target, 0.1, n_bins=8)
    assert density is not None
    assert density.width == pytest.approx(target.max() / 8)
    assert density.pairs.sum() == 500
    for x, y, pairs in zip(density.x, density.y, density.pairs, strict=True):
        inside = (target >= x - 1e-12) & (target < x + density.width * (1 + 1e-9))
        inside &= (0.1 * encoding >= y - 1e-12) & (0.1 * encoding < y + density.width)
        assert abs(int(inside.sum()) - pairs) <= 1  # the largest distance lies on an edge


def test_far_too_long_distances_are_kept_and_a_faithful_encoding_lies_on_the_diagonal() -> None:
    target = np.array([1.0, 2.0, 4.0])
    density = pair_density(target * 5, target, 1.0, n_bins=4)
    assert density is not None
    assert density.pairs.sum() == 3
    assert density.y.max() == 5.0
    faithful = pair_density(target * 3, target, 1 / 3, n_bins=16)
    assert faithful is not None
    assert np.abs(faithful.x - faithful.y).max() <= faithful.width


def test_undefined() -> None:
    assert pair_density(np.ones(3), np.zeros(3), 1.0) is None
    assert pair_density(np.zeros(3), np.ones(3), None) is None
