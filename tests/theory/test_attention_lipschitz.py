"""Lemma 16's constant against measured changes of attention."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import GeometryError
from posgeom.estimation.build import geometry
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.models.query_key import QueryKey
from posgeom.simulation.synthetic import sample_counts
from posgeom.theory.attention_lipschitz import attention_lipschitz
from posgeom.theory.verdict import Verdict
from tests.conftest import make_counts

N, V, D = 5, 12, 6


def projections(scale: float = 1.0, seed: int = 0) -> QueryKey:
    rng = np.random.default_rng(seed)
    return QueryKey(
        scale * rng.normal(size=(4, 3, D)),
        rng.normal(size=(2, 3, D)),
        rng.normal(size=(4, 3)),
        rng.normal(size=(2, 3)),
    )


def counts_of(seed: int = 0) -> PositionCounts:
    rng = np.random.default_rng(seed)
    return sample_counts(rng.dirichlet(np.full(V, 0.3), size=N), np.full(N, 500), n_folds=6, rng=rng)


@pytest.mark.parametrize("scale", [0.01, 1, 30])
def test_agrees_with_loops_and_is_never_exceeded(scale: float) -> None:
    for seed in range(10):
        counts, qk, table = counts_of(seed), projections(scale, seed), np.random.default_rng(seed).normal(size=(V, D))
        result = attention_lipschitz(counts, table, qk)
        mu = counts.matrix().toarray() / counts.depth[:, None]
        e = mu @ table[counts.distinct_tokens]
        worst = 0.0
        for head in range(4):
            group = head // 2
            keys = [qk.key[group] @ x + qk.key_bias[group] for x in e]
            scores = np.array([[(qk.query[head] @ x + qk.query_bias[head]) @ k / np.sqrt(3) for k in keys] for x in e])
            weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
            for i in range(N):
                for j in range(i):
                    d = np.linalg.norm(np.sqrt(mu[i]) - np.sqrt(mu[j]))
                    worst = max(worst, np.abs(weights[i] - weights[j]).sum() / d)
        assert result.measured == pytest.approx(worst)
        assert result.measured <= result.sharp <= result.by_norms < result.with_vocabulary
        assert result.verdict is Verdict.HOLDS
        assert (result.n_heads, result.n_pairs, result.n_violations) == (4, 10, 0)


def test_a_wrong_constant_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pairs themselves are compared: with distances that are too small the constant is exceeded."""
    one = np.zeros((6, 2, 2), np.int64)
    one[:, 0], one[:, 1] = (900, 100), (100, 900)
    counts = make_counts(one)
    table = np.array([[1.0], [-1.0]])
    qk = QueryKey(np.ones((1, 1, 1)), np.ones((1, 1, 1)), np.zeros((1, 1)), np.zeros((1, 1)))
    assert attention_lipschitz(counts, table, qk).verdict is Verdict.HOLDS
    real = geometry(counts, estimator="plugin")
    closer = DistanceMatrix.from_squared(real.plugin.squared / 100, real.positions, "hellinger", "plugin")
    near = replace(real, plugin=closer)
    monkeypatch.setattr(import_module("posgeom.theory.attention_lipschitz"), "geometry", lambda *_, **__: near)
    assert attention_lipschitz(counts, table, qk).verdict is Verdict.FALSE


def test_errors() -> None:
    with pytest.raises(GeometryError, match="does not fit projections of width 6"):
        attention_lipschitz(counts_of(), np.ones((V, 3)), projections())
    same = np.ones((6, 3, 2), np.int64)
    with pytest.raises(GeometryError, match="one distribution"):
        attention_lipschitz(make_counts(same), np.ones((2, D)), projections())
