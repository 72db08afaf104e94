"""A small corpus, its encodings, and scores by formulas of sums."""

import numpy as np
from scipy.stats import spearmanr

from posgeom.encodings.alibi import alibi
from posgeom.encodings.base import Encoding
from posgeom.encodings.mds import mds
from posgeom.encodings.random import random
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.estimation.build import Geometry, geometry
from posgeom.simulation.synthetic import sample_counts

N = 10


def corpus(n_folds: int = 6, seed: int = 0, n_documents: int = 600) -> Geometry:
    rng = np.random.default_rng(seed)
    base = rng.dirichlet(np.full(25, 0.7))
    truth = base * np.exp(np.linspace(-0.5, 0.5, N)[:, None] * rng.normal(size=25))
    truth /= truth.sum(axis=1, keepdims=True)
    return geometry(sample_counts(truth, np.full(N, n_documents), n_folds=n_folds, rng=rng))


def schemes(shape: Geometry) -> list[Encoding]:
    return [sinusoidal(N, 8), alibi(N), mds(shape, 4, rank=2), random(N, 16)]


def slow_scores(e: np.ndarray, squared: np.ndarray, roots: np.ndarray) -> list[float]:
    """The five scores of sums over all values there are, and Spearman's correlation."""
    n = e.size
    e2, ed, d2 = (e**2).sum() / n, (e * roots).sum() / n, squared.sum() / n
    covariance = ed - e.mean() * roots.mean()
    spread = (e2 - e.mean() ** 2) * (d2 - roots.mean() ** 2)
    clipped = np.sqrt(np.maximum(squared, 0))
    return [
        (e2 - 2 * ed + d2) / d2,
        1 - ed**2 / (e2 * d2),
        ed / e2,
        np.sqrt((e2 - 2 * ed + d2) / e2) if e2 - 2 * ed + d2 >= 0 else np.nan,
        covariance / np.sqrt(spread),
        spearmanr(e, clipped).statistic,
    ]
