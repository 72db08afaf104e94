"""Corpora of known truth, drawn document by document: what the calibration study draws from.

Tokens are drawn one by one, so that everything that real documents do can be in them: a Zipf vocabulary, positions that
drift or change regime, unequal lengths, and topics that make the tokens of a document depend on each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.geometry.crossval import squared_distances
from posgeom.seeds import make_rng
from posgeom.tokenize.tokenizers import TokenizerIdentity

N_POSITIONS, VOCAB_SIZE, N_DOCUMENTS, N_FOLDS, N_NULL = 24, 2000, 2000, 10, 5
SCENARIOS = ("drift", "regimes", "unequal depth", "bursty", "none")


@dataclass(frozen=True, eq=False)
class Scenario:
    """A corpus with known truth.

    Attributes
    ----------
    name : str
    what : str
        In one sentence.
    distributions : ndarray of float, shape (n_topics, n_positions, vocab_size)
        Token distribution of each position in documents of each topic; topics are equally likely.
    lengths : ndarray of int, shape (n_documents,)
        Tokens of each document. Document k is in fold k mod `N_FOLDS`, so that depths are the same in every draw.
    has_structure : bool
        Whether position means anything.
    """

    name: str
    what: str
    distributions: NDArray[np.float64]
    lengths: NDArray[np.int64]
    has_structure: bool = True

    @property
    def marginal(self) -> NDArray[np.float64]:
        """True token distribution of each position, shape (n_positions, vocab_size)."""
        return np.asarray(self.distributions.mean(axis=0))

    def true_squared(self, depth: int | None) -> NDArray[np.float64]:
        """True squared distances, or what samples of one depth show on average, shape (n_positions, n_positions)."""
        roots = np.sqrt(self.marginal) if depth is None else expected_roots(self.marginal, depth)
        return np.asarray(np.maximum(squared_distances(roots @ roots.T), 0))

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        return np.cumsum(self.distributions, axis=2)

    def draw(self, rng: np.random.Generator, n_null: int = N_NULL) -> PositionCounts:
        """Counts of a corpus, with null corpora.

        Parameters
        ----------
        rng : numpy.random.Generator
        n_null : int

        Returns
        -------
        PositionCounts
        """
        n_topics, m, vocab_size = self.distributions.shape
        n = self.lengths.size
        topics = rng.integers(n_topics, size=n)
        uniform = rng.random((n, m))
        tokens = np.empty((n, m), np.int64)
        for topic in range(n_topics):
            rows = topics == topic
            for i in range(m):
                tokens[rows, i] = np.searchsorted(self._cumulative[topic, i], uniform[rows, i])
        tokens = np.minimum(tokens, vocab_size - 1)  # a cumulative sum may end just below 1
        outside = np.arange(m) >= self.lengths[:, None]
        counts = _count(tokens, outside, vocab_size, self.name)
        null = []
        for _ in range(n_null):
            order = rng.random((n, m))
            order[outside] = 2.0  # stays behind the tokens that are there
            permuted = np.take_along_axis(tokens, np.argsort(order, axis=1), axis=1)
            part = _count(permuted, outside, vocab_size, self.name)
            null.append((part.fold, part.position, part.token, part.count))
        return counts.with_null(null, 0) if null else counts


def _count(tokens: NDArray[np.int64], outside: NDArray[np.bool_], vocab_size: int, name: str) -> PositionCounts:
    n, m = tokens.shape
    fold = np.arange(n) % N_FOLDS
    keys = ((fold[:, None] * m + np.arange(m)) * vocab_size + tokens)[~outside]
    distinct, count = np.unique(keys, return_counts=True)
    cell, token = np.divmod(distinct, vocab_size)
    return PositionCounts(
        fold=cell // m,
        position=cell % m,
        token=token,
        count=count.astype(np.int64),
        n_positions=m,
        tokenizer=TokenizerIdentity("tokenizers", name, None, vocab_size, 0),
        documents=np.bincount(fold, minlength=N_FOLDS).astype(np.int64),
        empty_documents=int(outside.all(axis=1).sum()),
        sources=(name,),
    )


def expected_roots(distributions: NDArray[np.float64], depth: int) -> NDArray[np.float64]:
    """E sqrt(X / K) for X binomial with K = `depth` draws, of each probability; shape as given.

    Interpolated in the logarithm of the probability, to about 1e-5 of the root.
    """
    log_p, relative = _root_ratios(depth)
    with np.errstate(divide="ignore"):
        logs = np.log(distributions)
    return np.asarray(np.sqrt(distributions) * np.interp(logs, log_p, relative))


@cache
def _root_ratios(depth: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    log_p = np.linspace(np.log(1e-9), 0, 600)
    p = np.exp(log_p)[:, None]
    x = np.arange(depth + 1)
    with np.errstate(divide="ignore"):
        pmf = scipy.stats.binom.pmf(x, depth, p)
    return log_p, (pmf * np.sqrt(x / depth)).sum(axis=1) / np.sqrt(p[:, 0])


def scenarios() -> tuple[Scenario, ...]:
    """The corpora of the study."""
    rng = make_rng(1)
    base = 1 / (np.arange(VOCAB_SIZE) + 2.7)
    time = np.linspace(0, 1, N_POSITIONS)[:, None]
    waves = [0.4 / k * rng.normal(size=VOCAB_SIZE) * np.cos(np.pi * k * time / 2 + phase) for k, phase in _WAVES]
    drift = _normalised(base * np.exp(np.sum(waves, axis=0)))
    third = np.arange(VOCAB_SIZE) % 3
    regime = np.searchsorted([N_POSITIONS // 4, 3 * N_POSITIONS // 4], np.arange(N_POSITIONS), side="right")
    regimes = _normalised(base * np.where(third == regime[:, None], 3.0, 1.0))
    full = np.full(N_DOCUMENTS, N_POSITIONS)
    # A quarter of the documents reaches the end, evenly over the folds.
    steps = np.linspace(4, 4 * N_POSITIONS / 3, N_DOCUMENTS // N_FOLDS).astype(np.int64)
    unequal = np.minimum(np.repeat(steps, N_FOLDS), N_POSITIONS)
    topics = np.exp(1.2 * rng.normal(size=(8, 1, VOCAB_SIZE)))
    bursty = _normalised(drift * topics)
    flat = np.repeat(_normalised(base)[None], N_POSITIONS, axis=0)
    return (
        Scenario(SCENARIOS[0], "Zipf vocabulary whose tokens drift smoothly", drift[None], full),
        Scenario(SCENARIOS[1], "Zipf vocabulary in three regimes", regimes[None], full),
        Scenario(SCENARIOS[2], "the drift, in documents of unequal length", drift[None], unequal),
        Scenario(SCENARIOS[3], "the drift, in documents of eight topics", bursty, full),
        Scenario(
            SCENARIOS[4], "topics and unequal lengths, and no position", _normalised(flat * topics), unequal, False
        ),
    )


_WAVES = ((1, 0.3), (2, 1.9), (3, 4.0), (4, 5.5))


def _normalised(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
