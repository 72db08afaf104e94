"""Which encodings are told apart: the correction, groups of one geometry, and how often equal ones are told apart."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import posgeom as pg
from posgeom.inference.fields import FIELDS
from posgeom.inference.jackknife import Replicates
from posgeom.inference.ranking import holm, ranking
from posgeom.inference.scorecard import Scorecard
from posgeom.simulation.synthetic import synthetic


def test_holm_by_hand() -> None:
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm([0.9, 0.8]), [1, 1])
    assert holm([]).size == 0


@cache
def template() -> pg.EncodingScores:
    analysis = pg.analyze(synthetic().counts, n_dims=4, encodings=["random"], default_encodings=False)
    return analysis.scorecard.rows[0]


def card_of(values: dict[str, np.ndarray]) -> Scorecard:
    """A scorecard with alignments that are means over folds, whose jackknife replicates are known."""
    rows, replicates = [], []
    for name, folds in values.items():
        one = Replicates(float(folds.mean()), (folds.sum() - folds) / (folds.size - 1))
        rows.append(replace(template(), name=name, alignment=one.value))
        replicates.append((one,) * len(FIELDS))
    return Scorecard(tuple(rows), "crossval", 32, level=0.95, n_folds=10, replicates=tuple(replicates))


def test_equal_ones_are_seldom_told_apart() -> None:
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(400):
        folds = {name: rng.standard_normal(10) + 5 for name in ("a", "b", "c", "random")}
        found = ranking(card_of(folds))
        assert found is not None
        wrong += any(one.p_value <= 0.05 for one in found.comparisons)
    assert wrong <= 36  # 5 % of 400 are at most expected, and more than 36 once in 1,000 times


def test_groups_references_and_ties() -> None:
    rng = np.random.default_rng(1)
    base, noise = rng.standard_normal(10) * 0.01 + 0.5, rng.standard_normal(10)
    folds = {"b": base + 0.2, "aa": base + 0.2 + 1e-12, "c": base + 0.2 + 0.03 * noise, "d": base - 0.2 + 1e-3 * noise,
             "random": base - 0.2, "random:seed=1": base}  # fmt: skip
    found = ranking(card_of(folds))
    assert found is not None
    assert ("b", "aa") in found.groups
    assert found.reference == "random"
    assert {group[0] for group in found.best} == {"b", "c"}
    assert {group[0] for group in found.above_reference} == {"b", "c"}
    assert found.is_above("b", "d")
    assert not found.is_above("d", "b")
    assert len(found.comparisons) == 6


def test_of_the_synthetic_corpus() -> None:
    analysis = pg.analyze(synthetic().counts, n_dims=16)
    found = ranking(analysis.scorecard)
    assert found is not None
    names = {name for group in found.groups for name in group}
    assert "random" not in names
    assert not any(name.startswith("mds") for name in names)
    first = found.groups[0][0]
    by_hand = analysis.scorecard.difference(first, "random")
    (one,) = (c for c in found.comparisons if {c.first, c.second} == {first, "random"})
    assert one.value == pytest.approx(by_hand.value)
    assert one.interval == by_hand.interval
    assert pg.to_document(analysis)["ranking"]["best"][0] == list(found.groups[0])
