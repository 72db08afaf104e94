"""Distances from pairs of blocks of folds, against loops over cells and pairs."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from posgeom.errors import GeometryError
from posgeom.geometry import build
from posgeom.geometry import fold_pairs as module
from posgeom.geometry.build import geometry
from posgeom.geometry.distance_matrix import upper_pairs
from posgeom.geometry.fold_pairs import (
    MAX_BLOCKS,
    FoldPairs,
    block_depths,
    choose_blocks,
    fold_pairs,
    pairwise_mean,
    row_of_position,
)
from tests.conftest import make_counts

VOCAB = 12


def dense_counts(n_folds: int = 4, *, empty: bool = False, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    dense = rng.poisson(rng.gamma(0.5, 2, (1, 5, 9)) + 0.5, (n_folds, 5, 9))
    if empty:
        dense[:, 2] = 0
    return dense


def slow_roots(counts: np.ndarray, depth: int) -> np.ndarray:
    """Expected root of the share of every token among `depth` drawn; the uniform distribution where there are none."""
    x = np.arange(depth + 1)
    out = np.zeros((counts.shape[0], VOCAB))
    for i, row in enumerate(counts):
        for v in range(VOCAB):
            c = row[v] if v < row.size else 0
            law = hypergeom(row.sum(), c, depth) if row.sum() else binom(depth, 1 / VOCAB)
            out[i, v] = (law.pmf(x) * np.sqrt(x / depth)).sum()
    return out


def slow_kernel(dense: np.ndarray, blocks: list[tuple[int, ...]], depth: int) -> np.ndarray:
    roots = [slow_roots(dense[list(block)].sum(axis=0), depth) for block in blocks]
    pairs = list(combinations(range(dense.shape[1]), 2))
    return np.array(
        [
            [(roots[f][i] - roots[f][j]) @ (roots[g][i] - roots[g][j]) for i, j in pairs]
            for f, g in combinations(range(len(blocks)), 2)
        ]
    )


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("blocks", [[(0,), (1,), (2,), (3,)], [(0, 2), (1,), (3,)]])
def test_the_kernel_agrees_with_a_loop_over_cells(empty: bool, blocks: list[tuple[int, ...]]) -> None:
    dense = dense_counts(empty=empty)
    counts = make_counts(dense, vocab_size=VOCAB)
    got = fold_pairs(counts, np.arange(5), blocks, 6, scale=0.5)
    assert got is not None
    np.testing.assert_allclose(got.kernel, slow_kernel(dense, blocks, 6) / 2, atol=1e-10)
    np.testing.assert_array_equal(got.sample_sizes, dense.sum(axis=(0, 2)))
    mean = pairwise_mean(counts, np.arange(5), blocks, 6)
    np.testing.assert_allclose(upper_pairs(mean), got.mean * 2, atol=1e-12)
    np.testing.assert_array_equal(mean, mean.T)


def test_some_positions_only() -> None:
    dense = dense_counts(empty=True)
    counts = make_counts(dense, vocab_size=VOCAB)
    blocks: list[tuple[int, ...]] = [(k,) for k in range(4)]
    positions = np.array([1, 2, 4])
    assert row_of_position(counts, positions).tolist() == [0, 2, 1]
    got = fold_pairs(counts, positions, blocks, 5)
    assert got is not None
    np.testing.assert_allclose(got.kernel, slow_kernel(dense[:, positions], blocks, 5), atol=1e-10)


def random_pairs(n: int, size: int = 7) -> FoldPairs:
    kernel = np.random.default_rng(n).normal(size=(n * (n - 1) // 2, size))
    return FoldPairs(kernel, n, np.full(4, 10), 1.0)


@pytest.mark.parametrize("n", [4, 5, 9])
def test_leaving_blocks_out_choosing_and_weighting_them(n: int) -> None:
    pairs = random_pairs(n)
    terms = dict(zip(combinations(range(n), 2), pairs.kernel, strict=True))

    def mean_of(blocks: set[int]) -> np.ndarray:
        return np.asarray(np.mean([row for pair, row in terms.items() if set(pair) <= blocks], axis=0))

    everything = set(range(n))
    np.testing.assert_allclose(pairs.mean, mean_of(everything), atol=1e-14)
    for f in range(n):
        np.testing.assert_allclose(pairs.without(f), mean_of(everything - {f}), atol=1e-13)
        np.testing.assert_allclose(pairs.sums[f], sum(row for pair, row in terms.items() if f in pair), atol=1e-13)
    for f, g in combinations(range(n), 2):
        np.testing.assert_array_equal(pairs.of([g, f]), terms[f, g])
    np.testing.assert_allclose(pairs.of([3, 0, 1]), mean_of({0, 1, 3}), atol=1e-14)
    weights = np.random.default_rng(0).poisson(1, n) + (np.arange(n) < 2) * 1.0
    products = {(f, g): weights[f] * weights[g] for f, g in terms}
    slow = np.sum([products[pair] * row for pair, row in terms.items()], axis=0) / sum(products.values())
    np.testing.assert_allclose(pairs.weighted(weights), slow, atol=1e-13)
    np.testing.assert_allclose(pairs.weighted(np.ones(n)), pairs.mean, atol=1e-13)
    np.testing.assert_allclose(pairs.weighted((np.arange(n) != 2) * 1.0), pairs.without(2), atol=1e-13)


def test_the_order_of_folds_does_not_matter() -> None:
    dense = dense_counts(6, seed=3)
    order = np.random.default_rng(0).permutation(6)
    a, b = (geometry(make_counts(x), min_depth=1) for x in (dense, dense[order]))
    np.testing.assert_allclose(a.distances.squared, b.distances.squared, atol=1e-13)
    np.testing.assert_allclose(a.distances.corrected, b.distances.corrected, atol=1e-10)


@pytest.mark.parametrize(
    ("n_folds", "per_fold", "sizes"),
    [
        (2, 5, [1, 1]),
        (3, 5, [1, 1, 1]),
        (4, 5, [1] * 4),
        (7, 5, [1] * 7),  # half of them would be too few
        (8, 5, [2] * 4),
        (10, 5, [2] * 5),
        (12, 12, [2] * 6),
        (12, 25, [1] * 12),
        (18, 5, [5, 5, 4, 4]),
    ],
)
def test_small_folds_are_put_together(n_folds: int, per_fold: int, sizes: list[int]) -> None:
    counts = make_counts(np.full((n_folds, 2, 1), per_fold))
    blocks = choose_blocks(counts, n_folds * per_fold)
    assert [len(block) for block in blocks] == sizes
    assert sorted(sum(blocks, ())) == list(range(n_folds))
    np.testing.assert_array_equal(block_depths(counts, blocks), [[per_fold * k] * 2 for k in sizes])


@pytest.mark.parametrize("n_folds", [20, 21, 30, 39, 40, 64])
def test_many_folds_are_put_together(n_folds: int) -> None:
    blocks = choose_blocks(make_counts(np.full((n_folds, 2, 1), 100)), n_folds * 100)
    assert 10 <= len(blocks) <= MAX_BLOCKS
    assert sorted(sum(blocks, ())) == list(range(n_folds))


def test_empty_folds_are_in_no_block() -> None:
    dense = np.full((7, 2, 1), 100)
    dense[[1, 4]] = 0
    assert choose_blocks(make_counts(dense), 500) == [(0,), (2,), (3,), (5,), (6,)]
    with pytest.raises(GeometryError, match="documents in at least 2 folds, got 1"):
        choose_blocks(make_counts(dense[:2]), 100)
    with pytest.raises(GeometryError, match="1 fold: cross-validation needs at least 2"):
        choose_blocks(make_counts(dense[:1]), 100)


def test_pairs_that_take_too_much_memory_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = make_counts(dense_counts(5, seed=1) + 1)
    kept = build.geometry(counts, min_depth=1)
    assert kept.fold_pairs is not None
    monkeypatch.setattr(module, "_MAX_KERNEL_BYTES", kept.fold_pairs.kernel.nbytes - 1)
    bare = build.geometry(counts, min_depth=1)
    assert bare.fold_pairs is None
    assert bare.noise is None
    np.testing.assert_allclose(bare.distances.squared, kept.distances.squared, atol=1e-13)
    assert bare.distances.corrected is bare.distances.values
