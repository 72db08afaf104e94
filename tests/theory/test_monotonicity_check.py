"""Conjecture 5: hypothesis and conclusion apart, on corpora that are monotone and ones that are not."""

import numpy as np
import pytest

from posgeom.analysis import CONVENTIONS
from posgeom.encodings.alibi import alibi
from posgeom.encodings.random import random
from posgeom.estimation.build import geometry
from posgeom.inference.jackknife import Estimate
from posgeom.scores.monotonicity import monotonicity
from posgeom.simulation.synthetic import synthetic
from posgeom.theory.monotonicity import Violations, _judge, monotonicity_check
from posgeom.theory.verdict import Verdict
from tests.theory.helpers import sampled, windows


def test_a_monotone_corpus_keeps_it() -> None:
    """Windows wider than the context: d^2 is proportional to the lag, and so many documents show it."""
    sound = geometry(sampled(windows(8, 12), 200_000))
    result = monotonicity_check(sound, encodings=[alibi(8), random(8, 16)])
    assert result.hypothesis.sound.value == pytest.approx(0, abs=0.02)
    assert result.verdict is Verdict.HOLDS
    by_name = {one.name: one for one in result.conclusions}
    assert by_name["alibi"].sound.value == 0
    assert (by_name["random"].sound.value or 0) > 0.2


def test_a_corpus_that_is_not_monotone_says_nothing() -> None:
    counts = synthetic(seed=0).counts
    sound, paper = (geometry(counts, **CONVENTIONS[name]) for name in ("sound", "paper"))
    result = monotonicity_check(sound, paper)
    assert result.verdict is Verdict.NOT_TESTABLE
    own = monotonicity(paper.plugin.values, paper.plugin.positions)
    assert result.hypothesis.plugin == own.violation_rate
    assert result.plugin_triples == own.triples
    assert result.conclusions[-1].plugin == pytest.approx(own.violation_rate, abs=1e-6)
    assert result.hypothesis.sound.degrees_of_freedom == 9


def test_noise_is_neither() -> None:
    same = np.tile(np.random.default_rng(0).dirichlet(np.ones(20)), (8, 1))
    assert monotonicity_check(geometry(sampled(same, 200))).verdict is Verdict.NOT_TESTABLE


def test_a_conclusion_that_fails_is_false() -> None:
    corpus, encoding = (Violations("", rate, 0.0, Estimate(None), None) for rate in (0.0, 0.2))
    assert _judge(corpus, encoding)[0] is Verdict.FALSE
    assert _judge(corpus, corpus)[0] is Verdict.HOLDS
    assert _judge(encoding, corpus)[0] is Verdict.NOT_TESTABLE
    unsure = Violations("", 0.2, 0.0, Estimate(0.01, 0.01, 9), 0.0)
    assert _judge(unsure, Violations("", 0.3, 0.0, Estimate(0.3, 0.01, 9), 0.0))[0] is Verdict.FALSE
    assert _judge(unsure, Violations("", 0.3, 0.0, Estimate(0.03, 0.005, 9), 0.0))[0] is Verdict.NOT_TESTABLE
    assert _judge(unsure, unsure)[0] is Verdict.HOLDS
