"""Differences of scores: paired where they rest on the same parts, else independent."""

import numpy as np
import pytest
from scipy.stats import t as student

from posgeom.inference.comparison import BETTER, RunScore, difference, rank_scores
from posgeom.inference.jackknife import jackknife

X = np.random.default_rng(0).normal(3, 1, 10)
SHIFT = np.linspace(0.1, 0.2, 10)


def scored(values: np.ndarray, name: str = "a", parts: bytes = b"x") -> RunScore:
    """A score that is the mean of a value for each fold."""
    known = jackknife(lambda kept: values[list(kept)].mean(), len(values))[0]
    return RunScore("run", name, float(values.mean()), known, parts)


def test_common_noise_cancels_in_pairs_only() -> None:
    paired = difference(scored(X), scored(X + SHIFT, "b"), "alignment", 0.95)
    apart = difference(scored(X), scored(X + SHIFT, "b", b"y"), "alignment", 0.95)
    assert (paired.first, paired.second, paired.paired, apart.paired) == ("a", "b", True, False)
    assert paired.value == apart.value == pytest.approx(-0.15)
    assert paired.interval is not None
    assert apart.interval is not None
    error = SHIFT.std(ddof=1) / np.sqrt(10)
    assert paired.interval.standard_error == pytest.approx(error)
    assert paired.interval.high - paired.interval.low == pytest.approx(2 * student.ppf(0.975, 9) * error)
    errors = [x.std(ddof=1) / np.sqrt(10) for x in (X, X + SHIFT)]
    assert apart.interval.standard_error == pytest.approx(np.hypot(*errors))


def test_only_alignment_says_which_is_more_faithful() -> None:
    low, high = scored(X), scored(X + SHIFT, "b")
    for score in BETTER:
        found = difference(low, high, score, 0.95).confidence
        if score != "alignment":
            assert found is None
            continue
        assert found is not None
        assert found == pytest.approx(student.cdf(-0.15 / (SHIFT.std(ddof=1) / np.sqrt(10)), 9))
        assert difference(high, low, score, 0.95).confidence == pytest.approx(1 - found)


def test_what_is_undefined_stays_so() -> None:
    bare = RunScore("run", "c", 1.0, None)
    assert difference(scored(X), bare, "alignment", 0.95).interval is None
    assert difference(bare, RunScore("run", "d", None, None), "alignment", 0.95).value is None
    same = difference(scored(X), scored(X, "e"), "alignment", 0.95)
    assert (same.value, same.confidence) == (0, None)
    assert same.interval is not None
    assert same.interval.standard_error == 0


def test_the_most_faithful_comes_first_and_the_undefined_last() -> None:
    rows = [RunScore("r", name, value, None) for name, value in (("a", 0.5), ("b", None), ("c", 0.1))]
    assert [row.encoding for row in rank_scores(rows, "stress_scaled")] == ["c", "a", "b"]
    assert [row.encoding for row in rank_scores(rows, "alignment")] == ["a", "c", "b"]
