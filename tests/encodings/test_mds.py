import numpy as np
import pytest

from posgeom.encodings.mds import mds
from posgeom.errors import EncodingError
from posgeom.geometry.build import geometry
from posgeom.studies.synthetic import sample_counts, synthetic

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
