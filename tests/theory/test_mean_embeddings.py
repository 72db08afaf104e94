"""H1 and H3 of Theorem 4 on corpora of known truth."""

from itertools import product

import numpy as np
import pytest

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import GeometryError
from posgeom.simulation.synthetic import sample_counts
from posgeom.theory.mean_embeddings import PairTest, mean_embedding_test, projected_embedding_test
from posgeom.theory.verdict import Verdict
from tests.conftest import make_counts

N, V, D = 6, 12, 5


def corpus(rows: np.ndarray, seed: int, depth: int | np.ndarray = 2000, n_folds: int = 10) -> PositionCounts:
    return sample_counts(
        rows, np.broadcast_to(depth, len(rows)).copy(), n_folds=n_folds, rng=np.random.default_rng(seed)
    )


def embedding(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(V, D))


def drifting() -> np.ndarray:
    rows = np.random.default_rng(1).dirichlet(np.full(V, 0.5), size=N)
    return np.asarray(rows)


def stationary() -> np.ndarray:
    return np.tile(np.random.default_rng(2).dirichlet(np.full(V, 0.5)), (N, 1))


def slow(counts: PositionCounts, table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Squared distances, jackknife errors and p-values by loops over folds, pairs and patterns."""
    folds = [matrix.toarray() for matrix in counts.fold_matrices]
    e = [c / c.sum(1, keepdims=True) @ table[counts.distinct_tokens] for c in folds]
    n, m = len(e), counts.n_positions
    pairs = [(i, j) for i in range(m) for j in range(i + 1, m)]

    def distance(i: int, j: int, some: list[int]) -> float:
        return float(np.mean([(e[f][i] - e[f][j]) @ (e[g][i] - e[g][j]) for f in some for g in some if f != g]))

    everything = list(range(n))
    squared = np.array([distance(i, j, everything) for i, j in pairs])
    left = np.array([[distance(i, j, [g for g in everything if g != f]) for i, j in pairs] for f in everything])
    errors = np.sqrt((n - 1) / n * ((left - left.mean(0)) ** 2).sum(0))

    def statistic(i: int, j: int, signs: tuple[int, ...]) -> float:
        deltas = [s * (e[f][i] - e[f][j]) for f, s in enumerate(signs)]
        return float(np.sum(np.sum(deltas, axis=0) ** 2) / np.sum(np.square(deltas)))

    patterns = [(1, *rest) for rest in product((1, -1), repeat=n - 1)]
    observed = np.array([statistic(i, j, patterns[0]) for i, j in pairs])
    flipped = np.array([[statistic(i, j, signs) for i, j in pairs] for signs in patterns])
    p_values, floor = np.empty(len(pairs)), 0.0
    for k in np.argsort(-observed):  # the largest first, each against those that are left
        left_over = flipped[:, observed <= observed[k]]
        floor = max(floor, float((left_over.max(axis=1) >= observed[k] * (1 - 1e-9)).mean()))
        p_values[k] = floor
    return squared, errors, p_values


def test_agrees_with_loops_over_folds_pairs_and_patterns() -> None:
    rows = stationary()
    rows[3:] = drifting()[3:]
    counts = corpus(rows, 3, np.array([300, 200, 250, 80, 300, 120]), n_folds=6)
    result, upper = mean_embedding_test(counts, embedding(), positions=np.arange(N)), np.triu_indices(N, 1)
    squared, errors, p_values = slow(counts, embedding())
    np.testing.assert_allclose(result.squared[upper], squared, atol=1e-12)
    np.testing.assert_allclose(result.standard_error[upper], errors, atol=1e-12)
    np.testing.assert_allclose(result.p_values[upper], p_values, atol=1e-12)
    assert p_values.max() > 0.05
    assert p_values.min() < 0.05


def test_holds_on_a_corpus_whose_positions_differ() -> None:
    result = mean_embedding_test(corpus(drifting(), 4), embedding())
    assert result.verdict is Verdict.HOLDS
    assert result.n_told_apart == result.n_pairs == N * (N - 1) // 2


def test_is_refused_on_a_stationary_corpus() -> None:
    result = mean_embedding_test(corpus(stationary(), 5), embedding())
    assert result.verdict is Verdict.NOISE
    assert result.n_told_apart == 0
    assert "0 of 15" in result.because


@pytest.mark.slow
def test_level_and_power_over_many_corpora() -> None:
    """At most 5 % of stationary corpora have any pair told apart, whatever the depths; where half are equal, too."""
    mixed = stationary()
    mixed[3:] = drifting()[3:]
    depth = np.array([60, 400, 100, 60, 200, 90])
    false_alarms = {"all equal": 0, "half equal": 0}
    power = 0
    n_corpora = 200
    for seed in range(n_corpora):
        one = mean_embedding_test(corpus(stationary(), seed, depth), embedding(), positions=np.arange(N))
        two = mean_embedding_test(corpus(mixed, seed, depth), embedding(), positions=np.arange(N))
        false_alarms["all equal"] += bool(one.told_apart.any())
        false_alarms["half equal"] += bool(two.told_apart[:3, :3].any())
        power += int(two.told_apart[3:, :].sum() > 0)
    most = n_corpora * 0.05 + 3 * np.sqrt(n_corpora * 0.05 * 0.95)
    assert false_alarms["all equal"] <= most, false_alarms
    assert false_alarms["half equal"] <= most, false_alarms
    assert power > 0.95 * n_corpora


@pytest.mark.slow
def test_unbiased_at_unequal_depths_without_rarefaction() -> None:
    """The mean over corpora is the truth: 0 between equal positions of depth 60 and 600, and not 0 else."""
    rows = stationary()
    rows[2] = drifting()[2]
    depth = np.array([60, 600, 60, 60, 60, 60])
    squared = np.array(
        [
            mean_embedding_test(corpus(rows, seed, depth), embedding(), positions=np.arange(N)).squared
            for seed in range(300)
        ]
    )
    truth = float(np.sum(((rows[0] - rows[2]) @ embedding()) ** 2))
    errors = squared.std(axis=0) / np.sqrt(300)
    assert abs(squared[:, 0, 1].mean()) < 4 * errors[0, 1]
    assert abs(squared[:, 0, 2].mean() - truth) < 4 * errors[0, 2]
    assert truth > 20 * errors[0, 2]


def m_of(query: np.ndarray, key: np.ndarray, counts: PositionCounts) -> PairTest:
    return projected_embedding_test(counts, embedding(), query, key)


def test_h3_is_h1_of_embeddings_seen_through_m() -> None:
    counts = corpus(drifting(), 6)
    rng = np.random.default_rng(7)
    query, key = rng.normal(size=(2, 4, D))
    seen = m_of(query, key, counts)
    direct = mean_embedding_test(counts, embedding() @ (query.T @ key).T)
    np.testing.assert_allclose(seen.squared, direct.squared, rtol=1e-9, atol=1e-12)
    assert seen.verdict is Verdict.HOLDS
    assert (seen.hypothesis, direct.hypothesis) == ("H3", "H1")


def test_h3_fails_where_m_is_blind_to_the_difference() -> None:
    """Not only M = 0: keys that see one direction, in which no token of the corpus lies, beyond round-off."""
    counts, rng = corpus(drifting(), 8), np.random.default_rng(9)
    flat = embedding()
    direction = rng.normal(size=D)
    direction /= np.linalg.norm(direction)
    flat -= np.outer(flat @ direction, direction)  # up to round-off
    key = np.outer(rng.normal(size=4), direction)
    query = rng.normal(size=(4, D))
    assert np.abs(flat @ key.T @ query).max() > 0
    blind = projected_embedding_test(counts, flat, query, key)
    assert blind.n_told_apart == 0
    assert blind.verdict is not Verdict.HOLDS
    assert mean_embedding_test(counts, flat).verdict is Verdict.HOLDS
    assert m_of(query * 0, key, counts).n_told_apart == 0


def test_equal_embeddings_of_all_tokens_tell_nothing_apart() -> None:
    assert mean_embedding_test(corpus(drifting(), 10), np.full((V, D), 0.1)).n_told_apart == 0


def test_errors() -> None:
    counts = corpus(drifting(), 11)
    with pytest.raises(GeometryError, match="no row for token"):
        mean_embedding_test(counts, embedding()[:4])
    with pytest.raises(GeometryError, match="not finite"):
        mean_embedding_test(counts, np.full((V, D), np.nan))
    with pytest.raises(GeometryError, match="do not fit an embedding of width 5"):
        projected_embedding_test(counts, embedding(), np.ones((2, 4)), np.ones((2, 4)))
    with pytest.raises(GeometryError, match="needs 6"):
        mean_embedding_test(corpus(drifting(), 12, n_folds=4), embedding())
    lone = np.zeros((6, 2, 3), np.int64)
    lone[:, 0, 0] = 5
    lone[0, 1, 1] = 5
    with pytest.raises(GeometryError, match="no sequence in some fold"):
        mean_embedding_test(make_counts(lone), np.ones((3, 2)), positions=np.arange(2))
