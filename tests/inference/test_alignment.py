"""Alignment free of noise, against loops over pairs of folds, closed forms and known truth."""

from itertools import combinations

import numpy as np
import pytest

from posgeom.encodings.alibi import alibi
from posgeom.encodings.base import PointEncoding
from posgeom.encodings.mds import mds
from posgeom.encodings.random import random
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.estimation.build import geometry
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.mds import double_centre
from posgeom.inference.alignment import Norm, targets_of, why_undefined
from posgeom.inference.scorecard import scorecard
from posgeom.inference.scoring import alignment, corpus_scores
from posgeom.simulation.scenarios import expected_roots
from posgeom.simulation.synthetic import sample_counts
from tests.inference.helpers import N, corpus, drifting, flat


def slow_norm(products: np.ndarray, pairs: list[tuple[int, int]], groups: list[int]) -> float:
    """Mean of <B_fg, B_hk> over folds that are all different."""
    terms = []
    for (f, g), a in zip(pairs, products, strict=True):
        for (h, k), b in zip(pairs, products, strict=True):
            if {f, g, h, k} <= set(groups) and len({f, g, h, k}) == 4:
                terms.append((a * b).sum())
    return float(np.mean(terms))


def test_the_norm_agrees_with_a_loop() -> None:
    shape = corpus()
    products = shape.products
    assert products is not None
    ((_, block),) = products.row_blocks()
    assert products.pairs == list(combinations(range(6), 2))
    norm = Norm(products)
    for groups in (list(range(6)), [0, 2, 3, 4, 5], [1, 2, 3, 5]):
        slow = slow_norm(block, products.pairs, groups)
        assert norm.squared(groups) == pytest.approx(slow)
        assert norm(groups) == pytest.approx(np.sqrt(slow))
    assert np.isnan(norm.squared([0, 1, 2]))


@pytest.mark.slow
def test_norm_and_alignment_are_free_of_noise() -> None:
    """Their means over corpora are what samples of that depth show, where the plug-in norm is far above it."""
    truth = drifting(by=0.15)
    roots = expected_roots(truth, 50)
    at_depth = ((roots[:, None] - roots) ** 2).sum(axis=2)
    target = DistanceMatrix.from_squared(at_depth, np.arange(N), "hellinger", "given")
    norms, plugin, products_with = [], [], []
    encoding = double_centre(alibi(N).distances() ** 2)
    for seed in range(80):
        counts = sample_counts(truth, np.full(N, 300), n_folds=6, rng=np.random.default_rng(seed))
        shape = geometry(counts, min_depth=1)
        products = shape.products
        assert shape.depth == 50
        assert products is not None
        norms.append(Norm(products).squared(range(6)))
        plugin.append(float((products.centred() ** 2).sum()))
        products_with.append(float((encoding * products.centred()).sum()))
    known = double_centre(at_depth)
    error = np.std(norms) / np.sqrt(80)
    assert np.mean(norms) == pytest.approx((known**2).sum(), abs=3 * error)
    assert np.mean(plugin) > (known**2).sum() + 10 * error
    found = np.mean(products_with) / np.linalg.norm(encoding) / np.sqrt(np.mean(norms))
    assert found == pytest.approx(corpus_scores(alibi(N), target)["alignment"], rel=0.03)


def test_it_is_the_cosine_of_two_gram_matrices() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(N, 3)), rng.normal(size=(N, 4))
    target = DistanceMatrix(np.linalg.norm(b[:, None] - b, axis=2), np.arange(N), "given", "given")
    grams = [(x - x.mean(axis=0)) @ (x - x.mean(axis=0)).T for x in (a, b)]
    cosine = (grams[0] * grams[1]).sum() / np.linalg.norm(grams[0]) / np.linalg.norm(grams[1])
    found = corpus_scores(a, target)
    assert found["alignment"] == pytest.approx(cosine)
    assert found["explained"] == pytest.approx(cosine**2)
    scale = found["alignment_scale"]
    assert scale is not None
    left = [np.linalg.norm(grams[1] - s * grams[0]) for s in (0.99 * scale, scale, 1.01 * scale)]
    assert left[1] == min(left)
    assert (left[1] / np.linalg.norm(grams[1])) ** 2 == pytest.approx(1 - cosine**2)


