"""What one half of a corpus gives, scored on the other half, against the same written out."""

import numpy as np
import pytest

from posgeom.encodings.mds import mds
from posgeom.estimation.crossval import balanced_splits
from posgeom.estimation.mds import double_centre
from posgeom.inference.alignment import Norm
from posgeom.inference.fields import FIELDS
from posgeom.inference.held_out import fit_of, held_out, other_half
from posgeom.inference.scorecard import scorecard
from posgeom.policies import HELD_OUT_SPLITS
from tests.inference.helpers import N, corpus

RANK = 2


def slow_scores(fitted: np.ndarray, target: np.ndarray, norm: float) -> tuple[float, float]:
    """Alignment and scaled stress of the leading axes of one estimate of B against another."""
    values, vectors = np.linalg.eigh(fitted)
    axes = vectors[:, ::-1][:, :RANK] * np.sqrt(values[::-1][:RANK])
    gram = axes @ axes.T
    own = np.diagonal(target)
    squared = np.maximum(own[:, None] + own - 2 * target, 0)
    np.fill_diagonal(squared, 0)
    d, e = np.sqrt(squared), np.linalg.norm(axes[:, None] - axes, axis=2)
    scaled = 1 - (e * d).sum() ** 2 / ((e**2).sum() * (d**2).sum())
    return float((gram * target).sum() / np.linalg.norm(gram) / norm), float(scaled)


def test_mds_is_fitted_to_each_half_and_scored_on_the_other() -> None:
    shape = corpus(n_folds=7)
    products = shape.products
    assert products is not None
    norm = Norm(products)
    everything = range(7)
    norms = [norm(everything), *(norm([g for g in everything if g != f]) for f in everything)]
    found = held_out([fit_of(mds(shape, rank=RANK), shape.positions)], shape, products, norms, errors=True)
    assert found.shape == (8, len(FIELDS), 1)
    for row, fold in enumerate([None, *everything]):
        slow = []
        for split in balanced_splits(list(everything), HELD_OUT_SPLITS, shape.seed):
            halves = [products.centred([f for f in half if f != fold]) for half in (split.a, split.b)]
            slow += [slow_scores(halves[0], halves[1], norms[row]), slow_scores(halves[1], halves[0], norms[row])]
        alignment, scaled = np.mean(slow, axis=0)
        assert found[row, FIELDS.index("alignment"), 0] == pytest.approx(alignment)
        assert found[row, FIELDS.index("stress_scaled"), 0] == pytest.approx(scaled)


def test_out_of_sample_more_axes_than_there_are_do_not_help() -> None:
    shape = corpus(n_folds=8, n_documents=1200)
    card = scorecard([mds(shape, rank=1), mds(shape)], shape)
    one, every = card.rows
    assert one.alignment is not None
    assert every.alignment is not None
    assert 0.9 < one.alignment < 1.05
    assert every.alignment < one.alignment + 0.02
    assert every.stress_scaled is not None
    assert one.stress_scaled is not None
    assert one.stress_scaled < every.stress_scaled
    assert card.ceiling["alignment"] is not None


def test_the_other_half_is_its_own_distances() -> None:
    shape = corpus(n_folds=6)
    products = shape.products
    assert products is not None
    found = held_out([other_half], shape, products, [1.0], errors=False)
    slow = []
    for split in balanced_splits(list(range(6)), HELD_OUT_SPLITS, shape.seed):
        a, b = (products.squared(half) for half in (split.a, split.b))
        for fitted, target in ((a, b), (b, a)):
            gram = double_centre(np.maximum(fitted, 0))
            slow.append((gram * double_centre(target)).sum() / np.linalg.norm(gram))
    assert found[0, FIELDS.index("alignment"), 0] == pytest.approx(np.mean(slow))
    assert np.isnan(found[1:]).all()


def test_halves_of_one_fold_give_nothing() -> None:
    shape = corpus(n_folds=3)
    products = shape.products
    assert products is not None
    assert np.isnan(held_out([other_half], shape, products, [1.0] * 4, errors=True)).all()
    assert shape.positions.size == N
