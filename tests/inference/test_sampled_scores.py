"""Scores over drawn pairs and triples, against the scores over all of them."""

from typing import Any

import numpy as np
import pytest
import scipy

import posgeom as pg
from posgeom.encodings.base import PointEncoding
from posgeom.encodings.registry import build_encoding
from posgeom.errors import EncodingError, GeometryError
from posgeom.estimation.leading_axes import leading_axes
from posgeom.inference import sampled_scores as module
from posgeom.inference.sampled_scores import FIELDS, distances_at, sampled_scores
from tests.estimation.test_leading_axes import CASES, counts_of

SPECS = ("sinusoidal", "alibi:form=kernel,heads=4", "random", "line:warp=log:2")


@pytest.mark.parametrize("options", CASES)
def test_of_few_positions_they_are_those_of_a_scorecard(options: dict[str, Any]) -> None:
    counts = counts_of()
    shape, axes = pg.geometry(counts, **options), leading_axes(counts, 3, **options)
    encodings = [build_encoding(spec, n_positions=counts.n_positions, n_dims=16) for spec in SPECS]
    corpus, *found = sampled_scores(encodings, axes)
    card = pg.scorecard(encodings, shape, level=None)
    m = axes.positions.size
    for one, row in zip(found, card, strict=True):
        assert one.is_exact
        assert one.n_pairs == m * (m - 1) // 2
        for name in (*FIELDS, "violation_rate"):
            assert one.scores[name].standard_error is None
            assert one.scores[name].value == pytest.approx(getattr(row, name), rel=1e-7, abs=1e-9), name
    exact = pg.monotonicity(shape.distances.values, shape.positions)
    assert corpus.scores["violation_rate"].value == pytest.approx(exact.violation_rate)
    assert (corpus.name, corpus.n_triples) == ("corpus", exact.triples)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"estimator": "plugin"}, {}])
def test_drawn_scores_hold_the_exact_ones_as_often_as_they_say(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    axes = leading_axes(counts_of(m=60), 3, **options)
    encodings = [build_encoding(spec, n_positions=60, n_dims=16) for spec in SPECS[:2]]
    exact = sampled_scores(encodings, axes)
    monkeypatch.setattr(module, "MAX_EXACT", 10)
    trials = 100
    inside: dict[tuple[str, str], list[bool]] = {}
    for seed in range(trials):
        for one, whole in zip(sampled_scores(encodings, axes, n_pairs=2000, seed=seed), exact, strict=True):
            assert not one.is_exact
            for name, score in one.scores.items():
                bounds, truth = score.interval(0.95), whole.scores[name].value
                assert bounds is not None
                assert truth is not None
                inside.setdefault((one.name, name), []).append(bounds.low <= truth <= bounds.high)
    # 95 % of 100: 86 or fewer happen once in 2,000 times, and 13 numbers are looked at.
    assert {key: sum(hits) for key, hits in inside.items() if sum(hits) < 86} == {}


def test_the_same_seed_draws_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_EXACT", 10)
    axes = leading_axes(counts_of(), 2)
    first, again, other = (sampled_scores([], axes, n_pairs=500, seed=seed)[0] for seed in (3, 3, 4))
    assert first == again != other
    assert first.n_triples < 500  # those with two equal lags are no triples


def test_distances_of_pairs_are_those_of_the_matrix() -> None:
    axes = leading_axes(counts_of(), 2, min_depth=1)
    places = np.arange(axes.positions.size)
    first, second = (one.ravel() for one in np.meshgrid(places, places))
    for spec in SPECS:
        encoding = build_encoding(spec, n_positions=40, n_dims=16)
        known = distances_at(encoding, axes.positions, first, second)
        np.testing.assert_allclose(known, encoding.distances(axes.positions)[first, second], rtol=1e-6, atol=1e-7)
    squared, dense = axes.gram.squared_at(first, second), axes.gram.dense()
    expected = np.diag(dense)[first] + np.diag(dense)[second] - 2 * dense[first, second]
    np.testing.assert_allclose(squared, expected, atol=1e-12)


def test_refusals() -> None:
    axes = leading_axes(counts_of(), 2)
    with pytest.raises(GeometryError, match="n_pairs 39: expected at least 40"):
        sampled_scores([], axes, n_pairs=39)
    bent = build_encoding("brownian:warp=log:1", n_positions=40, n_dims=8)
    with pytest.raises(EncodingError, match="neither vectors nor distances"):
        sampled_scores([bent], axes)
    with pytest.raises(EncodingError, match="encoding far has entries"):
        sampled_scores([PointEncoding("far", 1e200 * np.arange(-20.0, 20)[:, None])], axes)
    short = build_encoding("alibi:form=kernel", n_positions=20, n_dims=8)
    with pytest.raises(EncodingError, match="has positions 0 to 19"):
        sampled_scores([short], axes)


def test_triples_are_uniform() -> None:
    """Each of the triples of five positions is drawn equally often: chi-squared, at one false alarm in 10,000."""
    axes = leading_axes(counts_of(m=5, empty=False), 2)
    drawn = module._Sample(axes, 20_000, 0)
    near, far = drawn.second[20_000:].reshape(2, -1)
    codes, counts = np.unique(drawn.first[20_000:][: drawn.n_triples] * 25 + near * 5 + far, return_counts=True)
    m = axes.positions.size
    lags = np.abs(np.subtract.outer(np.arange(m), np.arange(m)))
    assert codes.size == sum(int((lags[a] > lags[a, b]).sum()) for a in range(m) for b in range(m) if b != a)
    assert scipy.stats.chisquare(counts).pvalue > 1e-4
