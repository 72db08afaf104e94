"""The depth curve, against geometries of the same depth."""

import numpy as np
import pytest

from posgeom.estimation.build import geometry
from posgeom.estimation.fold_products import fold_products
from posgeom.inference.depth_curve import DepthCurve, DepthPoint, depth_curve
from posgeom.inference.jackknife import Estimate
from posgeom.inference.mean_distance import mean_of_products, mean_squared_distance
from posgeom.simulation.synthetic import sample_counts, synthetic


@pytest.mark.parametrize("empty", ["mask", "uniform"])
@pytest.mark.parametrize("metric", ["hellinger", "hellinger-normalized"])
def test_points_are_the_means_of_geometries_at_that_depth(empty: str, metric: str) -> None:
    rng = np.random.default_rng(0)
    depth = np.array([0, 400, 500, 320, 0, 700])
    counts = sample_counts(rng.dirichlet(np.full(15, 0.5), 6), depth, n_folds=8, rng=rng)
    shape = geometry(counts, empty=empty, metric=metric)  # type: ignore[arg-type]
    curve = depth_curve(counts, shape)
    assert curve is not None
    assert [point.depth for point in curve.points] == [10, 20, 40, 80]
    scale = shape.metric.crossval_scale
    assert scale is not None
    paired = [(0, 4), (1, 5), (2, 6), (3, 7)]
    for point, groups in zip(curve.points, [*[shape.fold_groups] * 3, paired], strict=True):
        products = fold_products(counts, shape.positions, groups, point.depth, scale=scale)
        upper = np.triu_indices(products.m, 1)
        assert point.mean_squared.value == pytest.approx(products.squared()[upper].mean())
        assert point.mean_squared == mean_of_products(products, fewest=3)
        assert point.mean_squared.degrees_of_freedom == len(groups) - 1
    assert curve.points[2].mean_squared == mean_squared_distance(shape)
    affinities = [point.self_affinity for point in curve.points]
    assert affinities == sorted(affinities)
    assert affinities[-1] < 1


def test_of_ten_folds_there_are_thirds_too() -> None:
    counts = synthetic(n_documents=1000).counts
    curve = depth_curve(counts, geometry(counts))
    assert curve is not None
    assert [point.depth for point in curve.points] == [25, 50, 100, 200, 300]
    assert [point.mean_squared.degrees_of_freedom for point in curve.points] == [9, 9, 9, 4, 2]


def test_shallow_corpora_have_fewer_points() -> None:
    rng = np.random.default_rng(0)
    for n_folds, expected in ((2, [1, 3]), (3, [1, 3]), (4, [1, 3]), (5, [1, 3])):
        counts = sample_counts(rng.dirichlet(np.ones(6), 4), np.full(4, 3 * n_folds), n_folds=n_folds, rng=rng)
        curve = depth_curve(counts, geometry(counts, min_depth=1))
        assert curve is not None
        assert [point.depth for point in curve.points if point.depth in expected] == expected
        assert (curve.points[0].mean_squared.standard_error is None) == (n_folds < 3)


def test_there_is_none_without_a_common_depth() -> None:
    counts = synthetic(n_documents=400).counts
    assert depth_curve(counts, geometry(counts, estimator="plugin")) is None
    assert depth_curve(counts, geometry(counts, depth="full")) is None


def test_the_last_step() -> None:
    points = (DepthPoint(10, Estimate(1.2), 0.5), DepthPoint(20, Estimate(1.0), 0.7))
    assert DepthCurve(points).last_step == pytest.approx(-0.2)
    assert DepthCurve(points[:1]).last_step is None
    assert DepthCurve((points[0], DepthPoint(20, Estimate(-0.1), 0.7))).last_step is None
    assert repr(DepthCurve(points)) == "<DepthCurve 10: 1.2, 20: 1>"
