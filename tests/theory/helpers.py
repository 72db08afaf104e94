"""Corpora whose geometry is known: stationary ones, and ones that drift."""

import numpy as np

from posgeom.counts.position_counts import PositionCounts
from posgeom.estimation.build import Geometry, geometry
from posgeom.seeds import make_rng
from posgeom.simulation.synthetic import sample_counts


def windows(n: int = 20, width: int = 8) -> np.ndarray:
    """Position i is uniform over the tokens i to i + width - 1, so that d^2 = 2 min(lag / width, 1)."""
    rows = np.zeros((n, n + width))
    for i in range(n):
        rows[i, i : i + width] = 1 / width
    return rows


def sampled(rows: np.ndarray, n_documents: int = 2000, *, seed: int = 0, n_folds: int = 8) -> PositionCounts:
    depth = np.full(len(rows), n_documents)
    return sample_counts(rows, depth, n_folds=n_folds, rng=make_rng(seed))


def estimated(rows: np.ndarray, n_documents: int = 2000, *, seed: int = 0) -> Geometry:
    return geometry(sampled(rows, n_documents, seed=seed))


def drifting(n: int = 16, vocab: int = 30, seed: int = 3) -> np.ndarray:
    """Distributions that move from one to another, fast at first."""
    ends = np.random.default_rng(seed).dirichlet(np.full(vocab, 0.4), 2)
    share = np.sqrt(np.linspace(0, 1, n))[:, None]
    return np.asarray((1 - share) * ends[0] + share * ends[1])
