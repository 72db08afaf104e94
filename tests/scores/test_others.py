import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr, rankdata, spearmanr

from posgeom.encodings.alibi import alibi
from posgeom.encodings.base import LagEncoding, PointEncoding
from posgeom.encodings.rope import rope
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import GeometryError
from posgeom.scores.correlation import pearson, spearman, tied_ranks
from posgeom.scores.effective_rank import effective_rank, encoding_effective_rank
from posgeom.scores.separation import minimum_separation


def test_correlations_agree_with_scipy() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, 60).astype(float)
    y = x + rng.normal(0, 3, 60)
    assert pearson(x, y) == pytest.approx(pearsonr(x, y).statistic)
    assert spearman(x, y) == pytest.approx(spearmanr(x, y).statistic)


def test_correlations_with_a_constant_are_undefined() -> None:
    assert pearson(np.ones(5), np.arange(5.0)) is None
    assert spearman(np.arange(5.0), np.full(5, 2.0) + 1e-16) is None
    assert pearson(np.ones(1), np.ones(1)) is None
    assert pearson(np.zeros(4), np.arange(4.0)) is None


def test_round_off_does_not_rank_ties() -> None:
    x = np.repeat([1.0, 2.0, 3.0], 20)
    assert spearman(x, x * (1 + 1e-14 * np.random.default_rng(0).standard_normal(60))) == 1


def test_minimum_separation_names_the_pair_by_position() -> None:
    d = np.array([[0, 3, 2.0], [3, 0, 1], [2, 1, 0]])
    result = minimum_separation(d, np.array([4, 5, 9]))
    assert (result.distance, result.pair) == (1.0, (5, 9))
    with pytest.raises(GeometryError, match="at least 2"):
        minimum_separation(np.zeros((1, 1)), np.array([3]))


def test_effective_rank() -> None:
    assert effective_rank(np.array([2.0, 1])) == pytest.approx(1.8899, abs=5e-5)
    assert effective_rank(np.array([4.0, 1])) == pytest.approx(1.6494, abs=5e-5)  # of their squares, for comparison
    assert effective_rank(np.ones(7)) == pytest.approx(7)
    assert effective_rank(np.zeros(3)) == 0
    for bad in ([-1.0, 2.0], [np.nan]):
        with pytest.raises(GeometryError, match="finite and not negative"):
            effective_rank(np.array(bad))


def test_effective_rank_of_coordinates_and_of_distances_agree() -> None:
    positions = np.arange(3, 20)
    for encoding in (sinusoidal(24, 8), alibi(24)):
        narrow = encoding_effective_rank(encoding, encoding.distances(positions), positions)
        assert isinstance(encoding, LagEncoding)
        by_lag = encoding.lag_distances()
        assert by_lag is not None
        bare = LagEncoding("bare", 24, None, by_lag.take)
        assert encoding_effective_rank(bare, bare.distances(positions), positions) == pytest.approx(narrow, rel=1e-6)


def test_effective_rank_of_wide_coordinates() -> None:
    points = np.random.default_rng(0).normal(size=(6, 40))
    encoding = PointEncoding("wide", points)
    singular = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    got = encoding_effective_rank(encoding, encoding.distances(), np.arange(6))
    assert got == pytest.approx(effective_rank(singular), rel=1e-6)


def test_effective_rank_of_a_geometry_that_is_not_euclidean_is_undefined() -> None:
    encoding = LagEncoding("square", 8, None, lambda lags: lags.astype(float) ** 2)
    assert encoding_effective_rank(encoding, encoding.distances(), np.arange(8)) is None


def test_effective_rank_of_a_rotary_scheme_in_blocks_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    encoding, positions = rope(300, 16), np.arange(3, 300)
    whole = encoding_effective_rank(encoding, encoding.distances(positions), positions)
    monkeypatch.setattr("posgeom.scores.effective_rank._NUMBERS_AT_ONCE", 20 * 16)
    blocks = encoding_effective_rank(encoding, encoding.distances(positions), positions)
    assert blocks == pytest.approx(whole, rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=40))
def test_tied_ranks_are_those_of_scipy(values: list[int]) -> None:
    x = np.array(values, float)
    np.testing.assert_array_equal(tied_ranks(x), rankdata(x))
