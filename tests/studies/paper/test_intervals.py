"""The jackknife over folds, against its formula and against known truth."""

import numpy as np
import pytest

from posgeom.geometry.build import geometry
from posgeom.geometry.crossval import Split, balanced_splits, crossval_gram, half_depths, squared_distances
from posgeom.geometry.distance_matrix import DistanceMatrix
from posgeom.studies.paper.intervals import N_SPLITS, jackknife, leave_one_out
from posgeom.studies.synthetic import sample_counts, synthetic


def mean_squared(distances: DistanceMatrix) -> float:
    return distances.mean_squared


def test_each_fold_is_left_out_of_the_same_splits() -> None:
    counts = synthetic(8, 12, 400, n_folds=4).counts
    shape = geometry(counts)
    parts = leave_one_out(counts, shape)
    assert len(parts) == 4
    splits = balanced_splits([0, 1, 2, 3], N_SPLITS, shape.seed)
    reduced = [[Split(*(tuple(f for f in h if f != fold) for h in (s.a, s.b))) for s in splits] for fold in range(4)]
    depth = min(int(half_depths(counts, part).min()) for part in reduced)
    for part, found in zip(reduced, parts, strict=True):
        squared = squared_distances(crossval_gram(counts, shape.positions, part, depth))
        np.testing.assert_allclose(found.squared, squared, atol=1e-13)


def test_the_formula() -> None:
    counts = synthetic(8, 12, 400, n_folds=4).counts
    shape = geometry(counts)
    parts = leave_one_out(counts, shape)
    estimate = jackknife(mean_squared, shape.distances, parts)
    assert estimate is not None
    values = [part.mean_squared for part in parts]
    error = np.sqrt(3 / 4 * sum((v - np.mean(values)) ** 2 for v in values))
    assert estimate.value == shape.distances.mean_squared
    assert (estimate.low, estimate.high) == pytest.approx(
        (estimate.value - 1.959964 * error, estimate.value + 1.959964 * error)
    )
    assert estimate.kind == "jackknife"


def test_undefined_and_without_parts() -> None:
    counts = synthetic(8, 12, 400, n_folds=2).counts
    shape = geometry(counts)
    assert leave_one_out(counts, shape) == ()
    bare = jackknife(mean_squared, shape.distances, ())
    assert bare is not None
    assert (bare.low, bare.high, bare.kind) == (None, None, "exact")
    assert jackknife(lambda _: None, shape.distances, ()) is None


def test_the_error_is_that_of_new_corpora() -> None:
    """Standard errors against the deviation over corpora drawn again from the same distributions."""
    truth = synthetic(8, 12, 400, seed=3).distributions
    found, errors = [], []
    for seed in range(30):
        counts = sample_counts(truth, np.full(8, 600), n_folds=10, rng=np.random.default_rng(seed))
        shape = geometry(counts)
        estimate = jackknife(mean_squared, shape.distances, leave_one_out(counts, shape))
        assert estimate is not None
        assert estimate.high is not None
        found.append(estimate.value)
        errors.append((estimate.high - estimate.value) / 1.959964)
    assert np.mean(errors) == pytest.approx(np.std(found), rel=0.35)
