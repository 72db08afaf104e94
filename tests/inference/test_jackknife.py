"""The jackknife, against closed forms and new samples."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import t as student

from posgeom.inference.jackknife import Estimate, Replicates, jackknife

X = np.random.default_rng(0).normal(3, 1, 10)


def of_mean(values: np.ndarray) -> Replicates:
    return jackknife(lambda kept: values[list(kept)].mean(), len(values))[0]


def test_the_error_of_a_mean_is_the_usual_one() -> None:
    known = of_mean(X).estimate
    assert known.value == pytest.approx(X.mean())
    assert known.standard_error == pytest.approx(X.std(ddof=1) / np.sqrt(10))
    assert known.degrees_of_freedom == 9
    interval = known.interval(0.9)
    assert interval is not None
    reach = student.ppf(0.95, 9) * X.std(ddof=1) / np.sqrt(10)
    assert (interval.low, interval.high) == pytest.approx((X.mean() - reach, X.mean() + reach))
    assert of_mean(X).bias_corrected.value == pytest.approx(X.mean())


def test_the_bias_of_a_plug_in_variance_is_taken_out_exactly() -> None:
    found = jackknife(lambda kept: X[list(kept)].var(), 10)[0]
    assert found.estimate.value == pytest.approx(X.var())
    assert found.bias_corrected.value == pytest.approx(X.var(ddof=1))
    assert found.bias_corrected.standard_error == found.estimate.standard_error


def test_several_numbers_at_once() -> None:
    def both(kept: Sequence[int]) -> list[float]:
        return [X[list(kept)].mean(), np.nan if 3 in kept else 1.0]

    mean, undefined = jackknife(both, 10)
    assert mean.estimate == of_mean(X).estimate
    assert undefined.estimate == Estimate(None)


def test_intervals_cover_as_they_say() -> None:
    """Of the ratio of two means, which is no mean."""
    rng, held = np.random.default_rng(1), 0
    for _ in range(400):
        a, b = rng.normal(2, 0.5, 12), rng.normal(4, 0.5, 12)
        found = jackknife(lambda kept, a=a, b=b: a[list(kept)].mean() / b[list(kept)].mean(), 12)[0]  # type: ignore[misc]
        interval = found.estimate.interval(0.95)
        assert interval is not None
        held += interval.low <= 0.5 <= interval.high
    assert 0.92 <= held / 400 <= 0.98


def test_common_noise_cancels_in_pairs() -> None:
    shift = np.linspace(0.1, 0.2, 10)
    gap = of_mean(X).minus(of_mean(X + shift)).estimate
    assert gap.value == pytest.approx(-0.15)
    assert gap.standard_error == pytest.approx(shift.std(ddof=1) / np.sqrt(10))
    apart = of_mean(X).estimate.minus(of_mean(X + shift).estimate)
    errors = [x.std(ddof=1) / np.sqrt(10) for x in (X, X + shift)]
    assert apart.standard_error == pytest.approx(np.hypot(*errors))
    assert of_mean(X).minus(of_mean(X + 1e-15)).estimate.standard_error == 0


def test_what_is_not_known_is_none() -> None:
    nothing = Replicates(np.nan, np.full(5, np.nan))
    assert (nothing.estimate, nothing.bias_corrected) == (Estimate(None), Estimate(None))
    bare = Replicates(0.3, np.full(5, np.nan))
    assert bare.estimate == bare.bias_corrected == Estimate(0.3)
    assert bare.estimate.interval(0.95) is None
    assert of_mean(X).estimate.interval(None) is None
    assert Estimate(None).minus(Estimate(1.0)).value is None
    assert Estimate(2.0).minus(Estimate(0.5, 0.1, 4)) == Estimate(1.5)
    huge = Replicates(1e300, np.array([1e300, -1e300, 1e300]))
    assert huge.estimate == Estimate(1e300)
