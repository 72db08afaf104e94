"""All scores from sums, with noise and without, of one target and of several together."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from posgeom.scores.scoring import FIELDS, Scoring, Target, scores_of_sums
from tests.scores.helpers import corpus, slow_scores

E = np.random.default_rng(0).random((3, 45)) + 0.1


def test_a_target_without_noise_is_its_distances() -> None:
    squared = np.linspace(-0.1, 1, 45)
    target = Target.of(squared, None, 8)
    np.testing.assert_array_equal(target.squared, np.maximum(squared, 0))
    found = Scoring(E)(target)
    assert found.shape == (len(FIELDS), 3)
    for k, e in enumerate(E):
        clipped = np.maximum(squared, 0)
        np.testing.assert_allclose(found[:, k], slow_scores(e, clipped, np.sqrt(clipped)), rtol=1e-10)


def test_noise_is_taken_out_of_the_roots_and_not_of_the_squares() -> None:
    shape = corpus()
    assert shape.noise is not None
    squared = shape.distances.squared[np.triu_indices(10, 1)]
    target = Target.of(squared, shape.noise, 6)
    np.testing.assert_array_equal(target.squared, squared)
    np.testing.assert_array_equal(target.roots, shape.noise.roots(squared, 6))
    found = Scoring(E)(target)
    for k, e in enumerate(E):
        np.testing.assert_allclose(found[:, k], slow_scores(e, squared, target.roots), rtol=1e-9)


def test_ranks_where_they_are_wanted() -> None:
    target = Target.of(np.linspace(0, 1, 45), None, 8, with_ranks=False)
    found = Scoring(E)(target)
    assert np.isnan(found[-1]).all()
    assert np.isfinite(found[:-1]).all()
    constant = Scoring(np.ones((1, 45)))(Target.of(np.linspace(0, 1, 45), None, 8))
    assert np.isnan(constant[-2:]).all()


def test_several_targets_together_pool_pairs_and_average_ranks() -> None:
    rng = np.random.default_rng(1)
    squared = rng.random((2, 45))
    scoring = Scoring(E)
    found = scores_of_sums([scoring.against(Target.of(row, None, 8)) for row in squared])
    for k, e in enumerate(E):
        pooled = slow_scores(np.tile(e, 2), squared.ravel(), np.sqrt(squared.ravel()))
        np.testing.assert_allclose(found[:5, k], pooled[:5], rtol=1e-10)
        ranked = [spearmanr(e, row).statistic for row in squared]
        assert found[5, k] == pytest.approx(np.mean(ranked))
