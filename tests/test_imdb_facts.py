"""What the estimators find in a corpus of reviews, with tolerances: the noise, the axes, and the order of encodings."""

import numpy as np
import pytest

from posgeom.analysis import analyze
from posgeom.counts.position_counts import PositionCounts
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.estimation.mds import classical_mds, spectrum_of
from posgeom.report.document import to_document
from posgeom.results import Analysis
from posgeom.scores.monotonicity import monotonicity

NAMES = ("sinusoidal", "alibi", "random")
FITTED = ("mds:rank=1", "mds:rank=3")


@pytest.fixture(scope="module")
def sound(imdb_with_null: PositionCounts) -> Analysis:
    return analyze(imdb_with_null, encodings=[*NAMES, *FITTED], default_encodings=False)


def test_rank_and_significant_rank(sound: Analysis) -> None:
    assert sound.geometry.rank == 254
    tested = sound.significance
    assert tested is not None
    assert tested.rank == 8
    assert [axis.p_value for axis in tested.axes[:8]] == [1 / 512] * 8
    assert tested.axes[8].p_value > 0.1
    assert sound.geometry.crossval_full_depth is not None
    leading = spectrum_of(sound.geometry.crossval_full_depth.squared).eigenvalues[:4]
    np.testing.assert_allclose(leading, [1.411, 0.536, 0.297, 0.167], rtol=0.06)
    # Lengths alone make one axis that is large, and no other.
    assert sound.beyond_lengths is not None
    null = sound.beyond_lengths.null.mean(axis=0)
    assert null[0] > 5 * null[1]
    assert tested.axes[0].eigenvalue > 3 * null[0]
    assert sound.beyond_lengths.rank >= 1


def test_the_share_of_noise(sound: Analysis) -> None:
    document = to_document(sound)
    share = document["noise_share"]
    assert share["value"] == pytest.approx(0.93, abs=0.01)
    assert 0.925 < share["low"] < share["value"] < share["high"] < 0.937
    assert document["uncertainty"]["depth"] == 1054
    assert document["mean_squared_distance"]["crossval_common_depth"] == pytest.approx(0.01703, abs=1e-5)
    mean = document["mean_squared_distance_interval"]["crossval_common_depth"]
    assert (mean["low"], mean["high"]) == pytest.approx((0.0166, 0.0174), abs=1e-4)


def test_violations_of_monotonicity(sound: Analysis) -> None:
    shape, order = sound.geometry, sound.order
    assert order.plugin == pytest.approx(0.346, abs=1e-3)
    assert order.crossval == pytest.approx(0.208, abs=0.01)
    assert order.significant == pytest.approx(0.14, abs=0.02)
    assert shape.crossval_full_depth is not None
    full = classical_mds(shape.crossval_full_depth).truncate(4)
    halves = monotonicity(shape.crossval_full_depth.values, shape.positions).violation_rate
    assert halves == pytest.approx(0.20, abs=0.02)
    rank_four = monotonicity(euclidean_distances(full.coordinates), shape.positions).violation_rate
    assert rank_four == pytest.approx(0.094, abs=0.01)


def test_the_order_of_encodings_turns_round(imdb: PositionCounts, sound: Analysis) -> None:
    paper = analyze(imdb, encodings=NAMES, default_encodings=False, convention="paper").scorecard
    biased = {name: paper[name].alignment or 0 for name in NAMES}
    assert biased["alibi"] < biased["sinusoidal"] < biased["random"]
    plugin = analyze(imdb, encodings=NAMES, default_encodings=False, estimator="plugin").scorecard
    for name, value in (("random", 0.725), ("sinusoidal", 0.475), ("alibi", 0.360)):
        assert plugin[name].alignment == pytest.approx(value, abs=1e-3), name
        assert plugin[name].intervals == {}
    card = sound.scorecard
    for name, value, half_width in (
        ("alibi", 0.490, 0.012),
        ("sinusoidal", 0.416, 0.005),
        ("random", 0.086, 0.002),
        ("mds:rank=1", 0.923, 0.007),
        ("mds:rank=3", 0.986, 0.005),
    ):
        interval = card[name].intervals["alignment"]
        assert card[name].alignment == pytest.approx(value, abs=1e-3), name
        assert (interval.high - interval.low) / 2 == pytest.approx(half_width, abs=1e-3), name
    ahead = card.difference("alibi", "sinusoidal").interval
    assert ahead is not None
    assert (ahead.low, ahead.high) == pytest.approx((0.0646, 0.0828), abs=5e-4)
    for first, second in (("alibi", "sinusoidal"), ("sinusoidal", "random"), ("mds:rank=3", "alibi")):
        found = card.difference(first, second)
        assert found.interval is not None
        assert found.interval.low > 0
        assert found.confidence is not None
        assert found.confidence > 0.99
