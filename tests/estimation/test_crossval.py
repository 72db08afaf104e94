from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import GeometryError
from posgeom.estimation.crossval import Split, balanced_splits, crossval_gram, squared_distances
from posgeom.estimation.fold_products import depth_of_groups
from posgeom.simulation.synthetic import sample_counts
from tests.conftest import make_counts


def test_few_folds_give_every_split_once() -> None:
    splits = balanced_splits([0, 1, 2, 3], 100, seed=0)
    assert {frozenset([s.a, s.b]) for s in splits} == {
        frozenset([a, tuple(sorted({0, 1, 2, 3} - set(a)))]) for a in combinations(range(4), 2)
    }
    assert len(splits) == 3


def test_odd_folds_give_halves_off_by_one() -> None:
    splits = balanced_splits([0, 2, 5], 100, seed=0)
    assert sorted(sorted([s.a, s.b]) for s in splits) == [[(0,), (2, 5)], [(0, 2), (5,)], [(0, 5), (2,)]]


@pytest.mark.parametrize("n_folds", [10, 11, 40])
def test_many_folds_give_distinct_balanced_splits(n_folds: int) -> None:
    splits = balanced_splits(list(range(n_folds)), 20, seed=3)
    assert len({s.a for s in splits}) == 20
    for s in splits:
        assert sorted([*s.a, *s.b]) == list(range(n_folds))
        assert abs(len(s.a) - len(s.b)) <= 1
    assert splits == balanced_splits(list(range(n_folds)), 20, seed=3)
    assert splits != balanced_splits(list(range(n_folds)), 20, seed=4)


def test_one_fold_is_an_error_with_the_way_out() -> None:
    with pytest.raises(GeometryError, match="--estimator plugin"):
        balanced_splits([3], 20, seed=0)


def crossval_squared(
    counts: PositionCounts, positions: np.ndarray, splits: list[Split], depth: int | None
) -> np.ndarray:
    return squared_distances(crossval_gram(counts, positions, splits, depth))


def slow_squared(dense: np.ndarray, splits: list[Split], depth: int | None, vocab_size: int) -> np.ndarray:
    """Cell by cell over full rows, empty positions as the uniform distribution."""
    n = dense.shape[1]

    def roots(half: tuple[int, ...]) -> np.ndarray:
        counts = dense[list(half)].sum(axis=0)
        out = np.zeros((n, vocab_size))
        for i in range(n):
            total = counts[i].sum()
            for v in range(vocab_size):
                c = counts[i, v] if v < dense.shape[2] else 0
                if depth is None:
                    out[i, v] = np.sqrt(c / total if total else 1 / vocab_size)
                elif total == 0:
                    x = np.arange(depth + 1)
                    out[i, v] = (binom(depth, 1 / vocab_size).pmf(x) * np.sqrt(x / depth)).sum()
                else:
                    x = np.arange(depth + 1)
                    out[i, v] = (hypergeom(total, c, depth).pmf(x) * np.sqrt(x / depth)).sum()
        return out

    gram = np.zeros((n, n))
    for split in splits:
        a, b = roots(split.a), roots(split.b)
        gram += (a @ b.T + b @ a.T) / 2 / len(splits)
    squared = np.diag(gram)[:, None] + np.diag(gram) - 2 * gram
    np.fill_diagonal(squared, 0)
    return squared


@pytest.mark.parametrize("depth", [None, 7])
@pytest.mark.parametrize("empty", [False, True])
def test_agrees_with_the_slow_form(depth: int | None, empty: bool) -> None:
    rng = np.random.default_rng(0)
    dense = rng.poisson(rng.gamma(0.5, 2, (1, 5, 9)) + 0.5, (4, 5, 9))
    if empty:
        dense[:, 2] = 0
    counts = make_counts(dense, vocab_size=12)
    splits = balanced_splits([0, 1, 2, 3], 3, seed=0)
    got = crossval_squared(counts, np.arange(5), splits, depth)
    np.testing.assert_allclose(got, slow_squared(dense, splits, depth, 12), atol=1e-10)


def zipf_with_drift(n_positions: int, vocab_size: int, n_drifting: int, drift: float) -> np.ndarray:
    """A Zipf vocabulary whose frequent tokens drift smoothly over the positions."""
    trend = np.zeros(vocab_size)
    trend[:n_drifting] = np.random.default_rng(7).normal(size=n_drifting)
    time = np.linspace(-1, 1, n_positions)[:, None]
    weights = np.exp(drift * time * trend) / (np.arange(vocab_size) + 2.7)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@pytest.mark.slow
@pytest.mark.parametrize("n_documents", [2000, 8000, 25_000])
def test_known_truth(n_documents: int) -> None:
    """Plug-in distances are many times the truth; cross-validated ones are it, up to their sampling error."""
    truth = zipf_with_drift(12, 30_522, 100, 0.6)
    upper = np.triu_indices(12, 1)

    def mean_squared(roots: np.ndarray) -> float:
        return float(((roots[:, None] - roots[None]) ** 2).sum(axis=2)[upper].mean())

    true_mean = mean_squared(np.sqrt(truth))
    assert true_mean == pytest.approx(0.02, abs=0.005)
    rng = np.random.default_rng(1)
    splits = balanced_splits(list(range(10)), 20, seed=0)
    crossval, plugin = [], []
    for _ in range(8):
        counts = sample_counts(truth, np.full(12, n_documents), n_folds=10, rng=rng)
        crossval.append(crossval_squared(counts, np.arange(12), splits, None)[upper].mean())
        plugin.append(mean_squared(np.sqrt(counts.matrix().toarray() / n_documents)))
    standard_error = np.std(crossval, ddof=1) / np.sqrt(len(crossval))
    assert min(plugin) > 10 * true_mean
    assert abs(np.mean(crossval) - true_mean) < 4 * standard_error
    assert standard_error < 0.15 * true_mean


def test_unequal_depth_is_distance_without_rarefaction_and_none_with_it() -> None:
    rng = np.random.default_rng(11)
    row = 1 / (np.arange(30_522) + 2.7)
    truth = np.stack([row / row.sum()] * 2)
    full, common = [], []
    for _ in range(8):
        counts = sample_counts(truth, np.array([20_000, 500]), n_folds=10, rng=rng)
        splits = balanced_splits(list(range(10)), 20, seed=0)
        full.append(crossval_squared(counts, np.arange(2), splits, None)[0, 1])
        depth = min(int(depth_of_groups(counts, (split.a, split.b)).min()) for split in splits)
        common.append(crossval_squared(counts, np.arange(2), splits, depth)[0, 1])
    assert np.mean(full) > 0.1
    assert abs(np.mean(common)) < 4 * np.std(common, ddof=1) / np.sqrt(len(common)) + 1e-3
    assert abs(np.mean(common)) < 0.03
