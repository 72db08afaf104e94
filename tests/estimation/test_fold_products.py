"""Products of folds, against loops over cells and pairs."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from posgeom.errors import GeometryError
from posgeom.estimation import fold_products as module
from posgeom.estimation.build import geometry
from posgeom.estimation.fold_products import FoldProducts, choose_fold_groups, depth_of_groups, fold_products
from posgeom.estimation.mds import double_centre
from tests.conftest import make_counts

VOCAB = 12


def dense_counts(n_folds: int = 4, *, empty: bool = False, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    dense = rng.poisson(rng.gamma(0.5, 2, (1, 5, 9)) + 0.5, (n_folds, 5, 9))
    if empty:
        dense[:, 2] = 0
    return dense


def slow_roots(counts: np.ndarray, depth: int | None) -> np.ndarray:
    """Expected root of the share of every token among `depth` drawn; the uniform distribution where there are none."""
    out = np.zeros((counts.shape[0], VOCAB))
    for i, row in enumerate(counts):
        for v in range(VOCAB):
            c = row[v] if v < row.size else 0
            if depth is None:
                out[i, v] = np.sqrt(c / row.sum() if row.sum() else 1 / VOCAB)
                continue
            x = np.arange(depth + 1)
            law = hypergeom(row.sum(), c, depth) if row.sum() else binom(depth, 1 / VOCAB)
            out[i, v] = (law.pmf(x) * np.sqrt(x / depth)).sum()
    return out


def slow_products(dense: np.ndarray, groups: list[tuple[int, ...]], depth: int | None) -> np.ndarray:
    """B_fg of every pair of groups."""
    roots = [slow_roots(dense[list(group)].sum(axis=0), depth) for group in groups]
    out = []
    for f, g in combinations(range(len(groups)), 2):
        first, second = roots[f], roots[g]
        out.append(double_centre(np.einsum("ijv,ijv->ij", first[:, None] - first, second[:, None] - second)))
    return np.array(out)


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("depth", [6, None])
def test_they_agree_with_loops_over_cells(
    kept: bool, empty: bool, depth: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not kept:  # two rows at a time
        monkeypatch.setattr(module, "_most_kept", lambda: 0)
        monkeypatch.setattr(module, "_BLOCK_BYTES", 8 * 3 * 5 * 2)
    dense, groups = dense_counts(empty=empty), [(0, 2), (1,), (3,)]
    found = fold_products(make_counts(dense, vocab_size=VOCAB), np.arange(5), groups, depth, scale=0.5)
    slow = slow_products(dense, groups, depth) / 2
    blocks = [(part, block.copy()) for part, block in found.row_blocks()]
    assert len(blocks) == (1 if kept else 3)
    np.testing.assert_allclose(np.concatenate([block for _, block in blocks], axis=1), slow, atol=1e-12)
    np.testing.assert_allclose(found.centred(), slow.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.centred([0, 2]), slow[1], atol=1e-12)
    np.testing.assert_allclose(found.inner_products, np.einsum("pij,qij->pq", slow, slow), atol=1e-12)
    squared = found.squared()
    np.testing.assert_allclose(double_centre(squared), slow.mean(axis=0), atol=1e-12)
    assert not np.diagonal(squared).any()
    upper = np.triu_indices(5, 1)
    means = [squared_of(product)[upper].mean() for product in slow]
    np.testing.assert_allclose(found.mean_squared, means, atol=1e-12)


def squared_of(centred: np.ndarray) -> np.ndarray:
    own = np.diagonal(centred)
    return np.asarray(own[:, None] + own - 2 * centred)


def test_positions_without_data_are_one_point() -> None:
    dense = dense_counts(empty=True)
    dense[:, 4] = 0
    found = fold_products(make_counts(dense, vocab_size=VOCAB), np.arange(5), [(0,), (1,), (2,), (3,)], 5)
    squared = found.squared()
    assert squared[2, 4] == 0
    np.testing.assert_array_equal(squared[2], squared[4])


def test_the_order_of_folds_does_not_matter() -> None:
    dense = dense_counts(6, seed=3)
    order = np.random.default_rng(0).permutation(6)
    a, b = (geometry(make_counts(x), min_depth=1) for x in (dense, dense[order]))
    np.testing.assert_allclose(a.distances.squared, b.distances.squared, atol=1e-13)


def test_means_of_neighbours_keep_a_smooth_axis() -> None:
    """Rows on a slow line: the mean of each four of them lies on it too, and the first eigenvalue stays."""
    line = np.linspace(-1, 1, 64)[:, None] * np.array([0.1, -0.1]) + np.array([0.7, 0.7])
    dense = np.repeat(np.round(line**2 * 10_000)[None].astype(int), 4, axis=0)
    products = fold_products(make_counts(dense), np.arange(64), [(k,) for k in range(4)], None)
    small = products.averaged(16)
    assert (small.m, small.scale) == (16, 4)
    first, fewer = (np.linalg.eigvalsh(one.centred())[-1] for one in (products, small))
    assert fewer == pytest.approx(first, rel=0.01)
    slow = np.mean([np.asarray(root.toarray()).reshape(16, 4, -1).mean(axis=1) for root in products.roots], axis=0)
    np.testing.assert_allclose(np.mean([r.toarray() for r in small.roots], axis=0), slow, atol=1e-12)


@pytest.mark.parametrize(
    ("n_folds", "per_fold", "sizes"),
    [
        (2, 5, [1, 1]),
        (4, 5, [1] * 4),
        (10, 5, [1] * 10),  # half of them could not be tested
        (12, 12, [2] * 6),
        (12, 25, [1] * 12),
        (18, 5, [2] * 9),
        (20, 10, [2] * 10),
    ],
)
def test_small_folds_are_put_together_as_long_as_six_remain(n_folds: int, per_fold: int, sizes: list[int]) -> None:
    counts = make_counts(np.full((n_folds, 2, 1), per_fold))
    groups = choose_fold_groups(counts, n_folds * per_fold)
    assert [len(group) for group in groups] == sizes
    assert sorted(sum(groups, ())) == list(range(n_folds))
    np.testing.assert_array_equal(depth_of_groups(counts, groups), [[per_fold * k] * 2 for k in sizes])


@pytest.mark.parametrize("n_folds", [20, 21, 39, 64])
def test_many_folds_are_put_together(n_folds: int) -> None:
    groups = choose_fold_groups(make_counts(np.full((n_folds, 2, 1), 1000)), n_folds * 1000)
    assert len(groups) == 20
    assert sorted(sum(groups, ())) == list(range(n_folds))


def test_empty_folds_are_in_no_group() -> None:
    dense = np.full((7, 2, 1), 100)
    dense[[1, 4]] = 0
    assert choose_fold_groups(make_counts(dense), 500) == ((0,), (2,), (3,), (5,), (6,))
    with pytest.raises(GeometryError, match="documents in at least 2 folds, got 1"):
        choose_fold_groups(make_counts(dense[:2]), 100)
    with pytest.raises(GeometryError, match="1 fold: cross-validation needs at least 2"):
        choose_fold_groups(make_counts(dense[:1]), 100)


def test_pairs_among_some_groups() -> None:
    products: FoldProducts = fold_products(make_counts(dense_counts()), np.arange(5), [(k,) for k in range(4)], 3)
    kept = {pair for pair, among in zip(products.pairs, products.among([3, 0, 1]), strict=True) if among}
    assert kept == {(0, 1), (0, 3), (1, 3)}
