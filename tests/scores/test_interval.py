"""Standard errors from blocks and their pairs, against the textbook and simulation."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import t as student

from posgeom.geometry.build import geometry
from posgeom.geometry.crossval import balanced_splits
from posgeom.geometry.depth_curve import depth_curve
from posgeom.geometry.pair_variance import PairVariance, between, on_blocks
from posgeom.scores.interval import (
    Leaving,
    bootstrap_intervals,
    bootstrap_weights,
    mean_interval,
    noise_share,
    noise_share_interval,
)
from posgeom.studies.synthetic import sample_counts, synthetic

Kernel = Callable[[np.ndarray, np.ndarray], float]


def leaving(x: np.ndarray, kernel: Kernel, *, terms: bool = True) -> Leaving:
    """The mean of a function over pairs of the blocks x, with its terms and with each block left out."""
    n = len(x)
    values = {(f, g): kernel(x[f], x[g]) for f, g in combinations(range(n), 2)}

    def without(*out: int) -> list[float]:
        return [float(np.mean([value for pair, value in values.items() if not set(pair) & set(out)]))]

    return Leaving(
        np.array(without()),
        np.array([without(f) for f in range(n)]),
        (np.array([[value] for value in values.values()]) - without()) / len(values) if terms else None,
        between(n, 0.8) if terms else None,
    )


def mean(a: np.ndarray, b: np.ndarray) -> float:
    return float((a + b).mean() / 2)


@pytest.mark.parametrize("terms", [True, False])
@pytest.mark.parametrize("n", [4, 5, 12])
def test_a_plain_mean_has_the_textbook_error(n: int, terms: bool) -> None:
    x = np.random.default_rng(n).normal(3, 2, (n, 1))
    found = leaving(x, mean, terms=terms)
    known = x.std(ddof=1) / np.sqrt(n) * np.sqrt(on_blocks(n) if terms else 1)
    assert found.n_blocks == n
    assert found.full[0] == pytest.approx(x.mean())
    assert found.standard_errors()[0] == pytest.approx(known)
    (interval,) = found.intervals(0.9)
    assert interval is not None
    reach = student.ppf(0.95, 2 * (n - 1)) * known
    assert (interval.low, interval.high) == pytest.approx((x.mean() - reach, x.mean() + reach))


@pytest.mark.parametrize(("mean", "jackknife"), [(0.0, 2.25), (3.0, 1.15)])
def test_the_variance_of_a_u_statistic(mean: float, jackknife: float) -> None:
    """Twice too large by the jackknife where there is noise alone; the terms take most of that back."""
    rng, n, p = np.random.default_rng(4), 10, 30
    values, ours, plain = [], [], []
    for _ in range(250):
        x = rng.normal(size=(n, p))
        x[:, 0] += mean
        gram = x @ x.T
        total, sums = gram[np.triu_indices(n, 1)].sum(), gram.sum(axis=1) - np.diagonal(gram)
        terms = (gram[np.triu_indices(n, 1)][:, None] - total / 45) / 45
        made = Leaving(np.array([total / 45]), ((total - sums) / 36)[:, None], terms, between(n, 0.8))
        values.append(made.full[0])
        ours.append(made.standard_errors()[0] ** 2)
        plain.append(Leaving(made.full, made.one_out).standard_errors()[0] ** 2)
    known = 2 / 90 * (2 * 8 * mean**2 + 2 * mean**2 + p)
    assert np.var(values) == pytest.approx(known, rel=0.25)
    assert np.mean(ours) / known == pytest.approx(0.7 + 0.3 * jackknife, rel=0.2)
    assert np.mean(plain) / known == pytest.approx(jackknife, rel=0.25)
    assert np.mean(plain) >= np.mean(ours)


def test_differences_are_paired() -> None:
    x = np.random.default_rng(2).normal(1, 1, (8, 1))
    once, twice = leaving(x, mean), leaving(x, lambda a, b: 2 * mean(a, b) + 1)
    same = once.minus(once)
    assert same.full[0] == same.standard_errors()[0] == 0
    apart = twice.minus(once)
    assert apart.full[0] == pytest.approx(x.mean() + 1)
    assert apart.standard_errors()[0] == pytest.approx(once.standard_errors()[0])
    without = leaving(x, mean, terms=False)
    assert once.minus(without).terms is None
    wider = np.sqrt(on_blocks(8))
    assert once.minus(without).standard_errors()[0] == pytest.approx((wider - 1) * without.standard_errors()[0])


def test_what_blocks_change_has_the_variance() -> None:
    x = np.random.default_rng(3).normal(1, 1, (8, 4))
    for terms in (True, False):
        found = leaving(x, lambda a, b: float(a @ b), terms=terms)
        changes = found.influences()
        assert changes.shape == (8, 1)
        assert np.sqrt((changes**2).sum()) == pytest.approx(found.standard_errors()[0])
        products = x @ x.T - np.diag(np.diagonal(x @ x.T))
        assert np.corrcoef(changes[:, 0], products.sum(axis=1))[0, 1] == pytest.approx(1)


def test_a_difference_of_what_rests_on_halves_and_on_all_pairs() -> None:
    """Within the halves both have terms, whose difference has a variance; without terms, what blocks change has one."""
    rng, n = np.random.default_rng(5), 8
    everything, halves = PairVariance.of_all(n), PairVariance(n, (tuple(range(4)), tuple(range(4, 8))))
    terms = rng.normal(size=(28, 1))
    terms -= terms.mean(axis=0)
    nothing = np.full((n, 1), np.nan)
    one = Leaving(np.zeros(1), nothing, terms, everything)
    other = Leaving(np.ones(1), nothing, halves.terms_within(rng.normal(size=(28, 1))), halves)
    gap, turned = one.minus(other), other.minus(one)
    assert other.terms is not None
    known = halves.times(0.9)(other.terms - halves.terms_within(terms))
    for found in (gap, turned):
        np.testing.assert_allclose(found.standard_errors() ** 2, known)
    assert gap.full[0] == -turned.full[0] == -1
    assert one.minus(Leaving(one.full, nothing, halves.terms_within(terms), halves)).standard_errors()[0] == 0


def test_a_difference_of_two_splits_into_halves_is_the_same_in_either_order() -> None:
    rng, n = np.random.default_rng(6), 8
    both = []
    for sets in (((0, 1, 2, 3), (4, 5, 6, 7)), ((0, 2, 4, 6), (1, 3, 5, 7))):
        variance = PairVariance(n, sets)
        terms = variance.terms_within(rng.normal(size=(28, 1)))
        both.append(Leaving(np.zeros(1), np.full((n, 1), np.nan), terms, variance))
    gap, turned = both[0].minus(both[1]), both[1].minus(both[0])
    assert gap.terms is None
    a, b = (one.standard_errors()[0] for one in both)
    common = (both[0].influences() * both[1].influences()).sum()
    assert gap.standard_errors()[0] == pytest.approx(np.sqrt(a**2 + b**2 - 2 * common))
    assert turned.standard_errors()[0] == pytest.approx(gap.standard_errors()[0])


def test_an_undefined_value_has_no_interval() -> None:
    x = np.random.default_rng(0).normal(size=(5, 1))
    known = leaving(x, mean)
    assert known.terms is not None
    assert Leaving(known.full * np.nan, known.one_out, known.terms, known.variance).intervals(0.95) == [None]
    assert Leaving(known.full, known.one_out * np.nan).intervals(0.95) == [None]
    only_terms = Leaving(known.full, known.one_out * np.nan, known.terms, known.variance)  # fitted to halves, say
    assert only_terms.standard_errors()[0] == pytest.approx(x.std(ddof=1) * np.sqrt(on_blocks(5) / 5))
    without_terms = Leaving(known.full, known.one_out, known.terms * np.nan, known.variance)  # at a kink, say
    assert without_terms.standard_errors()[0] == pytest.approx(x.std(ddof=1) / np.sqrt(5))


def test_bootstrap_weights() -> None:
    few, many = (bootstrap_weights(n, 4000, np.random.default_rng(0)) for n in (5, 18))
    assert (few.sum(axis=1) == 5).all()
    assert many.sum(axis=1).std() > 3
    for weights in (few, many):
        assert ((weights > 0).sum(axis=1) >= 2).all()
        assert weights.mean() == pytest.approx(1, abs=0.02)


def test_bootstrap_intervals_reach_as_far_as_draws_do_in_units_of_the_error() -> None:
    x = np.random.default_rng(0).normal(1, 1, (9, 1))
    found = leaving(x, lambda a, b: float(a @ b))
    draws = np.random.default_rng(1).exponential(size=(40_000, 1))
    (interval,) = bootstrap_intervals(found, 50 + 3 * draws, 0.95)
    assert interval is not None
    centre, error = found.full[0], found.standard_errors()[0]
    far = -np.log(0.05) - 1  # one exponential draw in 20 is farther than this from their mean, all above it
    reach = far * error * student.ppf(0.975, 16) / 1.959964
    assert (interval.low, interval.high) == pytest.approx((centre - reach, centre + reach), abs=0.05 * error)
    assert interval.standard_error == error
    draws[3] = np.nan
    (again,) = bootstrap_intervals(found, 50 + 3 * draws, 0.95)
    assert again is not None
    assert again.low == pytest.approx(interval.low, abs=1e-3 * error)
    draws[::5] = np.nan  # a fifth undefined
    assert bootstrap_intervals(found, draws, 0.95) == found.intervals(0.95)


def test_the_interval_of_the_mean_squared_distance_covers_the_truth() -> None:
    truth_inside, flat_inside = 0, 0
    rng = np.random.default_rng(0)
    rows = rng.dirichlet(np.full(8, 2.0), 5)
    roots = np.sqrt(rows)
    known = float(((roots[:, None] - roots) ** 2).sum(axis=2)[np.triu_indices(5, 1)].mean())
    for _ in range(30):
        found = mean_interval(geometry(sample_counts(rows, np.full(5, 4000), n_folds=8, rng=rng)), 0.95)
        assert found is not None
        truth_inside += found.low <= known * 1.002 and known * 0.998 <= found.high
        flat = mean_interval(geometry(sample_counts(rows[[0] * 5], np.full(5, 400), n_folds=8, rng=rng)), 0.95)
        assert flat is not None
        flat_inside += flat.low <= 0 <= flat.high
    assert truth_inside >= 25
    assert flat_inside >= 25


def test_the_mean_has_no_interval_where_nothing_tells() -> None:
    counts = synthetic(n_documents=300).counts
    assert mean_interval(geometry(counts), None) is None
    assert mean_interval(geometry(counts, estimator="plugin"), 0.95) is None
    assert mean_interval(geometry(synthetic(n_documents=300, n_folds=3).counts), 0.95) is None


def test_the_share_of_noise_has_the_error_of_halves() -> None:
    counts = synthetic(n_documents=600, seed=3).counts
    shape = geometry(counts)
    curve = depth_curve(counts, shape)
    assert curve is not None
    share, found = noise_share(shape), noise_share_interval(shape, curve, 0.95)
    assert share is not None
    assert found is not None
    full, plugin, last = shape.crossval_full_depth, shape.plugin.mean_squared, curve.points[-1]
    assert full is not None
    assert last.standard_error is not None
    assert share == pytest.approx(1 - full.mean_squared / plugin)
    fewer = []
    for n_splits in (shape.n_splits, 2):
        weights = np.zeros((10, 10))
        for split in balanced_splits(list(range(10)), n_splits, shape.seed):
            for f in split.a:
                for g in split.b:
                    weights[min(f, g), max(f, g)] += 1 / 25 / n_splits
        fewer.append(np.sqrt((weights**2).sum()))
    error = last.standard_error * fewer[0] / fewer[1]
    error *= max(full.mean_squared / max(last.mean_squared, error), 1)
    error *= np.sqrt(share) / plugin
    assert found.standard_error == pytest.approx(error)
    reach = student.ppf(0.975, 18) * error
    assert (found.low, found.high) == pytest.approx((share - reach, share + reach))
    assert noise_share_interval(shape, None, 0.95) is None
    assert noise_share(geometry(counts, estimator="plugin")) is None


def test_the_share_of_noise_is_not_surer_or_less_sure_than_it_is() -> None:
    """Few words and long documents: little is noise, and the plug-in distance errs as the cross-validated one does."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.full(25, 0.7), 6)
    shares, errors = [], []
    for _ in range(30):
        counts = sample_counts(truth, np.full(6, 500), n_folds=10, rng=rng)
        shape = geometry(counts)
        found = noise_share_interval(shape, depth_curve(counts, shape), 0.95)
        assert found is not None
        shares.append(noise_share(shape) or np.nan)
        errors.append(found.standard_error)
    assert 0.5 < np.sqrt(np.mean(np.square(errors))) / np.std(shares, ddof=1) < 2.5
