"""Eigenvalues without what noise adds, against perturbation by hand and simulation."""

from itertools import combinations

import numpy as np
import pytest

from posgeom.geometry.distance_matrix import upper_pairs
from posgeom.geometry.eigenvalue_errors import without_noise
from posgeom.geometry.fold_pairs import FoldPairs
from posgeom.geometry.pair_variance import PairVariance, between

M = 12


def drawn(points: np.ndarray, noise: float, rng: np.random.Generator, n: int = 10) -> FoldPairs:
    """Products of two blocks, each with the same points and noise of its own."""
    blocks = np.concatenate([np.tile(points, (n, 1, 1)), noise * rng.normal(size=(n, M, 40))], axis=2)
    kernel = []
    for f, g in combinations(range(n), 2):
        gram = blocks[f] @ blocks[g].T
        gram = (gram + gram.T) / 2
        norms = np.diagonal(gram)
        kernel.append(upper_pairs(norms[:, None] + norms - 2 * gram))
    return FoldPairs(np.stack(kernel), n, np.full(M, 100), 1.0)


def axes_of(pairs: FoldPairs) -> tuple[np.ndarray, np.ndarray]:
    centre = np.eye(M) - 1 / M
    square = np.zeros((M, M))
    square[np.triu_indices(M, 1)] = pairs.mean
    values, vectors = np.linalg.eigh(-centre @ (square + square.T) @ centre / 2)
    return values[::-1], vectors[:, ::-1]


def points_of(lengths: tuple[float, float]) -> np.ndarray:
    angle = 2 * np.pi * np.arange(M) / M
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) * np.sqrt(np.array(lengths) * 2 / M)


def test_by_hand() -> None:
    pairs = drawn(points_of((3.0, 1.0)), 0.2, np.random.default_rng(0), n=6)
    values, vectors = axes_of(pairs)
    centre = np.eye(M) - 1 / M
    corrected, errors = without_noise(pairs, values, vectors, 2)
    for k in range(2):
        terms = np.empty((15, M))
        for p, row in enumerate(pairs.kernel):
            square = np.zeros((M, M))
            square[np.triu_indices(M, 1)] = row
            product = -centre @ (square + square.T) @ centre / 2
            terms[p] = [vectors[:, j] @ product @ vectors[:, k] for j in range(M)]
        assert terms[:, k].mean() == pytest.approx(values[k])
        terms = (terms - terms.mean(axis=0)) / 15
        mixing, expected = PairVariance.of_all(6)(terms), values[k]
        for j in set(range(M)) - {k}:
            gap = values[k] - values[j]
            root = np.sqrt(max(gap**2 - 4 * mixing[j], 0))
            expected -= (gap - root) / 2 if gap > 0 else (gap + root) / 2
        assert corrected[k] == pytest.approx(expected)
        assert errors[k] == pytest.approx(np.sqrt(between(6, 0.0)(terms[:, [k]])[0]))


def test_the_bias_of_noise_is_taken_out() -> None:
    """Two real axes among ten of noise: noise adds to both, by some standard errors of the mean of the draws."""
    rng, lengths = np.random.default_rng(1), (0.35, 0.2)
    plain, ours, errors = [], [], []
    for _ in range(200):
        pairs = drawn(points_of(lengths), 0.18, rng)
        values, vectors = axes_of(pairs)
        corrected, error = without_noise(pairs, values, vectors, 2)
        plain.append(values[:2])
        ours.append(corrected)
        errors.append(error)
    spread = np.std(ours, axis=0)
    bias, left = ((np.mean(x, axis=0) - lengths) / spread for x in (plain, ours))
    assert (bias > 0.4).all(), bias
    assert (abs(left) < 0.25).all(), left
    ratio = np.sqrt(np.mean(np.square(errors), axis=0)) / spread
    assert ((ratio > 0.9) & (ratio < 1.5)).all(), ratio  # up to 2.25 in variance where noise decides


def test_no_noise_and_no_axes() -> None:
    pairs = drawn(points_of((3.0, 1.0)), 0.0, np.random.default_rng(0))
    values, vectors = axes_of(pairs)
    corrected, errors = without_noise(pairs, values, vectors, 2)
    np.testing.assert_allclose(corrected, [3.0, 1.0])
    np.testing.assert_allclose(errors, 0, atol=1e-12)
    assert without_noise(pairs, values, vectors, 0)[0].size == 0