def test_scale_rotation_and_translation_leave_it_alone() -> None:
    shape, rng = corpus(), np.random.default_rng(1)
    points = np.asarray(sinusoidal(N, 8).coordinates())
    turned = 17 * points @ np.linalg.qr(rng.normal(size=(8, 8)))[0] + rng.normal(size=8)
    assert alignment(turned, shape) == pytest.approx(alignment(points, shape))
    raw, moved = (corpus_scores(x, shape)["stress_raw"] for x in (points, turned))
    assert raw is not None
    assert moved is not None
    assert moved > 100 * raw


def test_against_its_own_distances_mds_has_all() -> None:
    plugin = geometry(
        sample_counts(drifting(), np.full(N, 400), n_folds=4, rng=np.random.default_rng(0)), estimator="plugin"
    )
    assert alignment(mds(plugin), plugin) == pytest.approx(1)
    values = plugin.spectrum.eigenvalues
    two = np.sqrt((values[:2] ** 2).sum() / (values**2).sum())
    assert alignment(mds(plugin, rank=2), plugin) == pytest.approx(two)


def test_where_there_is_no_structure_it_is_undefined() -> None:
    shape = flat(seed=3)
    reason = why_undefined(shape)
    assert reason is not None
    assert "no axis of this geometry is more than noise (p = " in reason
    card = scorecard([alibi(N), random(N, 8)], shape)
    assert card.undefined == reason
    for row in card:
        assert row.alignment is row.explained is row.alignment_scale is None
        assert "alignment" not in row.intervals
        assert row.stress_scaled is not None  # the paper's measure stays
    assert alignment(alibi(N), shape) is None
    assert card.difference("alibi", "random").value is None


def test_too_few_folds() -> None:
    three, four, five = (corpus(n_folds=k) for k in (3, 4, 5))
    assert "fewer than 4 folds" in (why_undefined(three) or "")
    assert alignment(alibi(N), three) is None
    assert alignment(alibi(N), four) is not None
    assert "alignment" not in scorecard(alibi(N), four).rows[0].intervals
    assert "alignment" in scorecard(alibi(N), five).rows[0].intervals


def test_an_encoding_at_one_point_and_equal_distances() -> None:
    shape = corpus()
    assert alignment(np.zeros((N, 3)), shape) is None
    equal = alignment(PointEncoding("equal", np.eye(N)), shape)
    assert equal is not None
    products = shape.products
    assert products is not None
    centred = products.centred()
    assert equal == pytest.approx(np.trace(centred) / np.sqrt(N - 1) / Norm(products)(range(6)))


def test_targets_without_each_fold() -> None:
    shape = corpus()
    products = shape.products
    assert products is not None
    full, *without = targets_of(shape, None, errors=True)
    assert len(without) == 6
    np.testing.assert_array_equal(full.distances, shape.distances.pairs)
    upper = np.triu_indices(N, 1)
    np.testing.assert_allclose(without[2].products, products.centred([0, 1, 3, 4, 5])[upper])
    assert all(np.isnan(one.norm) for one in targets_of(shape, "because", errors=True))


def test_noise_lowers_a_correlation_and_not_an_alignment() -> None:
    """With the truth itself as the encoding."""
    truth = drifting(vocab=60, by=0.25)
    roots = expected_roots(truth, 250)
    encoding = PointEncoding("truth", roots)
    pearson, aligned = [], []
    for seed in range(12):
        counts = sample_counts(truth, np.full(N, 2000), n_folds=8, rng=np.random.default_rng(seed))
        found = corpus_scores(encoding, geometry(counts))
        pearson.append(found["pearson"])
        aligned.append(found["alignment"])
    assert np.mean(pearson) < 0.95  # type: ignore[arg-type]
    assert np.mean(aligned) == pytest.approx(1, abs=0.02)  # type: ignore[arg-type]
