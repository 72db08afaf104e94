"""A root of noisy numbers whose expectation is the root of the truth.

The square root of a noisy number is biased: sqrt(max(x, 0)) is above 0 on average where the truth is 0. What is used
instead is right on average, in roots of the noise's standard deviation, to 0.05 at exactly 0 (a clipped root is 0.41
too large there), to 0.16 below one deviation, 0.04 from there on, and 0.01 from three deviations on. Noise that grows
with the truth is allowed for: where its deviation is estimated from the number itself, the two err together.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

_RIDGE, _AT_ZERO = 0.013, 30.0
"""Weight of the variance of the root, and of its bias at exactly 0, against that of its squared bias anywhere."""
_FROM, _SERIES_FROM = -6.0, 16.0
_STEPS, _LEAST, _MOST = 4, -24, 12
"""Growths for which there is a table: exp(k / 4), k from -24 to 12."""


def unbiased_root(x: NDArray[np.float64], growth: float = 0.0) -> NDArray[np.float64]:
    """A function g with E sqrt(s) g(x) close to sqrt(t), x = y / s, y normal about t >= 0.

    No function attains it exactly, since a root has no power series at 0. Below 16, g is piecewise linear and minimises
    squared bias plus a little variance; above, it is the Taylor series of the root.

    Parameters
    ----------
    x : ndarray of float
        In standard deviations s of the noise, as they are estimated: s^2 = 1 + growth max(y, 0).
    growth : float
        Variance of the noise at t is 1 + growth t, in units in which it is 1 at 0.

    Returns
    -------
    ndarray of float
    """
    knots, values = root_table(growth)
    large = np.maximum(x, _SERIES_FROM)
    return np.asarray(np.where(x >= _SERIES_FROM, _series(large), np.interp(x, knots, values)))


def root_table(growth: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Knots of the piecewise linear part of `unbiased_root`, and its values there, for the nearest growth on a grid."""
    if growth <= 0:
        return _table(0.0)
    exponent = round(float(np.clip(_STEPS * np.log(growth), _LEAST, _MOST)))
    return _table(float(np.exp(exponent / _STEPS)))


def _series(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.sqrt(x) + x**-1.5 / 8)


@cache
def _table(growth: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    knots = np.concatenate([np.linspace(_FROM, 8, 57), np.linspace(8, _SERIES_FROM, 17)[1:]])
    apart = np.concatenate([np.linspace(0, 1, 21) ** 2, np.linspace(1, 8, 50)[1:], np.linspace(8, 20, 40)[1:]])
    truths = (growth * apart**2 + np.sqrt(growth**2 * apart**4 + 4 * apart**2)) / 2  # so far from 0 in deviations
    z = np.linspace(-7, 7, 561)
    weight = np.exp(-(z**2) / 2)
    weight /= weight.sum()
    true_deviation = np.sqrt(1 + growth * truths)
    y = truths[:, None] + true_deviation[:, None] * z
    deviation = np.sqrt(1 + growth * np.maximum(y, 0))
    x, factor = y / deviation, np.sqrt(deviation / true_deviation[:, None])  # bias is told in roots of deviations
    is_beyond = x >= _SERIES_FROM
    beyond = np.where(is_beyond, factor * _series(np.maximum(x, _SERIES_FROM)), 0) @ weight
    # The hat functions of the two knots around each x.
    left = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, knots.size - 2)
    share = np.clip((x - knots[left]) / np.diff(knots)[left], 0, 1)
    hats = np.where(is_beyond, 0, factor) * np.stack([1 - share, share])
    rows = knots.size * np.arange(truths.size)[:, None]
    mean = np.zeros(truths.size * knots.size)
    second = np.zeros((knots.size, knots.size))
    for a in range(2):
        mean += np.bincount((rows + left + a).ravel(), (weight * hats[a]).ravel(), mean.size)
        for b in range(2):
            np.add.at(second, (left + a, left + b), weight * hats[a] * hats[b])
    mean = mean.reshape(truths.size, knots.size)
    roots = np.sqrt(truths / true_deviation)
    importance = np.ones(truths.size)
    importance[0] += _AT_ZERO
    curvature = np.diff(np.identity(knots.size), 2, axis=0)
    weighted = mean * importance[:, None]
    normal = weighted.T @ mean + _RIDGE * second + 1e-6 * truths.size * curvature.T @ curvature
    values = np.linalg.solve(normal, weighted.T @ (roots - beyond) + _RIDGE * mean.T @ roots)
    return knots, np.asarray(values)
