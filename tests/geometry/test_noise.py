"""Sampling variances against brute force, and the root whose expectation is that of the truth."""

from dataclasses import replace

import numpy as np
import pytest

from posgeom.geometry.build import geometry
from posgeom.geometry.distance_matrix import upper_pairs
from posgeom.geometry.fold_pairs import FoldPairs, choose_blocks, fold_pairs
from posgeom.geometry.noise import NoiseModel, noise_model, order_two_error
from posgeom.geometry.pair_variance import PairVariance, block_sums
from posgeom.studies.synthetic import sample_counts
from tests.conftest import make_counts

UPPER = np.triu_indices


def unbiased_variance(kernel: np.ndarray, n: int) -> np.ndarray:
    """That of the mean over all pairs of n blocks, without bounds: from the sums of blocks and the squares."""
    terms, exact = (kernel - kernel.mean(axis=0)) / len(kernel), PairVariance.of_all(n)
    of_sums, of_terms = (block_sums(terms, n) ** 2).sum(axis=0), (terms**2).sum(axis=0)
    (blocks, low), (noise, high) = exact.of_kinds["blocks"], exact.of_kinds["noise"]
    share = (high * of_sums - of_terms) / (high - low)
    return np.asarray(blocks * share + noise * (of_sums - share))


def test_the_error_of_a_mean_over_pairs() -> None:
    """Products of x_f: a third of the excess of the jackknife, 1.25, is left where there is noise alone, and the kinds
    of noise are not told apart for sure."""
    n, p, draws = 10, 60, 1000
    x = np.random.default_rng(n).normal(size=(draws, n, p))
    gram = np.einsum("dfp,dgp->fgd", x, x)
    value, error = order_two_error(gram[np.triu_indices(n, 1)], n)
    assert 1.4 < (error**2).mean() / value.var() < 1.8


