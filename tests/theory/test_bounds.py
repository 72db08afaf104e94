"""Inequalities of Appendix A: quantities against their definition, and breaches that are seen."""

from importlib import import_module

import numpy as np
import pytest
import scipy

from posgeom.errors import PosgeomError
from posgeom.theory.bounds import STATEMENTS, Statement, bounds
from posgeom.theory.counterexample import search_counterexample
from posgeom.theory.divergences import ratio_constant, smoothed_divergences
from posgeom.theory.verdict import Verdict
from tests.theory.helpers import drifting, sampled

MODULE = import_module("posgeom.theory.bounds")  # whose name in the package is that of the function


@pytest.mark.parametrize(("n_tokens", "vocab_size"), [(4, 4), (50, 60), (300, 300)])
def test_smoothed_divergences_are_those_of_the_definition(n_tokens: int, vocab_size: int) -> None:
    counts = np.random.default_rng(n_tokens).poisson(0.7, (7, n_tokens)).astype(float)
    kl, d, ratio = smoothed_divergences(scipy.sparse.csr_array(counts), vocab_size, 0.5)
    rows = np.pad(counts, ((0, 0), (0, vocab_size - n_tokens))) + 0.5
    rows /= rows.sum(axis=1, keepdims=True)
    for i, p in enumerate(rows):
        for j, q in enumerate(rows):
            assert kl[i, j] == pytest.approx((p * np.log(p / q)).sum(), abs=1e-12)
            assert d[i, j] == pytest.approx(np.linalg.norm(np.sqrt(p) - np.sqrt(q)), abs=1e-6)
            assert ratio[i, j] == pytest.approx((p / q).max())


def test_the_counterexample_is_found_by_the_search() -> None:
    worst = search_counterexample()
    assert worst is not None
    assert worst.mu == pytest.approx((0.99, 0.01))
    assert worst.nu == pytest.approx((0.01, 0.99))
    assert worst.kl == pytest.approx(4.503, abs=5e-4)
    assert worst.bound == pytest.approx(3.580, abs=5e-4)
    nearer = search_counterexample(0.005)
    assert nearer is not None
    assert nearer.kl > worst.kl
    assert search_counterexample(0.1) is None
    with pytest.raises(PosgeomError, match="least probability"):
        search_counterexample(0.6)


def test_one_of_them_is_false_and_the_others_hold() -> None:
    result = bounds(sampled(drifting(), 200))
    assert result.verdict is Verdict.FALSE
    assert {one.name for one in result.inequalities if one.verdict is Verdict.FALSE} == {"kl_above"}
    assert {one.sample for one in result.inequalities} == {"random", "corpus"}
    for name in ("kl_ratio_sharp", "l1_sharp"):
        assert result.named(name)[0].tightness == pytest.approx(1, abs=1e-3)
    loose, sharp = (result.named(name)[1] for name in ("mean_embedding", "mean_embedding_sharp"))
    assert (loose.tightness or 0) < (sharp.tightness or 0) < 1


@pytest.mark.parametrize("name", [name for name in STATEMENTS if name != "kl_above"])
def test_a_constant_that_is_too_small_is_broken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each bound divided by what is left of its room, and a little more."""
    counts = sampled(drifting(), 200)
    room = max(one.tightness or 0 for one in bounds(counts).named(name))
    own = STATEMENTS[name]
    tighter = Statement(own.text, own.source, own.left, lambda sides: own.right(sides) * room * 0.99)
    monkeypatch.setattr(MODULE, "STATEMENTS", {**STATEMENTS, name: tighter})
    verdicts = [one.verdict for one in bounds(counts).named(name)]
    assert Verdict.FALSE in verdicts


def test_the_sharp_constant_grows_and_is_attained() -> None:
    ratios = np.geomspace(1e-3, 1e4, 400)
    assert (np.diff(ratio_constant(ratios)) > 0).all()
    assert ratio_constant(np.array([1.0, 1 + 1e-6])) == pytest.approx([2, 2], abs=1e-5)
    assert (ratio_constant(ratios) <= (1 + np.sqrt(ratios)) ** 2).all()
    # All mass but a trifle at ratio r: KL / d^2 comes to C(r).
    small, r = 1e-9, 9.0
    mu, nu = np.array([r * small, 1 - r * small]), np.array([small, 1 - small])
    kl = (mu * np.log(mu / nu) - mu + nu).sum()
    assert kl / ((np.sqrt(mu) - np.sqrt(nu)) ** 2).sum() == pytest.approx(float(ratio_constant(np.array(r))), rel=1e-6)


def test_bad_arguments() -> None:
    counts = sampled(drifting(), 200)
    with pytest.raises(PosgeomError, match="pseudo-count"):
        bounds(counts, pseudo_count=0)
    with pytest.raises(PosgeomError, match="own tokenizer"):
        bounds(counts, np.ones((3, 4)))
    with pytest.raises(PosgeomError, match="positions 0-3: there are no counts"):
        bounds(positions=(0, 3))


def test_some_positions_by_themselves() -> None:
    counts = sampled(drifting(), 200)
    part, whole = (
        {one.name: one for one in bounds(counts, positions=within).inequalities if one.sample == "corpus"}
        for within in ((2, 5), None)
    )
    assert {one.n_pairs for one in part.values()} == {4 * 3}
    roots = np.sqrt([row / row.sum() for row in counts.matrix().toarray()[2:6]])
    d = np.linalg.norm(roots[:, None] - roots, axis=2)
    assert np.isclose(d, (part["l1"].right or 0) / 2).any()
    assert (part["l1"].tightness or 0) <= (whole["l1"].tightness or 0)
