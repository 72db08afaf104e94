"""A mean in which one of its terms has less weight."""

import numpy as np
import pytest

from posgeom.scores.moving import move_away


@pytest.mark.parametrize("n_terms", [3, 10, 45])
def test_a_linear_function_changes_by_its_terms(n_terms: int) -> None:
    rng = np.random.default_rng(n_terms)
    kernel, weights = rng.normal(size=(n_terms, 8)), rng.normal(size=8)
    mean = kernel.mean(axis=0)
    changes = []
    for term in kernel:
        away, factor = move_away(mean, term, n_terms)
        changes.append((mean - away) @ weights * factor)
    np.testing.assert_allclose(changes, (kernel - mean) @ weights / n_terms)
    assert np.sum(changes) == pytest.approx(0)


def test_the_step_is_some_deviations_of_the_mean() -> None:
    """Terms of variance 1, the mean of n of variance 1 / n: a step is .6 of its deviation long."""
    rng = np.random.default_rng(0)
    kernel = rng.normal(size=(45, 4000))
    lengths = [np.std(move_away(kernel.mean(axis=0), term, 45)[0] - kernel.mean(axis=0)) for term in kernel]
    assert np.mean(lengths) == pytest.approx(0.6 / np.sqrt(45), rel=0.03)
