"""The jackknife over folds, against its formula and against known truth."""

import numpy as np
import pytest

from posgeom.geometry.build import geometry
from posgeom.geometry.crossval import balanced_splits
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
    # Slowly: rows of the two halves without fold 2, at the depth of the smallest half of all.
    dense = np.stack([matrix.toarray() for matrix in counts.fold_matrices])
    splits = balanced_splits([0, 1, 2, 3], N_SPLITS, shape.seed)
    assert all(part.positions.tolist() == shape.positions.tolist() for part in parts)
    gram = np.zeros((8, 8))
    for split in splits:
        halves = []
        for half in (split.a, split.b):
            total = dense[[fold for fold in half if fold != 2]].sum(axis=0)
            halves.append(np.sqrt(total / total.sum(axis=1, keepdims=True)))
        gram += (halves[0] @ halves[1].T + halves[1] @ halves[0].T) / (2 * len(splits))
    norms = np.diagonal(gram)
    full_depth = norms[:, None] + norms - 2 * gram
    assert parts[2].squared == pytest.approx(full_depth, abs=0.05)  # which rarefaction to 100 of 200 changes little


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
