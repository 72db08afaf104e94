"""Small corpora of known truth."""

import numpy as np

from posgeom.estimation.build import Geometry, geometry
from posgeom.simulation.synthetic import sample_counts

N = 10


def drifting(n: int = N, vocab: int = 25, seed: int = 0, by: float = 0.5) -> np.ndarray:
    """Distributions that drift along positions."""
    rng = np.random.default_rng(seed)
    base = rng.dirichlet(np.full(vocab, 0.7))
    truth = base * np.exp(np.linspace(-by, by, n)[:, None] * rng.normal(size=vocab))
    return np.asarray(truth / truth.sum(axis=1, keepdims=True))


def corpus(n_folds: int = 6, seed: int = 0, n_documents: int = 600) -> Geometry:
    """A corpus that drifts."""
    rng = np.random.default_rng(seed + 100)
    return geometry(sample_counts(drifting(), np.full(N, n_documents), n_folds=n_folds, rng=rng))


def flat(n_folds: int = 8, seed: int = 0, n_documents: int = 400) -> Geometry:
    """A corpus in which position means nothing."""
    rng = np.random.default_rng(seed)
    truth = np.tile(rng.dirichlet(np.full(20, 0.7)), (N, 1))
    return geometry(sample_counts(truth, np.full(N, n_documents), n_folds=n_folds, rng=rng))
