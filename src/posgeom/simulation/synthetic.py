"""The synthetic three-regime corpus of the paper (Section 5), and corpora drawn from given distributions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import CountsError
from posgeom.seeds import make_rng
from posgeom.tokenize.tokenizers import TokenizerIdentity

REGIME_NAMES = ("initial", "medial", "terminal")
DEFAULT_CONCENTRATION, DEFAULT_PREFERENCE = 0.1, 30.0
_INITIAL_SHARE, _MEDIAL_SHARE = 0.25, 0.75


@dataclass(frozen=True, eq=False, slots=True)
class SyntheticCorpus:
    """A corpus with known truth."""

    distributions: NDArray[np.float64]
    """True token distribution of each position, shape (n, V)."""
    counts: PositionCounts
    """What a sample of documents shows."""
    regimes: NDArray[np.int64]
    """0 initial, 1 medial, 2 terminal, shape (n,)."""


def synthetic(
    n_positions: int = 32,
    vocab_size: int = 200,
    n_documents: int = 5000,
    *,
    concentration: float = DEFAULT_CONCENTRATION,
    preference: float = DEFAULT_PREFERENCE,
    n_folds: int = 10,
    seed: int = 0,
) -> SyntheticCorpus:
    """Draw a corpus like the paper's, of which it says no more than n, V, N and three regimes; here those are thirds.

    The first quarter of the positions prefers the first third of the vocabulary, the middle half the second, the last
    quarter the rest: each position draws its distribution from a Dirichlet whose concentration is higher there.
    """
    if n_positions < 4 or vocab_size < 3 or n_documents < n_folds or n_folds < 1:
        raise CountsError(
            f"synthetic corpus with n = {n_positions}, V = {vocab_size}, N = {n_documents}, {n_folds} folds: expected "
            "n >= 4, V >= 3 and N >= folds >= 1"
        )
    if not (0 < concentration < np.inf and 0 < preference < np.inf):
        raise CountsError(f"concentration {concentration} and preference {preference}: expected positive numbers")
    rng = make_rng(seed)
    bounds = [round(n_positions * _INITIAL_SHARE), round(n_positions * _MEDIAL_SHARE)]
    regimes = np.searchsorted(bounds, np.arange(n_positions), side="right")
    third = np.minimum(np.arange(vocab_size) * 3 // vocab_size, 2)
    parameters = concentration * np.where(third == regimes[:, None], preference, 1.0)
    distributions = np.stack([rng.dirichlet(row) for row in parameters])
    depth = np.full(n_positions, n_documents)
    return SyntheticCorpus(distributions, sample_counts(distributions, depth, n_folds=n_folds, rng=rng), regimes)


def sample_counts(
    distributions: NDArray[np.float64],
    depth: NDArray[np.int64],
    *,
    n_folds: int,
    rng: np.random.Generator,
    source: str = "synthetic",
) -> PositionCounts:
    """Multinomial counts from `distributions` (n, V), at `depth` (n,), positions independent of each other."""
    # Folds differ by at most one, and add up to the depth.
    per_fold = (depth + np.arange(n_folds)[:, None]) // n_folds
    parts = []
    for f in range(n_folds):
        counts = rng.multinomial(per_fold[f], distributions)
        position, token = np.nonzero(counts)
        parts.append((np.full(token.size, f), position, token, counts[position, token]))
    fold, position, token, count = (np.concatenate(one).astype(np.int64) for one in zip(*parts, strict=True))
    return PositionCounts(
        fold,
        position,
        token,
        count,
        n_positions=distributions.shape[0],
        tokenizer=TokenizerIdentity("tokenizers", source, None, distributions.shape[1], 0),
        documents=per_fold.max(axis=1),
        empty_documents=0,
        sources=(source,),
    )
