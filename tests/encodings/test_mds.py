import numpy as np
import pytest

from posgeom.encodings.mds import mds
from posgeom.errors import EncodingError
from posgeom.estimation.build import geometry
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.simulation.synthetic import sample_counts, synthetic

SHAPE = geometry(synthetic(seed=0).counts, estimator="plugin")


def test_reproduces_the_geometry() -> None:
    encoding = mds(SHAPE)
    assert encoding.n_dims == 31
    np.testing.assert_allclose(encoding.distances(SHAPE.positions), SHAPE.distances.values, atol=1e-12)


def test_rank_and_width() -> None:
    for width, rank, kept in ((768, None, 31), (768, 4, 4), (16, None, 16), (None, 3, 3), (768, 500, 31)):
        points = mds(SHAPE, width, rank=rank).coordinates()
        assert points is not None
        assert points.shape == (32, width or kept)
        assert (np.abs(points).max(axis=0) > 0).sum() == kept


@pytest.mark.parametrize(("width", "rank"), [(8, 9), (8, 0), (None, 0)])
def test_bad_rank(width: int | None, rank: int) -> None:
    with pytest.raises(EncodingError, match=f"mds rank {rank}"):
        mds(SHAPE, width, rank=rank)


def test_masked_positions_have_no_vector() -> None:
    rng = np.random.default_rng(0)
    depth = np.array([0, 300, 300, 300])
    shape = geometry(sample_counts(rng.dirichlet(np.ones(9), 4), depth, n_folds=4, rng=rng))
    encoding = mds(shape)
    assert encoding.n_positions == 4
    assert encoding.distances(shape.positions).shape == (3, 3)
    with pytest.raises(EncodingError, match="no vector for position 0"):
        encoding.coordinates()


def test_an_orthonormal_map_into_the_width() -> None:
    first, mixed = (mds(SHAPE, 64, rank=5, columns=c, seed=2) for c in ("first", "mixed"))
    np.testing.assert_allclose(mixed.distances(), first.distances(), rtol=1e-12)
    points = mixed.coordinates()
    assert points is not None
    assert (np.abs(points).max(axis=0) > 0).all()
    assert np.linalg.matrix_rank(points) == 5
    np.testing.assert_array_equal(points, mds(SHAPE, 64, rank=5, columns="mixed", seed=2).coordinates())
    with pytest.raises(EncodingError, match="mds columns 'last'"):
        mds(SHAPE, columns="last")  # type: ignore[arg-type]


@pytest.mark.parametrize("metric", ["fisher-rao", "jensen-shannon", "total-variation", "hellinger"])
def test_any_metric(metric: str) -> None:
    shape = geometry(synthetic(seed=0).counts, estimator="plugin", metric=metric)
    np.testing.assert_array_equal(mds(shape, rank=2).coordinates(), mds(shape.distances, rank=2).coordinates())


GAPS = np.array([1, 2, 4, 8, 9, 12])
TRACK = np.stack([np.arange(14.0) ** 2, np.arange(14.0)], axis=1)


def track(positions: np.ndarray) -> DistanceMatrix:
    return DistanceMatrix(euclidean_distances(TRACK[positions]), positions, "given", "given")


def test_missing_positions_are_interpolated_between_and_held_outside() -> None:
    for kind in ("linear", "cubic"):
        points = mds(track(GAPS), missing=kind).coordinates()
        assert points is not None
        assert points.shape == (13, 2)
        np.testing.assert_array_equal(points[0], points[1])
        np.testing.assert_allclose(euclidean_distances(points[GAPS]), track(GAPS).values, atol=1e-9)
    cubic = mds(track(GAPS), missing="cubic").distances(np.arange(1, 13))
    np.testing.assert_allclose(cubic, track(np.arange(1, 13)).values, atol=1e-9)  # the track is a polynomial
    with pytest.raises(EncodingError, match="missing=linear"):
        mds(track(GAPS)).coordinates()
    with pytest.raises(EncodingError, match="mds missing 'zero'"):
        mds(track(GAPS), missing="zero")  # type: ignore[arg-type]


def test_further_positions_by_gowers_formula() -> None:
    every = np.arange(14)
    fitted, extended = mds(track(GAPS)), mds(track(GAPS), beyond=track(every))
    np.testing.assert_array_equal(extended.distances(GAPS), fitted.distances(GAPS))
    np.testing.assert_allclose(extended.distances(), track(every).values, atol=1e-8)  # they lie in the plane of the fit
    assert extended.n_positions == 14
    with pytest.raises(EncodingError, match="lack position 8, which was fitted"):
        mds(track(GAPS), beyond=track(np.array([1, 2, 4])))


def test_a_shorter_fit_extended_to_all_positions_of_a_corpus() -> None:
    """The first 20 positions fitted, the other 12 placed: what is lost is what lies outside of the span."""
    positions = np.arange(20)
    part = DistanceMatrix(SHAPE.distances.values[:20, :20], positions, "hellinger", "plugin")
    extended = mds(part, beyond=SHAPE)
    assert extended.n_positions == 32
    np.testing.assert_allclose(extended.distances(positions), part.values, atol=1e-12)
    cross = extended.distances()[:20, 20:]
    assert (cross <= SHAPE.distances.values[:20, 20:] + 1e-12).all()
