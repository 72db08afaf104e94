"""Standard errors by leaving blocks out, against textbook and brute force."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import t as student

from posgeom.geometry.build import geometry
from posgeom.scores.interval import Leaving, bootstrap_intervals, bootstrap_weights, mean_interval
from posgeom.studies.synthetic import sample_counts, synthetic


def leaving(
    x: np.ndarray, function: Callable[[np.ndarray], float], *, two: bool = True, biased: bool = True
) -> Leaving:
    """A function of the blocks x, with some of them left out."""
    n = len(x)

    def without(*out: int) -> list[float]:
        return [function(np.delete(x, out, axis=0))]

    return Leaving(
        np.array(without()),
        np.array([without(f) for f in range(n)]),
        np.array([without(*pair) for pair in combinations(range(n), 2)]) if two else None,
        np.array([biased]),
    )


def u_statistic(x: np.ndarray) -> float:
    return float(np.mean([x[f] @ x[g] for f, g in combinations(range(len(x)), 2)]))


@pytest.mark.parametrize("two", [True, False])
@pytest.mark.parametrize("n", [4, 5, 12])
def test_a_plain_mean_has_the_textbook_error(n: int, two: bool) -> None:
    x = np.random.default_rng(n).normal(3, 2, (n, 1))
    found = leaving(x, lambda part: float(part.mean()), two=two)
    known = x.std(ddof=1) / np.sqrt(n)
    assert found.n_blocks == n
    assert found.corrected()[0] == pytest.approx(x.mean())
    assert found.standard_errors()[0] == pytest.approx(known)
    (interval,) = found.intervals(0.9)
    assert interval is not None
    reach = student.ppf(0.95, n - 1) * known
    assert (interval.low, interval.high) == pytest.approx((x.mean() - reach, x.mean() + reach))
    assert found.probability_positive()[0] == pytest.approx(student.cdf(x.mean() / known, n - 1))


def test_the_bias_of_a_square_is_taken_out() -> None:
    x = np.random.default_rng(0).normal(1, 1, (9, 1))
    found = leaving(x, lambda part: float(part.mean() ** 2))
    assert found.corrected()[0] == pytest.approx(x.mean() ** 2 - x.var(ddof=1) / 9)
    assert leaving(x, lambda part: float(part.mean() ** 2), biased=False).corrected()[0] == x.mean() ** 2


@pytest.mark.parametrize(("mean", "jackknife"), [(0.0, 2.25), (3.0, 1.15)])
def test_the_variance_of_a_u_statistic(mean: float, jackknife: float) -> None:
    """Twice too large by the jackknife where there is noise alone, and right with two left out, in either case."""
    rng, n, p = np.random.default_rng(4), 10, 30
    values, ours, plain = [], [], []
    for _ in range(250):
        x = rng.normal(size=(n, p))
        x[:, 0] += mean
        gram = x @ x.T
        total, sums = gram[np.triu_indices(n, 1)].sum(), gram.sum(axis=1) - np.diagonal(gram)
        pairs = list(combinations(range(n), 2))
        made = Leaving(
            np.array([total / 45]),
            ((total - sums) / 36)[:, None],
            np.array([[(total - sums[f] - sums[g] + gram[f, g]) / 28] for f, g in pairs]),
            np.array([True]),
        )
        values.append(made.full[0])
        assert made.corrected()[0] == pytest.approx(made.full[0])
        ours.append(made.standard_errors()[0] ** 2)
        plain.append(Leaving(made.full, made.one_out, None, made.biased).standard_errors()[0] ** 2)
    known = 2 / 90 * (2 * 8 * mean**2 + 2 * mean**2 + p)
    assert np.var(values) == pytest.approx(known, rel=0.25)
    assert 0.9 * known < np.mean(ours) < 1.25 * known
    assert np.mean(plain) / known == pytest.approx(jackknife, rel=0.25)
    assert np.mean(plain) >= np.mean(ours)


def test_the_loop_and_the_sums_agree() -> None:
    x = np.random.default_rng(1).normal(0.5, 1, (6, 3))
    found = leaving(x, u_statistic)
    kernel = np.array([[x[f] @ x[g]] for f, g in combinations(range(6), 2)])
    assert found.full[0] == pytest.approx(kernel.mean())
    assert found.corrected()[0] == pytest.approx(kernel.mean())


def test_differences_are_paired() -> None:
    x = np.random.default_rng(2).normal(1, 1, (8, 1))
    mean, twice = leaving(x, lambda part: float(part.mean())), leaving(x, lambda part: float(2 * part.mean() + 1))
    same = mean.minus(mean)
    assert same.corrected()[0] == same.standard_errors()[0] == 0
    assert np.isnan(same.probability_positive()[0])
    apart = twice.minus(mean)
    assert apart.corrected()[0] == pytest.approx(x.mean() + 1)
    assert apart.standard_errors()[0] == pytest.approx(mean.standard_errors()[0])
    half = leaving(x, lambda part: float(part.mean()), two=False)
    assert mean.minus(half).two_out is None
    assert mean.minus(half).standard_errors()[0] == pytest.approx(0)


def test_the_difference_of_a_biased_value_and_one_that_is_not_is_that_of_their_estimates() -> None:
    x = np.random.default_rng(3).normal(1, 1, (8, 1))
    square = leaving(x, lambda part: float(part.mean() ** 2))
    mean = leaving(x, lambda part: float(part.mean()), two=False, biased=False)
    for a, b in ((square, mean), (mean, square)):
        assert a.minus(b).corrected()[0] == pytest.approx(a.corrected()[0] - b.corrected()[0])


def test_an_undefined_value_has_no_interval() -> None:
    x = np.random.default_rng(0).normal(size=(5, 1))
    assert leaving(x, lambda part: float("nan") if len(part) == 5 else 1.0).intervals(0.95) == [None]
    missing = leaving(x, lambda part: float(part.mean()) if len(part) != 4 else float("nan"))
    assert missing.intervals(0.95) == [None]
    without_two = leaving(x, lambda part: float(part.mean()) if len(part) > 3 else float("nan"))
    assert without_two.standard_errors()[0] == pytest.approx(x.std(ddof=1) / np.sqrt(5))  # Spearman's, say


def test_bootstrap_weights() -> None:
    few, many = (bootstrap_weights(n, 4000, np.random.default_rng(0)) for n in (5, 18))
    assert (few.sum(axis=1) == 5).all()
    assert many.sum(axis=1).std() > 3
    for weights in (few, many):
        assert ((weights > 0).sum(axis=1) >= 2).all()
        assert weights.mean() == pytest.approx(1, abs=0.02)


def test_bootstrap_intervals_are_centred_on_the_estimate() -> None:
    x = np.random.default_rng(0).normal(1, 1, (9, 1))
    found = leaving(x, lambda part: float(part.mean() ** 2))
    draws = np.random.default_rng(1).normal(50, 0.3, (4000, 1))
    (interval,) = bootstrap_intervals(found, draws, 0.95)
    assert interval is not None
    centre = found.corrected()[0]
    assert (interval.low, interval.high) == pytest.approx((centre - 0.588, centre + 0.588), abs=0.03)
    assert interval.standard_error == pytest.approx(0.3, abs=0.01)
    draws[3] = np.nan
    assert bootstrap_intervals(found, draws, 0.95) == [None]


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
