"""Differences of scores: paired where they rest on the same parts, else independent."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import t as student

from posgeom.geometry.pair_variance import between, on_blocks
from posgeom.scores.comparison import BETTER, Scored, column_of, difference, rank_scores
from posgeom.scores.interval import Leaving


def scored(values: np.ndarray, name: str = "a", parts: bytes = b"x") -> Scored:
    """A score that is the mean of a value for each block."""
    n = len(values)
    leaving = Leaving(
        np.array([values.mean()]),
        np.array([[np.delete(values, f).mean()] for f in range(n)]),
        np.array([[values[[f, g]].mean() - values.mean()] for f, g in combinations(range(n), 2)]) / (n * (n - 1) / 2),
        between(n, 0.8),
    )
    return Scored("run", name, float(values.mean()), leaving, parts)


X = np.random.default_rng(0).normal(3, 1, 10)
SHIFT = np.linspace(0.1, 0.2, 10)


def test_common_noise_cancels_in_pairs_only() -> None:
    paired = difference(scored(X), scored(X + SHIFT, "b"), "stress_scaled", 0.95)
    apart = difference(scored(X), scored(X + SHIFT, "b", b"y"), "stress_scaled", 0.95)
    assert (paired.first, paired.second, paired.paired, apart.paired) == ("a", "b", True, False)
    assert paired.value == apart.value == pytest.approx(-0.15)
    assert paired.interval is not None
    assert apart.interval is not None
    assert paired.interval.standard_error == pytest.approx(SHIFT.std(ddof=1) * np.sqrt(on_blocks(10) / 10))
    errors = [x.std(ddof=1) * np.sqrt(on_blocks(10) / 10) for x in (X, X + SHIFT)]
    assert apart.interval.standard_error == pytest.approx(np.hypot(*errors))
    assert paired.interval.high - paired.interval.low == pytest.approx(
        2 * student.ppf(0.975, 18) * paired.interval.standard_error
    )


def test_confidence_is_that_of_being_more_faithful() -> None:
    low, high = scored(X), scored(X + SHIFT, "b")
    for score, sign in BETTER.items():
        found = difference(low, high, score, 0.95).confidence
        if sign == 0:
            assert found is None
        else:
            assert found is not None
            assert (found > 0.99) == (sign < 0)
            other = difference(high, low, score, 0.95).confidence
            assert other == pytest.approx(1 - found)


def test_what_is_undefined_stays_so() -> None:
    bare = Scored("run", "c", 1.0, None)
    assert difference(scored(X), bare, "pearson", 0.95).interval is None
    undefined = Scored("run", "d", None, None)
    assert difference(bare, undefined, "pearson", 0.95).value is None
    same = difference(scored(X), scored(X, "e"), "pearson", 0.95)
    assert (same.value, same.confidence) == (0, None)
    assert same.interval is not None
    assert same.interval.standard_error == 0


def test_proportional_encodings_have_no_confidence_from_round_off() -> None:
    twin = scored(X + 1e-15 * np.random.default_rng(1).normal(size=10), "twin")
    found = difference(scored(X), twin, "stress_scaled", 0.95)
    assert found.confidence is None
    assert found.interval is not None
    assert found.interval.standard_error == 0


def test_the_most_faithful_comes_first_and_the_undefined_last() -> None:
    rows = [Scored("r", name, value, None) for name, value in (("a", 0.5), ("b", None), ("c", 0.1))]
    assert [row.encoding for row in rank_scores(rows, "stress_scaled")] == ["c", "a", "b"]
    assert [row.encoding for row in rank_scores(rows, "pearson")] == ["a", "c", "b"]


def test_a_column_without_terms_has_the_jackknife() -> None:
    rng = np.random.default_rng(1)
    terms, one_out = rng.normal(size=(45, 2)), rng.normal(size=(10, 2))
    terms -= terms.mean(axis=0)
    terms[:, 1] = np.nan
    leaving = Leaving(np.zeros(2), one_out, terms, between(10, np.array([0.5, 0.8])))
    plain = Leaving(np.zeros(2), one_out).standard_errors()
    for column in (0, 1):
        found = column_of(leaving, column).standard_errors()[0]
        assert found == pytest.approx(leaving.standard_errors()[column])
        assert (found == pytest.approx(plain[column])) == (column == 1)
