"""Rankings: equal rows are one, groups apart, and intervals that hold all at once."""

import numpy as np
import pytest
import scipy

from posgeom.analysis import analyze
from posgeom.inference.ranking import Ranking, ranking
from posgeom.inference.scorecard import Scorecard
from posgeom.simulation.synthetic import synthetic


@pytest.fixture(scope="module")
def card() -> Scorecard:
    return analyze(synthetic().counts, n_dims=16).scorecard


@pytest.fixture(scope="module")
def ranked(card: Scorecard) -> Ranking:
    return ranking(card)


def test_rows_that_are_the_same_by_construction_are_one(ranked: Ranking) -> None:
    names = [place.names for place in ranked.places]
    assert ("rope", "sinusoidal") in names
    assert ("alibi", "alibi:form=linear") in names
    assert sum(map(len, names)) == len({name for place in names for name in place})


def test_groups_compete_apart(ranked: Ranking) -> None:
    kinds = {place.names[0]: place.kind for place in ranked.places}
    assert kinds["random"] == "reference"
    assert kinds["mds"] == "fitted"
    assert kinds["rope"] == "fixed"
    for one in ranked.differences:
        assert (kinds[one.first] == "fitted") == (kinds[one.second] == "fitted")


def test_intervals_are_those_of_bonferroni(card: Scorecard, ranked: Ranking) -> None:
    one = ranked.differences[0]
    plain = card.difference(one.first, one.second)
    assert plain.interval is not None
    assert one.interval is not None
    df, m = card.n_folds - 1, len(ranked.differences)
    expected = scipy.stats.t.ppf(1 - 0.025 / m, df) / scipy.stats.t.ppf(0.975, df)
    widths = [known.high - known.low for known in (one.interval, plain.interval)]
    np.testing.assert_allclose(widths[0] / widths[1], expected, rtol=1e-9)
