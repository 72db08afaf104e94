import numpy as np
import pytest

from posgeom.encodings.alibi import alibi
from posgeom.encodings.base import PointEncoding
from posgeom.geometry.build import geometry
from posgeom.scores.scorecard import scorecard
from posgeom.studies.synthetic import sample_counts, synthetic


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
    assert {stage for stage, *_ in seen[2:]} == {"leaving folds out"}
    assert seen[-1][1] == seen[-1][2]
    with pytest.raises(KeyError, match="it has alibi"):
        card["rope"]


def test_the_zero_encoding_has_undefined_scores() -> None:
    row = scorecard([PointEncoding("zero", np.zeros((32, 4)))], geometry(synthetic().counts)).rows[0]
    assert row.stress_raw == 1
    assert row.stress_scaled is row.scale is row.stress_1 is row.pearson is row.spearman is None
    assert (row.tie_rate, row.min_separation, row.effective_rank) == (1, 0, 0)
