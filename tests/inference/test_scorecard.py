import json

import numpy as np
import pytest
from scipy.stats import t as student

from posgeom.encodings.alibi import alibi
from posgeom.encodings.base import PointEncoding
from posgeom.encodings.mds import mds
from posgeom.encodings.random import random
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import GeometryError
from posgeom.estimation.build import Geometry, geometry
from posgeom.inference.comparison import BETTER
from posgeom.inference.fields import FIELDS
from posgeom.inference.jackknife import Interval
from posgeom.inference.scorecard import Scorecard, score, scorecard
from posgeom.inference.scoring import alignment, stress
from posgeom.simulation.synthetic import sample_counts, synthetic


def test_every_score_uses_the_positions_of_the_geometry() -> None:
    rng = np.random.default_rng(0)
    depth = np.array([0, 400, 400, 0, 400, 400, 400])
    shape = geometry(sample_counts(rng.dirichlet(np.ones(30), 7), depth, n_folds=4, rng=rng))
    points = rng.normal(size=(7, 3))
    spoiled = points.copy()
    spoiled[[0, 3]] = 1e9  # masked positions must not matter
    clean, other = scorecard([PointEncoding("a", points), PointEncoding("a", spoiled)], shape).rows
    assert clean == other
    assert clean.n_triples == sum(
        abs(i - j) < abs(i - k)
        for i in shape.positions
        for j in shape.positions
        for k in shape.positions
        if len({int(i), int(j), int(k)}) == 3
    )


def test_look_up_by_name() -> None:
    shape = geometry(synthetic().counts)
    seen: list[tuple[str, int, int | None]] = []
    card = scorecard([alibi(32)], shape, progress=lambda *x: seen.append(x))
    assert card["alibi"].stress_raw == card.rows[0].stress_raw
    assert card.estimator == "crossval"
    assert card.n_positions_used == 32
    assert seen[:2] == [("scoring", 0, 1), ("scoring", 1, 1)]
    assert {stage for stage, *_ in seen[2:]} == {"leaving folds out", "scoring on other halves"}
    assert seen[-1][1] == seen[-1][2]
    with pytest.raises(KeyError, match="it has alibi"):
        card["rope"]


def test_the_zero_encoding_has_undefined_scores() -> None:
    row = scorecard([PointEncoding("zero", np.zeros((32, 4)))], geometry(synthetic().counts)).rows[0]
    assert row.stress_raw == 1
    assert row.alignment is row.stress_scaled is row.scale is row.stress_1 is row.pearson is row.spearman is None
    assert (row.tie_rate, row.min_separation, row.effective_rank) == (1, 0, 0)


SCHEMES = [sinusoidal(32, 16), alibi(32), random(32, 16)]


@pytest.fixture(scope="module")
def shape() -> Geometry:
    return geometry(synthetic(n_documents=1500, seed=3).counts)


@pytest.fixture(scope="module")
def card(shape: Geometry) -> Scorecard:
    large = PointEncoding("large", 1000 * np.asarray(sinusoidal(32, 16).coordinates()))
    return scorecard([*SCHEMES, large, mds(shape, 8, rank=2)], shape)


def test_values_lie_in_their_intervals(card: Scorecard) -> None:
    assert (card.level, card.n_folds, card.depth) == (0.95, 10, 150)
    for row in card:
        assert row.intervals
        for field, interval in row.intervals.items():
            value = getattr(row, field)
            assert interval.low <= value <= interval.high
            reach = student.ppf(0.975, 9) * interval.standard_error
            assert interval.high - value == pytest.approx(reach)
            assert value - interval.low == pytest.approx(reach)
    assert [row.sample for row in card] == ["exact"] * 4 + ["out"]
    assert set(card.ceiling_intervals) <= set(card.ceiling)
    assert json.loads(json.dumps(card.to_dicts(), allow_nan=False))[0]["intervals"]["scale"]["standard_error"] > 0


def test_an_encoding_and_its_rescaled_copy(card: Scorecard) -> None:
    for field in FIELDS:
        same = card.difference("alibi", "alibi", field)
        assert same.value == 0
        assert same.interval == Interval(0, 0, 0)
        assert same.confidence is None
    scaled = card.difference("sinusoidal", "large")
    assert scaled.value == pytest.approx(0, abs=1e-12)
    assert scaled.interval is not None
    assert (scaled.interval.low, scaled.interval.high) == pytest.approx((0, 0), abs=1e-9)
    raw = card.difference("sinusoidal", "large", "stress_raw")
    assert raw.value is not None
    assert raw.value < 0
    assert raw.confidence is None  # roots of noisy numbers say of no encoding that it is more faithful


