"""Scores from moments, against formulas of residuals."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import pearsonr

from posgeom.scores.moments import (
    SCORES,
    Moments,
    pearson_of_moments,
    scores_of_moments,
    slopes_of_moments,
    stress_of_moments,
)
from posgeom.scores.stress import stress_of_pairs


def test_exact_distances_have_the_scores_of_residuals() -> None:
    rng = np.random.default_rng(0)
    e, d = rng.random((5, 200)) + 0.1, rng.random(200) + 0.1
    found = scores_of_moments(Moments.of_pairs(e, d, d**2))
    assert found.shape == (len(SCORES), 5)
    for k, row in enumerate(e):
        c = (row @ d) / (row @ row)
        residual, scaled = ((row - d) ** 2).sum(), ((c * row - d) ** 2).sum()
        known = [residual / (d**2).sum(), scaled / (d**2).sum(), c, np.sqrt(residual / (row**2).sum())]
        np.testing.assert_allclose(found[:, k], [*known, pearsonr(row, d).statistic], rtol=1e-10)
        plain = stress_of_pairs(row, d)
        stresses = np.array([plain.raw, plain.scaled, plain.scale, plain.stress_1], float)
        np.testing.assert_allclose(found[:4, k], stresses, rtol=1e-11)


@pytest.mark.parametrize("factor", [1e-5, 1.0, 3e4])
def test_slopes(factor: float) -> None:
    rng = np.random.default_rng(4)
    moments = Moments.of_pairs(factor * rng.random((3, 300)), *(rng.random(300) + 0.1,) * 2)
    moments = replace(moments, d2=moments.d**2 + 0.05)
    slopes = slopes_of_moments(moments)
    for field, slope in (("ed", slopes.by_ed), ("d", slopes.by_d), ("d2", slopes.by_d2)):
        step = 1e-6 * np.mean(getattr(moments, field))
        up, down = (
            scores_of_moments(replace(moments, **{field: getattr(moments, field) + sign * step})) for sign in (1, -1)
        )
        scale = np.abs(scores_of_moments(moments)) / step
        np.testing.assert_allclose(slope / scale, (up - down) / (2 * step) / scale, rtol=1e-5, atol=1e-10)


def test_slopes_where_there_are_none() -> None:
    e, d = np.array([[1.0, 2.0, 3.0]]), np.array([0.3, 0.4, 0.5])
    flat = slopes_of_moments(replace(Moments.of_pairs(e, d, d**2), d2=np.array([0.16])))
    assert np.isnan(flat.by_ed[4]).all()  # no spread, no correlation
    exact = slopes_of_moments(Moments.of_pairs(e, e[0], e[0] ** 2))
    assert np.isnan(exact.by_ed[3]).all()  # a root of nothing
    assert np.isfinite(exact.by_ed[:3]).all()
    opposed = slopes_of_moments(Moments.of_pairs(e, -d, d**2))
    assert np.isnan(opposed.by_ed[1:3]).all()  # stuck at 1
    none = slopes_of_moments(Moments.of_pairs(e, d * 0, np.full(3, -0.1)))
    assert np.isnan(none.by_ed[:3]).all()
    nowhere = slopes_of_moments(Moments.of_pairs(e, d * 0, d * 0))
    assert np.isnan([nowhere.by_ed, nowhere.by_d, nowhere.by_d2]).all()


def test_a_score_does_not_depend_on_what_is_scored_beside_it() -> None:
    rng = np.random.default_rng(1)
    e, d = rng.random((9, 1013)), rng.random(1013)
    together = scores_of_moments(Moments.of_pairs(e, d, d**2))
    for k in range(9):
        alone = scores_of_moments(Moments.of_pairs(e[k : k + 1].copy(), d, d**2))
        np.testing.assert_array_equal(alone[:, 0], together[:, k])


def test_pairs_of_several_geometries_together() -> None:
    rng = np.random.default_rng(3)
    e, d = rng.random((2, 3, 50)), rng.random((2, 50))
    pooled = Moments.pooled([Moments.of_pairs(e[k], d[k], d[k] ** 2) for k in (0, 1)])
    together = Moments.of_pairs(np.concatenate(e, axis=1), d.ravel(), d.ravel() ** 2)
    np.testing.assert_allclose(scores_of_moments(pooled), scores_of_moments(together), rtol=1e-10)


@pytest.mark.parametrize("factor", [1e-6, 0.5, 1024.0])
def test_scaling_an_encoding(factor: float) -> None:
    rng = np.random.default_rng(2)
    e, d = rng.random((3, 400)), rng.random(400)
    squared = d**2 - 0.05
    a, b = (scores_of_moments(Moments.of_pairs(x, d, squared)) for x in (e, factor * e))
    np.testing.assert_allclose(a[1], b[1], rtol=1e-12)
    np.testing.assert_allclose(a[2], b[2] * factor, rtol=1e-12)
    np.testing.assert_allclose(a[4], b[4], rtol=1e-9)


def test_what_is_undefined_is_nan() -> None:
    d = np.array([0.3, 0.4, 0.5])
    nothing = stress_of_moments(Moments.of_pairs(np.zeros((1, 3)), d, d**2))
    assert nothing["raw"][0] == 1
    assert np.isnan([nothing[name][0] for name in ("scaled", "scale", "stress_1")]).all()
    e = np.array([[1.0, 2.0, 3.0]])
    below = stress_of_moments(Moments.of_pairs(e, d * 0, np.full(3, -0.1)))
    assert np.isnan([below[name][0] for name in ("raw", "scaled", "scale")]).all()
    negative = stress_of_moments(Moments.of_pairs(e, -d, d**2))
    assert negative["scaled"][0] == 1  # no positive scale is better than none
    assert np.isnan(negative["scale"][0])
    assert np.isnan(pearson_of_moments(Moments.of_pairs(np.ones((1, 3)), d, d**2))[0])
    assert np.isnan(pearson_of_moments(Moments.of_pairs(e, d, d**2 - 0.2))[0])  # less spread than noise
    over = Moments.of_pairs(e, d, np.full(3, (d**2).mean()) - 0.004)
    assert pearson_of_moments(over)[0] > 1  # an estimate may be
