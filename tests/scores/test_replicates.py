"""Scores with blocks of folds left out, against scores computed again from fewer folds."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import rankdata

from posgeom.encodings.alibi import alibi
from posgeom.encodings.base import PointEncoding
from posgeom.encodings.mds import mds
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.geometry.build import geometry
from posgeom.geometry.distance_matrix import upper_pairs
from posgeom.scores.replicates import Replicates, has_blocks, replicate_scores
from posgeom.scores.scoring import FIELDS
from posgeom.studies.synthetic import sample_counts, synthetic
from tests.scores.helpers import N, corpus, schemes, slow_scores


def slopes_of_ranks(e: np.ndarray, squared: np.ndarray, step: np.ndarray) -> np.ndarray:
    """One pair after the other is moved; the spread of the ranks is that of where none is."""
    n, ranks = squared.size, rankdata(e)

    def product(values: np.ndarray) -> float:
        return float(ranks @ rankdata(np.maximum(values, 0)))

    moved = [[product(squared + sign * step[k] * (np.arange(n) == k)) for sign in (1, -1)] for k in range(n)]
    spread = ranks.std() * rankdata(np.maximum(squared, 0)).std()
    return np.asarray(np.array([(up - down) / (2 * step[k]) for k, (up, down) in enumerate(moved)]) / (n * spread))


def test_fixed_encodings_are_scored_on_what_is_left() -> None:
    shape = corpus()
    assert shape.fold_pairs is not None
    assert shape.noise is not None
    encodings = schemes(shape)
    found = replicate_scores(encodings, shape)
    assert found.names == ("sinusoidal", "alibi", "mds", "random")
    kernel = dict(zip(combinations(range(6), 2), shape.fold_pairs.kernel, strict=True))

    def left(*out: int) -> np.ndarray:
        return np.asarray(np.mean([row for pair, row in kernel.items() if not set(pair) & set(out)], axis=0))

    for index in (0, 1, 3):
        e = upper_pairs(encodings[index].distances(shape.positions))
        leaving = found.leaving[index]
        everything = left()
        np.testing.assert_allclose(leaving.full, slow_scores(e, everything, shape.noise.roots(everything)), rtol=1e-9)
        for f in range(6):
            squared = left(f)
            np.testing.assert_allclose(
                leaving.one_out[f], slow_scores(e, squared, shape.noise.roots(squared, 5)), rtol=1e-9
            )
        assert leaving.terms is not None
        ranked = slopes_of_ranks(e, everything, shape.noise.deviations(everything, 6) / 2)
        for k, pair in enumerate(combinations(range(6), 2)):
            assert leaving.terms[k, 5] == pytest.approx((kernel[pair] - everything) @ ranked / 15, rel=1e-6, abs=1e-12)
        slopes = shape.noise.root_slopes(everything)
        for k, pair in enumerate(combinations(range(6), 2)):
            # One pair of blocks weighs a little more: scores move along its term.
            step = 1e-5 * (kernel[pair] - everything)
            roots = shape.noise.roots(everything)
            up = slow_scores(e, everything + step, roots + slopes * step)
            down = slow_scores(e, everything - step, roots - slopes * step)
            moved = (np.array(up) - down)[:5] / 2e-5
            np.testing.assert_allclose(
                15 * leaving.terms[k, :5] / leaving.full[:5], moved / leaving.full[:5], rtol=1e-4, atol=1e-8
            )
        np.testing.assert_allclose(leaving.terms[:, :5].mean(axis=0) / leaving.full[:5], 0, atol=1e-9)


def errors_of(found: Replicates, index: int) -> dict[str, float]:
    return {name: interval.standard_error for name, interval in found.intervals(index, 0.95).items()}


@pytest.mark.parametrize(("n_folds", "has_errors"), [(4, False), (5, False), (6, True), (7, True)])
def test_halves_of_few_blocks_have_scores_without_errors(n_folds: int, has_errors: bool) -> None:
    """A half of two blocks cannot lose one: its error is not known, and not made up from another split."""
    for seed in range(4):
        shape = replace(corpus(n_folds=n_folds), seed=seed)
        found = replicate_scores(schemes(shape), shape)
        assert np.isfinite(found.leaving[2].full[:3]).all()
        assert set(found.intervals(0, 0.95)) == set(FIELDS)
        assert set(found.intervals(2, 0.95)) == (set(FIELDS) if has_errors else set())
        assert np.isfinite(found.ceiling.full[:3]).all()


def test_other_encodings_change_no_bit() -> None:
    shape = corpus()
    encodings = schemes(shape)
    together = replicate_scores(encodings, shape)
    for k, encoding in enumerate(encodings):
        alone = replicate_scores([encoding], shape, ceiling=False)
        np.testing.assert_array_equal(alone.leaving[0].full, together.leaving[k].full)
        np.testing.assert_array_equal(alone.leaving[0].one_out, together.leaving[k].one_out)
        np.testing.assert_array_equal(alone.leaving[0].terms, together.leaving[k].terms)
        assert errors_of(alone, 0) == errors_of(together, k)


def test_estimates_do_not_depend_on_whether_errors_are_wanted() -> None:
    shape = corpus()
    with_errors, without = (replicate_scores(schemes(shape), shape, errors=e) for e in (True, False))
    for a, b in zip(with_errors.leaving, without.leaving, strict=True):
        np.testing.assert_array_equal(a.full, b.full)
    assert without.leaving[0].intervals(0.95) == without.ceiling.intervals(0.95) == [None] * len(FIELDS)


def test_the_bootstrap_comes_near_the_jackknife() -> None:
    corpus_ = synthetic(n_positions=12, vocab_size=60, n_documents=8000, n_folds=20, seed=2)
    shape = geometry(corpus_.counts)
    encodings = [sinusoidal(12, 8), alibi(12)]
    jackknife, bootstrap = (replicate_scores(encodings, shape, bootstrap=b, ceiling=False) for b in (False, True))
    for k in range(2):
        a, b = jackknife.intervals(k, 0.95), bootstrap.intervals(k, 0.95)
        assert a["spearman"] == b["spearman"]  # ranks are not drawn
        for name in set(FIELDS) - {"spearman"}:
            assert b[name] != a[name]
            assert b[name].low == pytest.approx(a[name].low, abs=0.5 * a[name].standard_error), name
            assert b[name].high == pytest.approx(a[name].high, abs=0.5 * a[name].standard_error), name


def test_errors_are_those_of_many_corpora() -> None:
    scores, errors = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        truth = synthetic(n_positions=N, vocab_size=40, n_documents=200, seed=1).distributions
        shape = geometry(sample_counts(truth, np.full(N, 800), n_folds=8, rng=rng))
        leaving = replicate_scores([sinusoidal(N, 8)], shape, ceiling=False).leaving[0]
        scores.append(leaving.full)
        errors.append(leaving.standard_errors())
    ratio = np.sqrt(np.mean(np.square(errors), axis=0)) / np.std(scores, axis=0, ddof=1)
    assert ((ratio[:5] > 0.7) & (ratio[:5] < 1.45)).all(), ratio
    assert 0.7 < ratio[5] < 1.8, ratio  # the ranks of 45 pairs move in jumps


def test_a_geometry_without_blocks_cannot_be_left_out_of() -> None:
    shape = geometry(synthetic(n_documents=300).counts, estimator="plugin")
    assert not has_blocks(shape)
    with pytest.raises(ValueError, match="has_blocks tells"):
        replicate_scores([alibi(32)], shape)


def test_all_encodings_fitted_or_none() -> None:
    shape = corpus()
    only = replicate_scores([mds(shape, 4, rank=2)], shape, ceiling=False)
    assert np.isfinite(only.leaving[0].full).all()
    assert np.isnan(only.ceiling.full).all()
    fixed = replicate_scores([PointEncoding("line", np.arange(float(N))[:, None])], shape, ceiling=False)
    assert np.isnan(fixed.ceiling.full).all()
    assert replicate_scores([], shape).leaving == ()