@pytest.mark.parametrize("field", FIELDS)
def test_differences(card: Scorecard, field: str) -> None:
    for first, second in (("sinusoidal", "alibi"), ("alibi", "mds"), ("mds", "random")):
        found = card.difference(first, second, field)
        a, b = getattr(card[first], field), getattr(card[second], field)
        assert found.value == pytest.approx(a - b)
        turned = card.difference(second, first, field)
        assert turned.value == pytest.approx(-(a - b))
        assert found.interval is not None
        assert turned.interval is not None
        assert (found.interval.low + found.interval.high) / 2 == pytest.approx(a - b)
        assert turned.interval.low == pytest.approx(-found.interval.high)
        if field != "alignment":
            assert found.confidence is None
            continue
        assert found.confidence is not None
        assert turned.confidence == pytest.approx(1 - found.confidence)
        assert (found.confidence > 0.5) == (a > b)


def test_whether_a_score_is_better_high_or_low_is_known_of_each() -> None:
    assert set(BETTER) == set(FIELDS)


def test_of_two_encodings_of_one_name_the_first_is_meant(shape: Geometry) -> None:
    first, second = (PointEncoding("same", points) for points in (np.arange(32.0)[:, None], np.eye(32)))
    card = scorecard([first, second, alibi(32)], shape)
    found = card.difference("same", "alibi")
    assert found.value is not None
    assert found.interval is not None
    assert (found.interval.low + found.interval.high) / 2 == pytest.approx(found.value)


def test_an_encoding_alone_has_the_same_scores_to_the_bit(shape: Geometry, card: Scorecard) -> None:
    for encoding in SCHEMES:
        alone = scorecard(encoding, shape)
        assert alone.rows[0] == card[encoding.name]
        assert score(encoding, shape).stress_scaled == card[encoding.name].stress_scaled
        assert stress(encoding, shape, "scaled") == card[encoding.name].stress_scaled
        assert alignment(encoding, shape) == card[encoding.name].alignment
        assert alone.ceiling == card.ceiling
    assert stress(mds(shape, 8, rank=2), shape) == card["mds"].stress_raw


def test_other_levels(shape: Geometry, card: Scorecard) -> None:
    wide, narrow = (
        card["alibi"].intervals["pearson"],
        scorecard(alibi(32), shape, level=0.5).rows[0].intervals["pearson"],
    )
    assert narrow.standard_error == wide.standard_error
    assert wide.low < narrow.low < narrow.high < wide.high
    none = scorecard(alibi(32), shape, level=None)
    assert none.rows[0].intervals == {}
    assert none.rows[0].pearson == card["alibi"].pearson
    assert (none.level, none.n_folds, none.replicates) == (None, 0, ())
    undecided = none.difference("alibi", "alibi")
    assert (undecided.value, undecided.interval, undecided.confidence) == (0, None, None)


def test_plugin_distances_and_few_folds_have_no_intervals() -> None:
    counts = synthetic(n_documents=1200, n_folds=3).counts
    for settings in ({"estimator": "plugin"}, {}, {"depth": "full"}):
        found = scorecard(SCHEMES, geometry(counts, **settings))  # type: ignore[arg-type]
        assert (found.level, found.ceiling, found.replicates) == (None, {}, ())
        assert all(row.intervals == {} for row in found)
    plugin = geometry(counts, estimator="plugin")
    assert mds(plugin, 8).refit is not None
    assert scorecard(mds(plugin, 8), plugin).rows[0].sample == "in"


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, float("nan")])
def test_bad_levels(shape: Geometry, level: float) -> None:
    with pytest.raises(GeometryError, match="expected a number between 0 and 1"):
        scorecard(SCHEMES, shape, level=level)


def test_bad_scores_and_names(card: Scorecard) -> None:
    with pytest.raises(GeometryError, match="expected one of alignment"):
        card.difference("alibi", "random", "tie_rate")
    with pytest.raises(KeyError, match="no encoding 'rope'"):
        card.difference("alibi", "rope")


def test_a_fit_to_another_corpus_is_scored_as_it_is(shape: Geometry) -> None:
    """It owes nothing to the corpus that it is scored on, so it is not fitted anew to that."""
    other = mds(geometry(synthetic(n_documents=1500, seed=8).counts), 8, rank=2)
    row = scorecard(other, shape).rows[0]
    bare = scorecard(PointEncoding("mds", np.asarray(other.coordinates())), shape).rows[0]
    assert row.sample == "exact"
    assert row.stress_raw == pytest.approx(bare.stress_raw)
    again = geometry(synthetic(n_documents=1500, seed=3).counts, min_depth=10)
    assert scorecard(mds(again, 8, rank=2), shape).rows[0].sample == "out"  # the same corpus, estimated again


def test_beyond_many_positions_what_is_fitted_has_no_interval(
    shape: Geometry, card: Scorecard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("posgeom.inference.scoring.MAX_REFITTED_POSITIONS", 31)
    found = scorecard([alibi(32), mds(shape, 8, rank=2)], shape)
    assert found["mds"].alignment == card["mds"].alignment
    assert found["mds"].intervals == {}
    assert found["alibi"].intervals == card["alibi"].intervals
