"""The depth curve, against geometries of the same depth and a corpus of known truth."""

import numpy as np
import pytest

from posgeom.geometry.build import geometry
from posgeom.geometry.crossval import balanced_splits
from posgeom.geometry.depth_curve import DepthCurve, DepthPoint, depth_curve
from posgeom.geometry.fold_pairs import fold_pairs, pairwise_mean
from posgeom.scores.interval import mean_interval
from posgeom.studies.synthetic import sample_counts, synthetic
from tests.conftest import make_counts


def mean_of(squared: np.ndarray) -> float:
    return float(squared[np.triu_indices(len(squared), 1)].mean())


def error_of_halves(seed: int) -> float:
    """Of two splits of eight blocks, by the weight that each product of two blocks has."""
    weights = np.zeros((8, 8))
    for split in balanced_splits(list(range(8)), 2, seed):
        for f in split.a:
            for g in split.b:
                weights[min(f, g), max(f, g)] += 1 / 32
    return float(np.sqrt((weights**2).sum() * 28))


@pytest.mark.parametrize("empty", ["mask", "uniform"])
@pytest.mark.parametrize("metric", ["hellinger", "hellinger-normalized"])
def test_points_are_the_means_of_geometries_at_that_depth(empty: str, metric: str) -> None:
    rng = np.random.default_rng(0)
    depth = np.array([0, 400, 500, 320, 0, 700])
    counts = sample_counts(rng.dirichlet(np.full(15, 0.5), 6), depth, n_folds=8, rng=rng)
    shape = geometry(counts, empty=empty, metric=metric)  # type: ignore[arg-type]
    curve = depth_curve(counts, shape)
    assert curve is not None
    depths = [point.depth for point in curve.points]
    assert depths == sorted(depths)
    assert depths[:3] == [10, 20, 40]
    scale = shape.metric.crossval_scale
    assert scale is not None
    for point in curve.points[:3]:
        slow = mean_of(pairwise_mean(counts, shape.positions, shape.blocks, point.depth)) * scale
        assert point.mean_squared == pytest.approx(slow, rel=1e-10, abs=1e-14)
    assert curve.points[2].mean_squared == pytest.approx(shape.distances.mean_squared, rel=1e-10)
    assert shape.fold_pairs is not None
    interval = mean_interval(shape, 0.95)
    assert interval is not None
    assert curve.points[2].standard_error == pytest.approx(interval.standard_error)
    paired = [(0, 4), (1, 5), (2, 6), (3, 7)]
    assert depths[3] == 80
    assert curve.points[3].mean_squared == pytest.approx(
        mean_of(pairwise_mean(counts, shape.positions, paired, 80)) * scale, rel=1e-10
    )
    # Errors of blocks put together are those of single ones, as they grow with the depth, and of the products left out.
    half, whole = (curve.points[k].standard_error or 0 for k in (1, 2))
    for point, factor in ((curve.points[3], np.sqrt(28 / 24)), (curve.points[4], error_of_halves(shape.seed))):
        grown = whole * max(whole / half, 1) ** np.log2(point.depth / 40)
        assert point.standard_error == pytest.approx(grown * factor)
        assert point.n_blocks == 8
    halves = [fold_pairs(counts, shape.positions, (s.a, s.b), 160) for s in balanced_splits(list(range(8)), 2, 0)]
    assert depths[4] == 160
    assert curve.points[4].mean_squared == pytest.approx(np.mean([h.mean.mean() for h in halves if h]) * scale)
    affinities = [point.self_affinity for point in curve.points]
    assert affinities == sorted(affinities)
    assert affinities[-1] < 1


def test_the_truth_is_inside_the_bracket() -> None:
    inside = 0
    for seed in range(6):
        corpus = synthetic(n_documents=1500, seed=seed)
        curve = depth_curve(corpus.counts, geometry(corpus.counts))
        assert curve is not None
        bracket = curve.limit(0.95)
        assert bracket is not None
        roots = np.sqrt(corpus.distributions)
        truth = mean_of(((roots[:, None] - roots) ** 2).sum(axis=2))
        assert bracket[1] <= bracket[0] <= bracket[2]
        inside += bracket[1] <= truth <= bracket[2]
    assert inside >= 5


def test_shallow_corpora_have_fewer_points() -> None:
    rng = np.random.default_rng(0)
    for n_folds, expected in ((2, [1, 3]), (3, [1, 3]), (4, [1, 3, 6]), (5, [1, 3, 6])):
        counts = sample_counts(rng.dirichlet(np.ones(6), 4), np.full(4, 3 * n_folds), n_folds=n_folds, rng=rng)
        shape = geometry(counts, min_depth=1)
        curve = depth_curve(counts, shape)
        assert curve is not None
        assert [point.depth for point in curve.points] == expected
        assert (curve.points[0].standard_error is None) == (n_folds < 4)
        assert (curve.interval(0, 0.95) is None) == (n_folds < 4)
        assert curve.limit(0.95) is not None


def test_one_sequence_a_block() -> None:
    curve_of_ones = make_counts(np.tile(np.eye(3, dtype=int), (4, 1, 1)))
    curve = depth_curve(curve_of_ones, geometry(curve_of_ones, min_depth=1))
    assert curve is not None
    assert [point.depth for point in curve.points] == [1, 2]
    assert curve.limit(0.95) == pytest.approx((2, 2, 2))


def test_there_is_none_without_a_common_depth() -> None:
    counts = synthetic(n_documents=400).counts
    assert depth_curve(counts, geometry(counts, estimator="plugin")) is None
    assert depth_curve(counts, geometry(counts, depth="full")) is None


def test_the_bracket_by_hand() -> None:
    points = (DepthPoint(10, 1.0, 0.1, 0.5, 10), DepthPoint(20, 1.2, 0.05, 0.7, 5))
    value, low, high = DepthCurve(points).limit(0.95) or (0, 0, 0)
    reach = 2.306004 * 0.05  # Student's t with 8 degrees of freedom
    assert value == pytest.approx((1.2 + 1.5) / 2)  # slope 1 over a missing share of 0.3
    assert high == pytest.approx(1.5 + reach)
    assert low == pytest.approx(1.2 * (1 - 1.5 * 0.3 * 0.7) - reach)
    assert DepthCurve(points).interval(1, 0.95) == pytest.approx((1.2 - reach, 1.2 + reach))
    assert DepthCurve(points[:1]).limit(0.95) is None
    assert repr(DepthCurve(points)) == "<DepthCurve 10: 1, 20: 1.2>"
    level = (DepthPoint(10, 1.0, None, 1.0, 2), DepthPoint(20, 1.2, None, 1.0, 2))
    assert DepthCurve(level).limit(0.95) == (1.2, 1.2, 1.2)
