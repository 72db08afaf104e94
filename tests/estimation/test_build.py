import numpy as np
import pytest
from scipy import linalg

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import GeometryError
from posgeom.estimation import build
from posgeom.estimation.build import geometry
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.simulation.synthetic import sample_counts, synthetic
from tests.conftest import make_counts


def rng_counts(n: int = 6, v: int = 20, depth: int = 400, empty: tuple[int, ...] = (), seed: int = 0) -> PositionCounts:
    rng = np.random.default_rng(seed)
    depths = np.full(n, depth)
    depths[list(empty)] = 0
    return sample_counts(rng.dirichlet(np.full(v, 0.5), n), depths, n_folds=6, rng=rng)


def test_plugin_hellinger_is_euclidean_and_its_mds_is_the_pca_of_root_frequencies() -> None:
    counts = rng_counts()
    shape = geometry(counts, estimator="plugin")
    roots = np.sqrt(counts.matrix().toarray() / counts.depth[:, None])
    centred = roots - roots.mean(axis=0)
    singular = linalg.svdvals(centred)[:5]
    assert shape.spectrum.negative_mass == 0
    np.testing.assert_allclose(shape.spectrum.eigenvalues[:5], singular**2, rtol=1e-9)
    np.testing.assert_allclose(euclidean_distances(shape.mds().coordinates), euclidean_distances(roots), rtol=1e-8)


def test_the_default_estimator_is_cross_validated_at_common_depth() -> None:
    shape = geometry(rng_counts())
    assert shape.estimator == "crossval"
    assert shape.distances is shape.crossval
    assert shape.depth == 66  # six folds, of 66 and 67 documents
    assert shape.fold_groups == tuple((fold,) for fold in range(6))
    assert shape.crossval_full_depth is not None
    assert len(shape.splits) == 6  # of the ten there are


def test_masked_positions_are_reported() -> None:
    counts = rng_counts(n=8, empty=(0, 7))
    shape = geometry(counts)
    assert shape.positions.tolist() == [1, 2, 3, 4, 5, 6]
    assert shape.selection.empty.tolist() == [0, 7]
    assert shape.plugin.positions.tolist() == shape.distances.positions.tolist()
    np.testing.assert_array_equal(shape.distances.depth, counts.depth[1:7])


@pytest.mark.parametrize("estimator", ["plugin", "crossval"])
def test_uniform_empties_are_one_point(estimator: str) -> None:
    shape = geometry(rng_counts(n=8, empty=(0, 7)), estimator=estimator, empty="uniform")  # type: ignore[arg-type]
    values = shape.distances.values
    assert values.shape == (8, 8)
    assert values[0, 7] == 0
    np.testing.assert_array_equal(values[0, 1:7], values[7, 1:7])
    assert (values[0, 1:7] > 0).all()


def test_uniform_is_over_the_whole_vocabulary() -> None:
    dense = np.zeros((2, 3, 2), int)
    dense[:, 1] = 5
    counts = make_counts(dense, vocab_size=8)
    shape = geometry(counts, estimator="plugin", empty="uniform", min_depth=1)
    half, eighth = np.array([0.5, 0.5] + [0] * 6), np.full(8, 1 / 8)
    assert shape.distances.values[0, 1] == pytest.approx(np.linalg.norm(np.sqrt(half) - np.sqrt(eighth)))


def test_the_rank_is_the_papers_under_either_policy() -> None:
    counts = rng_counts(n=8, empty=(0, 7))
    masked, uniform = (geometry(counts, estimator="plugin", empty=e) for e in ("mask", "uniform"))
    assert masked.rank == uniform.rank == uniform.spectrum.rank == 6  # six points and the uniform one
    assert masked.spectrum.rank == 5
    assert geometry(rng_counts()).rank == 5


def test_the_rank_of_very_many_positions_is_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = rng_counts(n=8, empty=(0,))
    whole = geometry(counts)
    monkeypatch.setattr(build, "MAX_RANK_POSITIONS", 6)
    shape = geometry(counts)
    assert (whole.rank, shape.rank) == (7, None)
    np.testing.assert_allclose(shape.plugin.values, whole.plugin.values, rtol=1e-12)


def test_mds_of_a_geometry_is_computed_once_and_cut_to_rank() -> None:
    shape = geometry(rng_counts())
    assert shape.mds() is shape.mds()
    assert shape.mds(2).coordinates.shape == (6, 2)


def test_normalised_hellinger_is_hellinger_over_root_two() -> None:
    counts = rng_counts()
    plain, normalised = geometry(counts), geometry(counts, metric="hellinger-normalized")
    np.testing.assert_allclose(normalised.distances.values * np.sqrt(2), plain.distances.values, rtol=1e-12)
    np.testing.assert_allclose(normalised.plugin.values * np.sqrt(2), plain.plugin.values, rtol=1e-12)


@pytest.mark.parametrize("metric", ["fisher-rao", "jensen-shannon", "total-variation"])
def test_other_metrics_are_plugin(metric: str) -> None:
    shape = geometry(rng_counts(), metric=metric)
    assert shape.estimator == "plugin"
    assert shape.crossval is None
    with pytest.raises(GeometryError, match="no cross-validated estimator"):
        geometry(rng_counts(), metric=metric, estimator="crossval")


def test_equal_distributions_have_no_geometry_under_the_sound_estimator() -> None:
    row = np.random.default_rng(0).dirichlet(np.full(300, 0.3))
    means = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        counts = sample_counts(np.tile(row, (8, 1)), np.full(8, 500), n_folds=10, rng=rng)
        shape = geometry(counts)
        assert shape.plugin.mean_squared > 0.1
        assert shape.distances.negative_share > 0.1
        means.append(shape.distances.mean_squared)
    assert abs(np.mean(means)) < 4 * np.std(means, ddof=1) / np.sqrt(len(means))


def test_empty_folds_do_not_take_part() -> None:
    dense = np.random.default_rng(0).poisson(20, (5, 4, 6))
    dense[[1, 4]] = 0
    shape = geometry(make_counts(dense))
    assert (len(shape.splits), shape.n_folds, shape.n_folds_used) == (3, 5, 3)
    with pytest.raises(GeometryError, match="1 fold: cross-validation needs at least 2"):
        geometry(make_counts(dense[:1]))
    with pytest.raises(GeometryError, match="at least 2 folds"):
        geometry(make_counts(np.concatenate([dense[:1], np.zeros((3, 4, 6), int)])))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"estimator": "magic"}, "estimator 'magic'"),
        ({"empty": "drop"}, "empty 'drop'"),
        ({"depth": "deep"}, "depth 'deep'"),
        ({"n_splits": 0}, "0 splits"),
        ({"metric": "cosine"}, "unknown metric"),
        ({"min_depth": 10_000}, "lower --min-depth"),
    ],
)
def test_bad_choices(settings: dict[str, object], message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        geometry(rng_counts(), **settings)  # type: ignore[arg-type]


def test_full_depth_is_an_option() -> None:
    shape = geometry(synthetic(seed=1).counts, depth="full")
    assert shape.depth is None
    assert shape.crossval is not None
    assert shape.products is not None
    roots = [np.sqrt(part.toarray()) for part in synthetic(seed=1).counts.fold_matrices]
    roots = [part / np.linalg.norm(part, axis=1, keepdims=True) for part in roots]
    pairs = [(roots[f][3] - roots[f][20]) @ (roots[g][3] - roots[g][20]) for g in range(10) for f in range(g)]
    assert shape.crossval.squared[3, 20] == pytest.approx(np.mean(pairs))
