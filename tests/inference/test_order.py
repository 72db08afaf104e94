"""Monotonicity of a corpus's own distances, before and after noise is taken out."""

import numpy as np
import pytest

from posgeom.estimation.build import geometry
from posgeom.inference.order import corpus_order
from posgeom.inference.significance import Significance
from posgeom.simulation.synthetic import sample_counts

M = 14


def with_rank(rank: int) -> Significance:
    return Significance((), rank, 0.05, 128, None)


def violation_rate(d: np.ndarray) -> float:
    lag = np.abs(np.arange(M)[:, None] - np.arange(M))
    triples = (lag[:, :, None] < lag[:, None, :]) & (lag[:, :, None] > 0)
    return float((triples & (d[:, :, None] > d[:, None, :] + 1e-9 * d.max())).sum() / triples.sum())


def test_a_drift_in_noise_is_put_in_order() -> None:
    rng = np.random.default_rng(0)
    trend = np.linspace(-1, 1, M)[:, None] * rng.normal(size=300) * 0.25
    truth = np.exp(trend) / np.exp(trend).sum(axis=1, keepdims=True)
    shape = geometry(sample_counts(truth, np.full(M, 3000), n_folds=8, rng=rng))
    order = corpus_order(shape, with_rank(1))
    assert shape.crossval is not None
    assert order.plugin == pytest.approx(violation_rate(shape.plugin.values))
    assert order.crossval == pytest.approx(violation_rate(shape.crossval.values))
    axis = shape.mds(1).coordinates[:, 0]
    assert order.significant == pytest.approx(violation_rate(np.abs(axis[:, None] - axis)))
    assert order.plugin is not None
    assert order.crossval is not None
    assert order.significant is not None
    assert order.significant < min(order.plugin, order.crossval)


def test_what_is_not_known_is_none() -> None:
    rng = np.random.default_rng(0)
    counts = sample_counts(rng.dirichlet(np.ones(10), M), np.full(M, 300), n_folds=4, rng=rng)
    shape = geometry(counts)
    assert corpus_order(shape, None).significant is None
    assert corpus_order(shape, with_rank(0)).significant is None
    plugin = corpus_order(geometry(counts, estimator="plugin"), with_rank(2))
    assert (plugin.crossval, plugin.significant) == (None, None)
    assert plugin.plugin is not None
    two = geometry(sample_counts(np.eye(3)[:2], np.full(2, 300), n_folds=4, rng=rng))
    assert corpus_order(two, None).plugin is None  # no triples
