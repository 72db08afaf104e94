"""The root whose expectation is that of the truth, by integration over the noise."""

import numpy as np
import pytest

from posgeom.geometry.unbiased_root import root_table, unbiased_root

Z = np.linspace(-8, 8, 4001)
WEIGHT = np.exp(-(Z**2) / 2) / np.exp(-(Z**2) / 2).sum()
APART = np.concatenate([[0], np.linspace(0.05, 30, 600)])
"""Truths, in deviations from 0."""


def biases(growth: float, assumed: float | None = None) -> np.ndarray:
    """Of the root, in roots of the true deviation; the noise's variance is 1 + growth t."""
    truth = (growth * APART**2 + np.sqrt(growth**2 * APART**4 + 4 * APART**2)) / 2
    y = truth[:, None] + np.sqrt(1 + growth * truth)[:, None] * Z
    deviation = np.sqrt(1 + growth * np.maximum(y, 0))
    roots = np.sqrt(deviation) * unbiased_root(y / deviation, growth if assumed is None else assumed)
    return np.asarray((roots @ WEIGHT - np.sqrt(truth)) / (1 + growth * truth) ** 0.25)


@pytest.mark.parametrize("growth", [0.0, 0.03, 0.2, 1.0, 5.0])
def test_its_bias(growth: float) -> None:
    found = np.abs(biases(growth))
    plain = WEIGHT @ np.sqrt(np.maximum(Z, 0))
    assert plain == pytest.approx(0.411, abs=1e-3)  # what the correction is for
    assert found[0] < 0.06
    assert found.max() < 0.165
    assert found[APART >= 1].max() < 0.045
    assert found[APART >= 3].max() < 0.015


def test_growth_matters() -> None:
    """With a deviation estimated from the number itself, the root for constant noise is too small on average."""
    some = (APART > 1.5) & (APART < 4)
    assert np.abs(biases(0.5)[some].mean()) < 0.005
    assert biases(0.5, assumed=0.0)[some].mean() < -0.015


def test_far_out() -> None:
    large = np.array([50.0, 1e3, 1e6])
    np.testing.assert_allclose(unbiased_root(large), np.sqrt(large), rtol=1e-3)
    around = unbiased_root(np.array([16 - 1e-6, 16 + 1e-6]))
    assert around[0] == pytest.approx(around[1], abs=0.02)
    low = unbiased_root(np.array([-1e9, -100.0, -6.0]))
    assert (low == low[0]).all()
    inner = unbiased_root(np.linspace(3.5, 40, 400))
    assert (np.diff(inner) > 0).all()
    assert np.isfinite(unbiased_root(np.linspace(-10, 50, 999))).all()


def test_growths_are_those_of_a_grid() -> None:
    assert root_table(0.31)[1] is root_table(0.29)[1]
    assert root_table(1e-9)[1] is root_table(1e-4)[1]
    assert root_table(1e9)[1] is root_table(np.inf)[1]
    np.testing.assert_allclose(root_table(1e-9)[1], root_table(0)[1], atol=0.1)
