"""H1 and H3 of Theorem 4: which positions differ in the mean embedding of their tokens, beyond sampling noise.

The mean embedding e_i = sum_v mu_i(v) E(v) is linear in the counts, so its expectation is the same at every depth: no
rarefaction is needed, unlike for square roots. With delta_f = e_i - e_j among the documents of fold f, the squared
distance is the mean of <delta_f, delta_g> over pairs of different folds, which is unbiased around 0.

Where e_i = e_j, the delta_f have mean 0. They are taken to be symmetric about it, which is exact where documents reach
both positions and could have their tokens there exchanged, and otherwise approximate, by the central limit theorem.
Then flipping the signs of folds leaves the law of T = |sum_f s_f delta_f|^2 / sum_f |delta_f|^2 unchanged, for all such
pairs at once. The p-values are corrected for the number of pairs by the step-down maximum of T (Westfall and Young
1993; Romano and Wolf 2005): whatever ties pairs to each other, at most a share alpha of corpora have any pair told
apart that is not apart. With ten folds Holm's correction could never tell one pair of fifty apart; this can.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import GeometryError
from posgeom.estimation.crossval import squared_distances, total_of
from posgeom.estimation.depth import select_positions
from posgeom.estimation.fold_products import choose_fold_groups, depth_of_groups, fold_groups_of
from posgeom.estimation.sparse_rows import divide_rows, row_sums
from posgeom.inference.significance import sign_patterns
from posgeom.policies import ALPHA, FEWEST_TO_TEST
from posgeom.theory.verdict import Cell, Check, Verdict

_EPSILON = float(np.finfo(np.float64).eps)
_RELATIVE = 1e-9
_CELLS = 1 << 22


@dataclass(frozen=True, kw_only=True, eq=False)
class PairTest(Check):
    """A hypothesis of Theorem 4 on every pair of positions.

    Matrices of pairs: cross-validated `squared` distances (which may be negative), their jackknife `standard_error`,
    `p_values` corrected for the number of pairs, and which are `told_apart`: by these, and beyond `round_off`.
    """

    hypothesis: str
    positions: NDArray[np.int64]
    squared: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    p_values: NDArray[np.float64]
    told_apart: NDArray[np.bool_]
    round_off: float
    alpha: float
    n_groups: int
    n_patterns: int

    @property
    def n_pairs(self) -> int:
        """Pairs of positions."""
        return self.positions.size * (self.positions.size - 1) // 2

    @property
    def n_told_apart(self) -> int:
        """Pairs that are told apart."""
        return int(self.told_apart.sum()) // 2

    def rows(self) -> Sequence[tuple[Cell, ...]]:
        """What the terminal shows: the numbers of `to_dict`."""
        numbers = ((name.replace("_", " "), value) for name, value in self.to_dict().items())
        return [(name, value) for name, value in numbers if not isinstance(value, str)]

    def to_dict(self) -> dict[str, Any]:
        """Summary for JSON, without the matrices of pairs."""
        upper = self.squared[np.triu_indices(self.positions.size, 1)]
        return {
            "hypothesis": self.hypothesis,
            "verdict": str(self.verdict),
            "because": self.because,
            "positions": int(self.positions.size),
            "pairs": self.n_pairs,
            "pairs_told_apart": self.n_told_apart,
            "mean_squared_distance": float(upper.mean()),
            "smallest_p_value": float(self.p_values[np.triu_indices(self.positions.size, 1)].min()),
            "round_off": self.round_off,
            "alpha": self.alpha,
            "groups_of_folds": self.n_groups,
            "patterns_of_signs": self.n_patterns,
        }


def mean_embedding_test(
    counts: PositionCounts,
    embedding: NDArray[np.float64],
    *,
    positions: NDArray[np.int64] | None = None,
    alpha: float = ALPHA,
    seed: int = 0,
) -> PairTest:
    """H1: which pairs of positions have different mean embeddings.

    Parameters
    ----------
    counts : PositionCounts
    embedding : ndarray of float, shape (V, d)
        A row for each token of the vocabulary.
    positions : ndarray of int, shape (m,), optional
        By default those deep enough for a geometry of the corpus.
    alpha : float
        Probability that any pair is told apart whose mean embeddings are equal.
    seed : int
        Of the patterns of signs, where there are more of them than are tried.

    Returns
    -------
    PairTest
        Holds where every pair is told apart. Where one is not, the positive distance that the counts show by
        themselves is an artefact of noise, as far as this corpus can tell.

    Raises
    ------
    GeometryError
        When the embedding does not fit the counts, or there are fewer than six groups of folds.
    """
    return pair_test(counts, embedding, positions=positions, alpha=alpha, seed=seed)


def projected_embedding_test(
    counts: PositionCounts,
    embedding: NDArray[np.float64],
    query: NDArray[np.float64],
    key: NDArray[np.float64],
    *,
    positions: NDArray[np.int64] | None = None,
    alpha: float = ALPHA,
    seed: int = 0,
) -> PairTest:
    """H3: which pairs of positions have mean embeddings that M = W_Q^T W_K tells apart, |M (e_i - e_j)| > 0.

    Parameters
    ----------
    counts : PositionCounts
    embedding : ndarray of float, shape (V, d)
    query, key : ndarray of float, shape (r, d)
        Rows of W_Q and W_K, stored out x in, of the first layer or of one of its heads.
    positions, alpha, seed
        As for `mean_embedding_test`.

    Returns
    -------
    PairTest
    """
    if query.shape != key.shape or query.shape[1] != embedding.shape[1]:
        raise GeometryError(
            f"queries of shape {query.shape} and keys of shape {key.shape} do not fit an embedding of width "
            f"{embedding.shape[1]}: expected both of shape (rows, {embedding.shape[1]})"
        )
    vectors = embedding @ key.T @ query
    magnitude = np.abs(embedding) @ np.abs(key).T @ np.abs(query)
    error = sum(query.shape) * _EPSILON * float(np.linalg.norm(magnitude, axis=1).max())
    return pair_test(counts, vectors, error=error, hypothesis="H3", positions=positions, alpha=alpha, seed=seed)


def pair_test(
    counts: PositionCounts,
    vectors: NDArray[np.float64],
    *,
    error: float = 0.0,
    hypothesis: str = "H1",
    positions: NDArray[np.int64] | None = None,
    alpha: float = ALPHA,
    seed: int = 0,
) -> PairTest:
    """Tell positions apart by the mean of a vector over their tokens; `error` bounds round-off of each vector."""
    vectors = embedding_of_tokens(counts, vectors)
    if positions is None:
        groups, depth = fold_groups_of(counts)
        positions = select_positions(
            counts.depth, min_depth=None, empty="mask", group_depth=depth, bins=counts.bins
        ).positions
    else:
        groups = choose_fold_groups(counts, int(counts.depth[positions].min()))
    if len(groups) < FEWEST_TO_TEST:
        raise GeometryError(
            f"{len(groups)} groups of folds with documents: a test of pairs needs {FEWEST_TO_TEST}; use more --folds"
        )
    if not (depth_of_groups(counts, groups)[:, positions] > 0).all():
        raise GeometryError("a position has no sequence in some fold: leave it out of the positions, or add text")
    means = _means_by_group(counts, vectors, positions, groups)
    rows, columns = np.triu_indices(positions.size, 1)
    pairs = list(combinations(range(len(groups)), 2))
    products = np.stack([_product(means[f], means[g])[rows, columns] for f, g in pairs])
    norms = sum(squared_distances(one @ one.T)[rows, columns] for one in means)
    signs = sign_patterns(len(groups), seed)
    squared, errors = _jackknifed(products, pairs, len(groups))
    round_off = _round_off(means, vectors, error)
    p_values = _step_down(products, np.asarray(norms), pairs, signs)
    told_apart = (p_values <= alpha) & (np.sqrt(np.maximum(squared, 0)) > round_off)

    def square(values: NDArray[Any], diagonal: float) -> NDArray[Any]:
        out = np.full((positions.size, positions.size), diagonal, values.dtype)
        out[rows, columns] = out[columns, rows] = values
        return out

    n_told, n_pairs = int(told_apart.sum()), told_apart.size
    return PairTest(
        verdict=Verdict.HOLDS if n_told == n_pairs else Verdict.NOISE,
        because=(
            f"{n_told:,} of {n_pairs:,} pairs of positions are told apart at level {alpha:g} for all pairs together; "
            + ("none is left" if n_told == n_pairs else "the distance of the others is no more than noise makes it")
        ),
        hypothesis=hypothesis,
        positions=positions,
        squared=square(squared, 0),
        standard_error=square(errors, 0),
        p_values=square(p_values, 1),
        told_apart=square(told_apart, False),
        round_off=round_off,
        alpha=alpha,
        n_groups=len(groups),
        n_patterns=len(signs),
    )


def embedding_of_tokens(counts: PositionCounts, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The vectors of the tokens that occur, in the columns of the counts, shape (n_distinct, d)."""
    if counts.vocabulary is not None:
        raise GeometryError("the counts are of whitespace words, which have no ids: count with the model's tokenizer")
    tokens = counts.distinct_tokens
    if vectors.ndim != 2 or (tokens.size and int(tokens[-1]) >= vectors.shape[0]):
        raise GeometryError(
            f"an embedding of shape {vectors.shape} has no row for token {int(tokens.max(initial=0)):,}: count with "
            "the model's own tokenizer"
        )
    chosen = np.asarray(vectors[tokens], np.float64)
    if not np.isfinite(chosen).all():
        raise GeometryError("the embedding holds numbers that are not finite")
    return chosen


