"""Sound scores of the items, against the scorecard, and intervals of any statistic against new corpora."""

import numpy as np
import pytest

from posgeom.encodings.mds import mds
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.estimation.build import geometry
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.inference.scorecard import scorecard
from posgeom.paper.measured import ALIGNMENT, PEARSON, scores_of, sound_statistic
from posgeom.simulation.synthetic import sample_counts, synthetic


def mean_squared(distances: DistanceMatrix) -> float:
    return distances.mean_squared


@pytest.mark.parametrize("score", [ALIGNMENT, PEARSON])
def test_they_are_those_of_the_scorecard(score: str) -> None:
    shape = geometry(synthetic(12, 30, 1000).counts)
    encodings = [sinusoidal(12, 8), mds(shape, rank=2)]
    card = scorecard(encodings, shape)
    for estimate, plain, row in zip(
        scores_of(encodings, shape, score), scores_of(encodings, shape, score, intervals=False), card, strict=True
    ):
        assert estimate is not None
        assert plain is not None
        interval = row.intervals[score]
        assert estimate.value == plain.value == getattr(row, score)
        assert (estimate.low, estimate.high, estimate.kind) == (interval.low, interval.high, "jackknife")
        assert (plain.low, plain.kind) == (None, "exact")


def test_with_too_few_folds_there_are_no_intervals() -> None:
    shape = geometry(synthetic(8, 12, 400, n_folds=2).counts)
    (estimate,) = scores_of([sinusoidal(8, 8)], shape, PEARSON)
    assert estimate is not None
    assert (estimate.low, estimate.kind) == (None, "exact")
    statistic = sound_statistic(mean_squared, shape)
    assert statistic is not None
    assert (statistic.value, statistic.low) == (shape.distances.mean_squared, None)


def test_an_undefined_statistic() -> None:
    shape = geometry(synthetic(8, 12, 400).counts)
    assert sound_statistic(lambda _: None, shape) is None


def test_the_error_of_a_statistic_is_that_of_new_corpora() -> None:
    """Half-widths of intervals against the deviation over corpora drawn again from the same distributions."""
    truth = synthetic(8, 12, 400, seed=3).distributions
    found, halves = [], []
    for seed in range(40):
        counts = sample_counts(truth, np.full(8, 600), n_folds=10, rng=np.random.default_rng(seed))
        estimate = sound_statistic(mean_squared, geometry(counts))
        assert estimate is not None
        assert estimate.high is not None
        found.append(estimate.value)
        halves.append(estimate.high - estimate.value)
    assert np.mean(halves) / 2.262 == pytest.approx(np.std(found), rel=0.3)  # Student's t with 9 degrees of freedom
