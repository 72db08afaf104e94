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
    """Draw a three-regime corpus.

    The first quarter of the positions prefers the first third of the vocabulary, the middle half the second
    third, the last quarter the rest. Each position draws its own distribution from a Dirichlet with one
    concentration, times the preference on its regime's third. The paper does not specify its corpus further than
    n = 32, V = 200, N = 5,000 and three regimes; by default this one comes near its figures.
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
    """Multinomial counts from given distributions, positions independent of each other.

    Shapes: `distributions` (n, V), `depth` (n,).
    """
    n_positions, vocab_size = distributions.shape
    fold, position, token, count = [], [], [], []
    documents = np.zeros(n_folds, np.int64)
    for f in range(n_folds):
        per_fold = (depth + f) // n_folds  # differs by at most one between folds, and adds up to the depth
        documents[f] = per_fold.max()
        for i in range(n_positions):
            drawn = rng.multinomial(per_fold[i], distributions[i])
            tokens = np.flatnonzero(drawn)
            fold.append(np.full(tokens.size, f))
            position.append(np.full(tokens.size, i))
            token.append(tokens)
            count.append(drawn[tokens])
    return PositionCounts(
        fold=np.concatenate(fold).astype(np.int64),
        position=np.concatenate(position).astype(np.int64),
        token=np.concatenate(token).astype(np.int64),
        count=np.concatenate(count).astype(np.int64),
        n_positions=n_positions,
        tokenizer=TokenizerIdentity("tokenizers", source, None, vocab_size, 0),
        documents=documents,
        empty_documents=0,
        sources=(source,),
    )
