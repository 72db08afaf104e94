"""What one half of the folds gives, scored on the other, against scores computed again from products of folds."""

from itertools import combinations

import numpy as np
import pytest

from posgeom.encodings.alibi import alibi
from posgeom.encodings.mds import mds
from posgeom.geometry.build import Geometry
from posgeom.geometry.crossval import balanced_splits
from posgeom.scores.halves import Halves, fit_of, other_half
from tests.scores.helpers import N, corpus, slow_scores

Pair = tuple[int, int]


def fitted(kind: str, squared: np.ndarray) -> np.ndarray:
    """Distances that a half gives: its own, or those of its two leading axes."""
    if kind == "half":
        return np.asarray(np.sqrt(np.maximum(squared, 0)))
    centre = np.eye(N) - 1 / N
    square = np.zeros((N, N))
    square[np.triu_indices(N, 1)] = squared
    values, vectors = np.linalg.eigh(-centre @ (square + square.T) @ centre / 2)
    points = vectors[:, -2:] * np.sqrt(values[-2:])
    return np.asarray(np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))[np.triu_indices(N, 1)])


def slow(shape: Geometry, kind: str, lighter: tuple[int, int, Pair] | None = None, step: float = 0) -> np.ndarray:
    """Scores over both directions of two splits; one pair of folds of one half of one split has less weight."""
    pairs, noise = shape.fold_pairs, shape.noise
    assert pairs is not None
    assert noise is not None
    kernel = dict(zip(combinations(range(pairs.n_blocks), 2), pairs.kernel, strict=True))
    e, squared, roots, ranked = [], [], [], []
    for k, split in enumerate(balanced_splits(list(range(pairs.n_blocks)), 2, shape.seed)):
        means, sizes = [], []
        for side, half in enumerate((split.a, split.b)):
            own = list(combinations(half, 2))
            weights = [(1 + step) / len(own) - step * ((k, side, pair) == lighter) for pair in own]
            means.append(np.average([kernel[pair] for pair in own], axis=0, weights=weights))
            sizes.append(len(half))
        for a, b in ((0, 1), (1, 0)):
            e.append(fitted(kind, means[a]))
            squared.append(means[b])
            roots.append(noise.roots(means[b], sizes[b]))
            ranked.append(slow_scores(e[-1], squared[-1], roots[-1])[5])
    pooled = slow_scores(np.concatenate(e), np.concatenate(squared), np.concatenate(roots))
    return np.array([*pooled[:5], np.mean(ranked)])


@pytest.mark.parametrize("n_folds", [6, 7, 8])
def test_scores_and_terms(n_folds: int) -> None:
    shape = corpus(n_folds=n_folds)
    pairs = shape.fold_pairs
    assert pairs is not None
    full, terms = Halves(shape, pairs).scores([fit_of(mds(shape, 4, rank=2), shape.positions), other_half], terms=True)
    assert terms is not None
    splits = balanced_splits(list(range(n_folds)), 2, shape.seed)
    for column, kind in enumerate(("mds", "half")):
        whole = slow(shape, kind)
        np.testing.assert_allclose(full[:, column], whole, rtol=1e-8)
        known = np.zeros(terms[..., column].shape)
        for k, split in enumerate(splits):
            for side, half in enumerate((split.a, split.b)):
                of_half = list(combinations(half, 2))
                step = 0.6 / np.sqrt(len(of_half))
                moved = np.array([slow(shape, kind, (k, side, pair), step) for pair in of_half])
                changes = (whole - moved) / (step * len(of_half))
                known[[pairs.row(*pair) for pair in of_half]] += changes - changes.mean(axis=0)
        np.testing.assert_allclose(terms[..., column], known, rtol=1e-6, atol=1e-10)
        np.testing.assert_allclose(terms[..., column].sum(axis=0), 0, atol=1e-10)


@pytest.mark.parametrize("n_folds", [4, 5])
def test_a_half_of_two_folds_cannot_lose_its_only_pair(n_folds: int) -> None:
    shape = corpus(n_folds=n_folds)
    assert shape.fold_pairs is not None
    halves = Halves(shape, shape.fold_pairs)
    full, terms = halves.scores([other_half], terms=True)
    assert np.isfinite(full[:3]).all()
    assert terms is None
    assert halves.variance is None


def test_terms_are_left_out_where_they_are_not_wanted() -> None:
    shape = corpus()
    assert shape.fold_pairs is not None
    halves = Halves(shape, shape.fold_pairs)
    full, terms = halves.scores([other_half], terms=False)
    assert terms is None
    np.testing.assert_array_equal(full, halves.scores([other_half], terms=True)[0])


def test_an_encoding_that_is_not_fitted() -> None:
    with pytest.raises(ValueError, match="alibi is not fitted"):
        fit_of(alibi(N), np.arange(N))