def _means_by_group(
    counts: PositionCounts, vectors: NDArray[np.float64], positions: NDArray[np.int64], groups: Sequence[Sequence[int]]
) -> list[NDArray[np.float64]]:
    """Mean vector of each position in each group of folds, less their mean over positions, shape (m, d) each."""
    used = [matrix[positions] for matrix in counts.fold_matrices]
    out = []
    for group in groups:
        total = total_of(used, group)
        means = np.asarray(divide_rows(total, row_sums(total)) @ vectors)
        out.append(means - means.mean(axis=0))
    return out


def _product(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """<a_i - a_j, b_i - b_j> for all pairs of rows, shape (m, m)."""
    gram = a @ b.T
    return squared_distances((gram + gram.T) / 2)


def _jackknifed(
    products: NDArray[np.float64], pairs: Sequence[tuple[int, int]], n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means over pairs of folds and their delete-one jackknife errors, each of shape (n_pairs_of_positions,)."""
    has = np.zeros((n, len(pairs)))
    for column, (f, g) in enumerate(pairs):
        has[[f, g], column] = 1
    left_out = (1 - has) @ products / (len(pairs) - n + 1)
    errors = np.sqrt((n - 1) / n * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
    return products.mean(axis=0), np.asarray(errors)


def _round_off(means: Sequence[NDArray[np.float64]], vectors: NDArray[np.float64], error: float) -> float:
    """Bound of the round-off in a distance: of the vectors, of their means, and of the products."""
    of_mean = error + vectors.shape[0] * _EPSILON * float(np.linalg.norm(vectors, axis=1).max())
    largest = max(float((one**2).sum(axis=1).max()) for one in means)
    return float(np.hypot(2 * of_mean, np.sqrt(8 * vectors.shape[1] * _EPSILON * largest)))


def _step_down(
    products: NDArray[np.float64],
    norms: NDArray[np.float64],
    pairs: Sequence[tuple[int, int]],
    signs: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Step-down maximum p-values of all pairs of positions, shape (n_pairs_of_positions,)."""
    first, second = np.array(pairs).T
    weights = signs[:, first] * signs[:, second]
    # T less the constant 1, over a denominator that no pattern changes.
    scaled = np.divide(2 * products, norms, out=np.zeros_like(products), where=norms > 0)
    observed = scaled.sum(axis=0)
    order = np.argsort(observed, kind="stable")
    running = np.full((len(signs), 1), -np.inf)
    p_values = np.empty(observed.size)
    step = max(1, _CELLS // len(signs))
    for start in range(0, order.size, step):
        part = order[start : start + step]
        largest = np.maximum.accumulate(np.hstack([running, weights @ scaled[:, part]]), axis=1)[:, 1:]
        p_values[part] = (largest >= observed[part] - _RELATIVE * np.abs(observed[part])).mean(axis=0)
        running = largest[:, -1:]
    p_values[order[::-1]] = np.maximum.accumulate(p_values[order[::-1]])
    return p_values
