"""Laws that hold for any input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posgeom.analysis import analyze
from posgeom.counts.counting import count_texts
from posgeom.counts.position_counts import PositionCounts
from posgeom.estimation.build import geometry
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.inference.scoring import stress
from tests.conftest import make_counts

SEEDS = st.integers(0, 2**32 - 1)


def random_target(m: int, rng: np.random.Generator) -> DistanceMatrix:
    return DistanceMatrix(euclidean_distances(rng.normal(size=(m, 4))), np.arange(m), "given", "given")


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(2, 20), st.integers(1, 12), st.floats(0.01, 100))
def test_stress_under_rotation_translation_and_scale(seed: int, m: int, d: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    target, points = random_target(m, rng), rng.normal(size=(m, d))
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    moved = points @ rotation + rng.normal(size=d) * 10
    raw, scaled = stress(points, target), stress(points, target, "scaled")
    assert raw is not None
    assert scaled is not None
    assert stress(moved, target) == pytest.approx(raw, rel=1e-9)
    assert stress(scale * points, target, "scaled") == pytest.approx(scaled, rel=1e-9, abs=1e-12)
    assert -1e-15 <= scaled <= min(raw, 1) + 1e-12


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(2, 8), st.integers(2, 30))
def test_hellinger_is_always_euclidean(seed: int, m: int, v: int) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.poisson(rng.gamma(0.3, 5, (1, m, v))) + (np.arange(v) == rng.integers(v, size=(1, m, 1)))
    shape = geometry(make_counts(dense.astype(int)), estimator="plugin", min_depth=1)
    assert shape.spectrum.negative_mass == 0
    assert shape.spectrum.rank <= min(m - 1, v)
    np.testing.assert_allclose(euclidean_distances(shape.mds().coordinates), shape.distances.values, atol=1e-7)


WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "ran", "far", "away", "then", "slept"]


def corpus(n: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(3, 9))) + f" {i}" for i in range(n)]


def equal(a: PositionCounts, b: PositionCounts) -> bool:
    same_arrays = all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in ("fold", "position", "token", "count", "documents")
    )
    return same_arrays and a.vocabulary == b.vocabulary and a.empty_documents == b.empty_documents


@pytest.mark.parametrize("tokenizer", ["whitespace", "chars", "bytes"])
def test_counts_do_not_depend_on_order_batches_or_workers(tokenizer: str) -> None:
    texts = [*corpus(700), "", "  "]
    reference = count_texts(texts, tokenizer, n_positions=20, workers=1)
    shuffled = [texts[i] for i in np.random.default_rng(1).permutation(len(texts))]
    for other in (
        count_texts(shuffled, tokenizer, n_positions=20, workers=1),
        count_texts(shuffled, tokenizer, n_positions=20, workers=4, batch_size=7),
        count_texts(texts, tokenizer, n_positions=20, workers=3, batch_size=100),
    ):
        assert equal(reference, other)


def test_counts_of_parts_add_up() -> None:
    texts = corpus(500)
    whole = count_texts(texts, n_positions=16)
    parts = [count_texts(texts[i::3], n_positions=16) for i in range(3)]
    assert equal(whole, parts[0].merge(*parts[1:]))
    assert equal(whole, parts[2].merge(parts[0], parts[1]))


def test_renaming_the_tokens_changes_no_score() -> None:
    rng = np.random.default_rng(0)
    dense = rng.poisson(rng.gamma(1.0, 3.0, (10, 15)), (6, 10, 15)) + 1
    renamed = dense[:, :, rng.permutation(15)]
    a, b = (analyze(make_counts(x), n_dims=8).scorecard for x in (dense, renamed))
    for one, other in zip(a.rows, b.rows, strict=True):
        assert one.stress_raw == pytest.approx(other.stress_raw, rel=1e-7, abs=1e-12)
        assert one.violation_rate == other.violation_rate


def test_relabelling_the_positions_permutes_the_geometry() -> None:
    rng = np.random.default_rng(0)
    dense = rng.poisson(3.0, (4, 9, 15)) + 1
    order = rng.permutation(9)
    a, b = geometry(make_counts(dense), depth="full"), geometry(make_counts(dense[:, order]), depth="full")
    np.testing.assert_allclose(b.distances.squared, a.distances.squared[np.ix_(order, order)], atol=1e-12)
    points = rng.normal(size=(9, 3))
    assert stress(points[order], b) == pytest.approx(stress(points, a), rel=1e-9)


def test_a_shuffled_corpus_has_no_geometry() -> None:
    """Tokens permuted inside each document: what is left of the plug-in distance is noise."""
    rng = np.random.default_rng(0)
    ordered = [" ".join(f"{w}{min(i, 5)}" for i, w in enumerate(rng.choice(WORDS, 8))) for _ in range(3000)]
    shuffled = [" ".join(rng.permutation(text.split())) for text in ordered]
    real, null = (geometry(count_texts(texts, n_positions=8)) for texts in (ordered, shuffled))
    assert real.distances.mean_squared > 0.5
    assert abs(null.distances.mean_squared) < 0.05 * null.plugin.mean_squared + 2e-3
    # Unbiased around zero: without structure about half of the estimates are negative.
    assert null.distances.negative_share > 0.2
    assert real.distances.negative_share <= 3 / 28  # only positions 5 to 7 share a distribution