@pytest.mark.parametrize("drift", [0.0, 0.6])
def test_the_modelled_variance_is_that_of_many_corpora(drift: float) -> None:
    rng = np.random.default_rng(5)
    m = 9
    trend = np.linspace(0, drift, m)[:, None] * rng.normal(size=40)
    truth = rng.dirichlet(np.full(40, 0.5)) * np.exp(trend)
    truth /= truth.sum(axis=1, keepdims=True)
    depth = np.repeat([300, 600, 1200], m // 3)
    squared, modelled = [], []
    for _ in range(50):
        pairs = fold_pairs(sample_counts(truth, depth, n_folds=8, rng=rng), np.arange(m), [(k,) for k in range(8)], 37)
        assert pairs is not None
        model = noise_model(pairs)
        assert model is not None
        squared.append(pairs.mean)
        modelled.append(model.deviations(pairs.mean, 8) ** 2)
    known = np.var(squared, axis=0, ddof=1)
    assert np.mean(modelled) == pytest.approx(known.mean(), rel=0.25)
    assert np.mean(modelled, axis=0)[known > np.median(known)].mean() == pytest.approx(
        known[known > np.median(known)].mean(), rel=0.3
    )


def test_the_variance_that_resolved_tokens_have() -> None:
    """Few frequent tokens: the variance of a squared distance is (d^2 - d^4 / 4) (1 / N_i + 1 / N_j)."""
    truth = np.array([[0.1, 0.2, 0.7], [0.7, 0.2, 0.1], [0.4, 0.3, 0.3], [0.3, 0.3, 0.4]])
    depth, rng = np.array([4000, 8000, 16000, 4000]), np.random.default_rng(0)
    roots = np.sqrt(truth)
    h2 = ((roots[:, None] - roots) ** 2).sum(axis=2)[np.triu_indices(4, 1)]
    first, second = np.triu_indices(4, 1)
    known = (h2 - h2**2 / 4) * (1 / depth[first] + 1 / depth[second])
    blocks, squared = [(k,) for k in range(4)], []
    for _ in range(120):
        pairs = fold_pairs(sample_counts(truth, depth, n_folds=4, rng=rng), np.arange(4), blocks, 1000)
        assert pairs is not None
        squared.append(pairs.mean)
    ratio = np.var(squared, axis=0, ddof=1)[h2 > 0.1] / known[h2 > 0.1]
    assert ratio.mean() == pytest.approx(1, abs=0.15)


def test_fewer_blocks_are_noisier() -> None:
    """A product of two of the n = 8 blocks has n (n - 1) / 2 times the noise of all where there is noise alone."""
    rng = np.random.default_rng(2)
    counts = sample_counts(np.full((5, 30), 1 / 30), np.full(5, 800), n_folds=8, rng=rng)
    model = geometry(counts).noise
    assert model is not None
    zero = np.zeros(10)
    np.testing.assert_allclose(model.deviations(zero, 2) / model.deviations(zero, 8), np.sqrt(28))
    bare = replace(model, floor=zero)
    np.testing.assert_allclose(bare.deviations(zero + 1, 4) / bare.deviations(zero + 1, 8), np.sqrt(2))
    np.testing.assert_array_equal(bare.roots(np.array([-1.0] * 5 + [4.0] * 5)), [0.0] * 5 + [2.0] * 5)


def test_slopes_of_the_roots() -> None:
    model = NoiseModel(np.array([0.0, 1e-6, 1e-6, 1e-6]), np.zeros(4), 8)
    squared = np.array([0.04, 0.0, 5e-3, 0.09])
    found = model.root_slopes(squared)
    assert found[0] == pytest.approx(0.5 / 0.2, rel=0.02)  # no noise: the root itself, over a wide step
    expected = (model.roots(squared + 1e-3) - model.roots(squared - 1e-3)) / 2e-3
    assert found[1] == pytest.approx(float(expected[1]))  # over a deviation on both sides
    assert found[3] == pytest.approx(0.5 / 0.3, rel=1e-3)
    assert model.root_slopes(np.zeros(4))[0] == 0


def test_how_fast_noise_grows() -> None:
    assert NoiseModel(np.zeros(3), np.ones(3), 8).growth == 0
    model = NoiseModel(np.array([0.0, 4e-6, 4e-6]), np.array([9.0, 3e-4, 3e-4]), 8)
    assert model.growth == pytest.approx(0.15)


def test_the_deviation_is_known_better_than_by_means_alone() -> None:
    """Where there is little but noise, products of two blocks say how large it is, by their own variance."""
    rng = np.random.default_rng(11)
    truth = np.tile(rng.dirichlet(np.full(60, 0.5)), (6, 1))
    modelled, by_means = [], []
    for _ in range(60):
        pairs = fold_pairs(
            sample_counts(truth, np.full(6, 800), n_folds=10, rng=rng), np.arange(6), [(k,) for k in range(10)], 50
        )
        assert pairs is not None
        model = noise_model(pairs)
        assert model is not None
        modelled.append(model.deviations(pairs.mean, 10).mean() ** 2)
        by_means.append(unbiased_variance(pairs.kernel, 10).mean())
    assert np.mean(modelled) == pytest.approx(np.mean(by_means), rel=0.15)
    assert np.std(modelled) < 0.5 * np.std(by_means)


def test_corrected_distances_are_free_of_bias_where_plain_roots_are_not() -> None:
    """Sums of D, the truth being known: clipped roots of noise overstate them."""
    rng = np.random.default_rng(9)
    base = rng.dirichlet(np.full(80, 0.6))
    truth = np.stack([base * np.exp(0.1 * t * np.sin(np.arange(80))) for t in range(6)])
    truth /= truth.sum(axis=1, keepdims=True)
    roots = np.sqrt(truth)
    known = np.sqrt(((roots[:, None] - roots) ** 2).sum(axis=2))[UPPER(6, 1)].mean()
    plain, ours = [], []
    for _ in range(24):
        shape = geometry(sample_counts(truth, np.full(6, 2000), n_folds=10, rng=rng))
        plain.append(shape.distances.pairs.mean())
        ours.append(upper_pairs(shape.distances.corrected).mean())
    error = np.std(ours, ddof=1) / np.sqrt(24)
    assert abs(np.mean(ours) - known) < 3 * error + 0.05 * known
    assert np.mean(plain) > known


def test_where_there_is_no_noise_there_is_no_model() -> None:
    dense = np.zeros((6, 5, 2), int)
    dense[:, :3, 0] = 50
    dense[:, 3:, 1] = 50
    shape = geometry(make_counts(dense))
    assert shape.noise is None
    assert set(np.unique(np.round(shape.distances.squared, 12))) == {0.0, 2.0}
    assert noise_model(FoldPairs(np.ones((3, 6)), 3, np.full(4, 9), 1.0)) is None  # too few blocks
    assert noise_model(FoldPairs(np.ones((6, 3)), 4, np.full(3, 9), 1.0)) is None  # too few positions


@pytest.mark.parametrize("n_folds", [4, 5, 6])
def test_noise_is_known_even_where_its_estimates_are_mostly_negative(n_folds: int) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        row = rng.dirichlet(np.full(30, 0.5))
        shape = geometry(sample_counts(np.tile(row, (6, 1)), np.full(6, 200), n_folds=n_folds, rng=rng))
        assert shape.noise is not None
        assert (shape.noise.floor > 0).all()


def test_copies_of_one_point_stay_at_zero_from_each_other() -> None:
    """Most positions are empty and uniform by policy: their pairs have no noise, the others' have."""
    rng = np.random.default_rng(0)
    depth = np.zeros(40, int)
    depth[:6] = 600
    counts = sample_counts(rng.dirichlet(np.full(30, 0.5), 40), depth, n_folds=6, rng=rng)
    shape = geometry(counts, empty="uniform")
    assert shape.noise is not None
    np.testing.assert_array_equal(shape.distances.corrected[6:, 6:], 0)
    assert (shape.distances.corrected[:6, 6:] > 0).all()
    assert choose_blocks(counts, 600) == [(k,) for k in range(6)]
