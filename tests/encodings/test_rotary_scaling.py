from collections.abc import Callable

import numpy as np
import pytest

from posgeom.encodings.rotary_scaling import DynamicNTK, Linear, Llama3, LongRope, Proportional, Scaling, Yarn
from posgeom.errors import EncodingError

PLAIN = 1e4 ** (-np.arange(0, 16, 2) / 16)


def test_every_scaling_has_its_name_and_source() -> None:
    assert list(Scaling.choices) == ["linear", "dynamic", "alpha", "yarn", "longrope", "llama3", "proportional"]
    assert all(choice.source and choice.__doc__ for choice in Scaling.choices.values())


def test_linear_is_interpolation_of_positions() -> None:
    omega, attention = Linear(factor=4).frequencies(16, 1e4, 99)
    np.testing.assert_allclose(8 * omega, 2 * PLAIN)
    assert attention == 1


def test_a_factor_of_one_changes_nothing() -> None:
    ones = (1.0,) * 8
    scalings = [
        Linear(1),
        DynamicNTK(1, 640),
        Yarn(1, 64),
        LongRope(ones, ones, 64, 1),
        Llama3(1, original_length=64),
        Proportional(1),
    ]
    for scaling in scalings:
        omega, attention = scaling.frequencies(16, 1e4, 640)
        np.testing.assert_allclose(omega, PLAIN, rtol=1e-14)
        assert attention == 1


def test_dynamic_at_a_fixed_length() -> None:
    fixed, free = DynamicNTK(2, 64, length=256), DynamicNTK(2, 64)
    np.testing.assert_array_equal(fixed.frequencies(16, 1e4, 99)[0], free.frequencies(16, 1e4, 256)[0])
    # The lowest frequency is interpolated by exactly factor * ratio - factor + 1, which is what the power is for.
    omega = free.frequencies(16, 1e4, 256)[0]
    assert PLAIN[-1] / omega[-1] == pytest.approx(2 * 4 - 1)
    assert omega[0] == 1


def test_yarn_attention_factors() -> None:
    assert Yarn(4, 64, attention_factor=1.5).frequencies(16, 1e4, 9)[1] == 1.5
    both = Yarn(40, 64, mscale=0.7, mscale_all_dim=0.5).frequencies(16, 1e4, 9)[1]
    assert both == pytest.approx((0.07 * np.log(40) + 1) / (0.05 * np.log(40) + 1))
    assert Yarn(0.5, 64).frequencies(16, 1e4, 9)[1] == 1


def test_yarn_ramp_without_rounding_and_of_no_width() -> None:
    low, high = Yarn(4, 2048, truncate=False).ramp(64, 1e4)
    assert 8 < low < 9
    assert 20 < high < 21
    narrow, _ = Yarn(4, 2048, beta_fast=8, beta_slow=8, truncate=False).frequencies(64, 1e4, 9)
    ratio = narrow / 1e4 ** (-np.arange(0, 64, 2) / 64)
    assert set(np.round(ratio, 12)) == {1.0, 0.25}


def test_longrope_takes_the_set_for_the_length() -> None:
    short, long = tuple(1 + 0.1 * i for i in range(8)), tuple(2.0 + i for i in range(8))
    scaling = LongRope(short, long, original_length=64, factor=8)
    for length, factors in ((64, short), (65, long)):
        omega, attention = scaling.frequencies(16, 1e4, length)
        np.testing.assert_allclose(omega * factors, PLAIN)
        assert attention == pytest.approx(np.sqrt(1 + np.log(8) / np.log(64)))
    assert LongRope(short, long, 64, 8, attention_factor=1.0).frequencies(16, 1e4, 9)[1] == 1


def test_llama3_is_continuous_between_its_bands() -> None:
    omega, _ = Llama3(8, original_length=8192).frequencies(4096, 5e5, 9)
    ratio = omega / 5e5 ** (-np.arange(0, 4096, 2) / 4096)
    assert ratio[0] == 1
    assert ratio[-1] == pytest.approx(1 / 8)
    assert (np.diff(ratio) <= 1e-15).all()
    assert np.abs(np.diff(ratio)).max() < 0.01


def test_proportional_leaves_low_frequencies_out() -> None:
    omega, _ = Proportional(0.5, factor=2).frequencies(16, 1e4, 9)
    np.testing.assert_allclose(omega[:4], PLAIN[:4] / 2)
    assert not omega[4:].any()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Linear(0), "linear scaling, factor 0: expected a positive number"),
        (lambda: Linear(float("nan")), "factor nan"),
        (lambda: DynamicNTK(2, 0), "original_length 0"),
        (lambda: DynamicNTK(2, 64).frequencies(2, 1e4, 640), "at least 4 rotated channels, got 2"),
        (lambda: DynamicNTK(1e80, 1).frequencies(4, 1e60, 640), "base "),
        (lambda: Yarn(4, 64, beta_fast=1, beta_slow=2), "beta_fast 1: expected at least beta_slow 2"),
        (lambda: Yarn(4, 64, mscale=1.0), "give both or neither"),
        (lambda: Yarn(4, 64).frequencies(16, 1.0, 9), "base above 1"),
        (lambda: LongRope((1.0,), (1.0,), 64, 2).frequencies(16, 1e4, 9), "short_factor has 1 entries: .* 8"),
        (lambda: LongRope((1.0,) * 8, (1.0,), 64, 2).frequencies(16, 1e4, 99), "long_factor has 1 entries"),
        (lambda: LongRope((0.0,) * 8, (1.0,) * 8, 64, 2), "short_factor 0"),
        (lambda: LongRope((1.0,) * 8, (1.0,) * 8, 1, 2).frequencies(16, 1e4, 9), "original_length 1"),
        (lambda: Llama3(8, low_freq_factor=4, high_freq_factor=4), "expected more than low_freq_factor 4"),
        (lambda: Proportional(1.5).frequencies(16, 1e4, 9), "fraction 1.5: expected at most 1"),
    ],
)
def test_bad_options(make: Callable[[], object], message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        make()
