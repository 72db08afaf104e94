"""Variance of sums of terms of pairs of blocks, against brute force, simulation and the textbook."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import t as student

from posgeom.geometry.pair_variance import PairVariance, between, block_sums, on_blocks, quantile

Sets = tuple[tuple[int, ...], ...]
SETS: tuple[Sets, ...] = (
    (tuple(range(10)),),
    ((0, 1, 2, 3, 4), (5, 6, 7, 8, 9), (0, 2, 4, 6, 8), (1, 3, 5, 7, 9)),
    ((0, 1, 2, 3), (4, 5, 6, 7, 8, 9)),
)


def centred(kernel: np.ndarray) -> np.ndarray:
    return np.asarray((kernel - kernel.mean(axis=0)) / len(kernel))


@pytest.mark.parametrize("n", [4, 6, 9])
def test_all_pairs_against_products_of_terms(n: int) -> None:
    """Hoeffding's variance from products of two terms that share two, one or no blocks."""
    kernel = np.random.default_rng(n).normal(size=(n * (n - 1) // 2, 200))
    pairs = list(combinations(range(n), 2))
    products: dict[int, list[np.ndarray]] = {0: [], 1: [], 2: []}
    for a, one in enumerate(pairs):
        for b, other in enumerate(pairs):
            products[len(set(one) & set(other))].append(kernel[a] * kernel[b])
    apart, shared, same = (np.mean(products[k], axis=0) for k in range(3))
    slow = 2 / (n * (n - 1)) * (2 * (n - 2) * (shared - apart) + same - apart)
    means = np.array([kernel[[k for k, pair in enumerate(pairs) if f not in pair]].mean(axis=0) for f in range(n)])
    jackknife = (n - 1) / n * ((means - means.mean(axis=0)) ** 2).sum(axis=0)
    known = np.clip(slow, jackknife * (n - 2) / (2 * (n - 1)), jackknife)
    np.testing.assert_allclose(PairVariance.of_all(n)(centred(kernel)), known, rtol=1e-9)
    half_way = between(n, 0.5)(centred(kernel))
    low = jackknife * (n - 2) / (2 * (n - 1))
    share = (known - low) / (jackknife - low)  # of what blocks have
    expected = share * jackknife * on_blocks(n) + (1 - share) * (low + jackknife) / 2
    np.testing.assert_allclose(half_way, expected, rtol=1e-9)


def test_a_plain_mean_has_the_textbook_variance() -> None:
    x = np.random.default_rng(0).normal(3, 2, size=(9, 4))
    kernel = np.stack([(x[f] + x[g]) / 2 for f, g in combinations(range(9), 2)])
    for variance, factor in ((PairVariance.of_all(9), 1), (between(9, 0.3), on_blocks(9))):
        np.testing.assert_allclose(variance(centred(kernel)), factor * x.var(axis=0, ddof=1) / 9)


def test_what_blocks_have_gets_the_quantile_of_its_degrees_of_freedom() -> None:
    for n in (5, 10, 20):
        wider = quantile(0.95, n) * np.sqrt(on_blocks(n))
        assert wider == pytest.approx(student.ppf(0.975, n - 1))
        assert quantile(0.9, n) == pytest.approx(student.ppf(0.95, 2 * (n - 1)))


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize("kind", ["blocks", "noise"])
def test_sets_of_blocks_by_simulation(sets: Sets, kind: str) -> None:
    n, draws, rng = 10, 20_000, np.random.default_rng(3)
    pairs = list(combinations(range(n), 2))
    if kind == "blocks":
        of_block = rng.normal(size=(n, draws))
        values = np.stack([of_block[f] + of_block[g] for f, g in pairs])
    else:
        values = rng.normal(size=(len(pairs), draws))
    total, terms = np.zeros(draws), np.zeros(values.shape)
    for blocks in sets:
        own = [k for k, pair in enumerate(pairs) if set(pair) <= set(blocks)]
        total += values[own].mean(axis=0) / len(sets)
        terms[own] += (values[own] - values[own].mean(axis=0)) / len(own) / len(sets)
    found = PairVariance(n, sets)
    np.testing.assert_allclose(found.terms_within(centred(values)), terms, atol=1e-12)
    of_sums, of_terms = (block_sums(terms, n) ** 2).sum(axis=0), (terms**2).sum(axis=0)
    factor, ratio = found.of_kinds[kind]
    assert factor * of_sums.mean() == pytest.approx(total.var(), rel=0.05)
    assert of_terms.mean() / of_sums.mean() == pytest.approx(ratio, rel=0.02)
    estimated = found(terms).mean() / total.var()
    assert estimated == pytest.approx(1, abs=0.15 if kind == "blocks" else 0.5)  # kept between the extremes


def test_sums_of_blocks() -> None:
    terms = np.arange(6.0)[:, None]
    assert block_sums(terms, 4)[:, 0].tolist() == [0 + 1 + 2, 0 + 3 + 4, 1 + 3 + 5, 2 + 4 + 5]


def test_three_blocks_do_not_tell_the_kinds_apart() -> None:
    """Three pairs are as many as their blocks: the variance is the larger one."""
    found = PairVariance(6, ((0, 1, 2), (3, 4, 5)), on_noise=0.5)
    (factor, one), (_, other) = found.of_kinds["blocks"], found.of_kinds["noise"]
    assert one == pytest.approx(other)
    terms = np.random.default_rng(0).normal(size=(15, 3))
    np.testing.assert_allclose(found(terms), factor * (block_sums(terms, 6) ** 2).sum(axis=0))


def test_factors_and_columns() -> None:
    base = PairVariance.of_all(8)
    scaled = base.times(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    assert scaled.is_that_of(base)
    assert not scaled.is_that_of(PairVariance.of_all(9))
    assert not scaled.is_that_of(PairVariance(8, ((0, 1, 2, 3), (4, 5, 6, 7))))
    one = scaled.column(1)
    assert (one.on_noise, one.on_blocks, one.sets) == (2, 3, base.sets)
    assert base.column(1).on_noise == 1
    terms = centred(np.random.default_rng(1).normal(size=(28, 2)))
    np.testing.assert_allclose(one(terms[:, [1]]), scaled(terms)[[1]])
    np.testing.assert_allclose(base.times(2.0, 2.0)(terms), 2 * base(terms))
    assert 2 * base(terms)[1] <= scaled(terms)[1] <= 3 * base(terms)[1]


def test_terms_that_are_nothing_or_unknown() -> None:
    terms = np.zeros((28, 2))
    terms[:, 1] = np.nan
    found = PairVariance.of_all(8)(terms)
    assert found[0] == 0
    assert np.isnan(found[1])
