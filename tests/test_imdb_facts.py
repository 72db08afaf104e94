"""What the estimators find in a corpus of reviews, with tolerances: the noise, the axes, and the order of encodings."""

import numpy as np
import pytest

from posgeom.analysis import analyze
from posgeom.counts.position_counts import PositionCounts
from posgeom.geometry.euclidean import euclidean_distances
from posgeom.geometry.mds import classical_mds, spectrum_of
from posgeom.report.document import to_document
from posgeom.results import Analysis
from posgeom.scores.monotonicity import monotonicity

NAMES = ("sinusoidal", "alibi", "random")


@pytest.fixture(scope="module")
def sound(imdb_with_null: PositionCounts) -> Analysis:
    return analyze(imdb_with_null, encodings=NAMES, default_encodings=False)


def test_rank_and_significant_rank(sound: Analysis) -> None:
    assert sound.geometry.rank == 254
    assert sound.significance is not None
    assert sound.significance.rank in (7, 8)
    assert len(sound.significance.null) == 5
    assert sound.geometry.crossval_full_depth is not None
    leading = spectrum_of(sound.geometry.crossval_full_depth.squared).eigenvalues[:4]
    np.testing.assert_allclose(leading, [1.411, 0.536, 0.297, 0.167], rtol=0.06)
    # Lengths alone make one axis that is large, and no other.
    null = sound.significance.null.mean(axis=0)
    assert null[0] > 5 * null[1]
    assert sound.significance.axes[0].eigenvalue > 3 * null[0]


def test_the_share_of_noise(sound: Analysis) -> None:
    share = to_document(sound)["noise_share"]
    assert share["value"] == pytest.approx(0.93, abs=0.01)
    assert share["low"] < share["value"] < share["high"] < 1


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
    biased = {name: paper[name].stress_scaled or 0 for name in NAMES}
    assert biased["random"] < biased["sinusoidal"] < biased["alibi"]
    card = sound.scorecard
    for name, value, low, high in (
        ("alibi", 0.544, 0.526, 0.561),
        ("sinusoidal", 0.635, 0.606, 0.664),
        ("random", 0.672, 0.642, 0.702),
    ):
        interval = card[name].intervals["stress_scaled"]
        assert card[name].stress_scaled == pytest.approx(value, abs=2e-3), name
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=4e-3), name
    for first, second in (("alibi", "sinusoidal"), ("sinusoidal", "random"), ("alibi", "random")):
        found = card.difference(first, second)
        assert found.interval is not None
        assert found.interval.high < 0
        assert found.confidence is not None
        assert found.confidence > 0.99
