"""Lemma 16: how far apart the attention of two positions can be, given their Hellinger distance.

Position i asks with its mean embedding; its weights are a_i = softmax_j((W_Q e_i + b_Q) . (W_K e_j + b_K) / sqrt(r)).
Softmax changes by at most the largest change of a score, in the sum of absolute values; a score changes by at most
|e_i - e_k| times the longest W_Q^T (W_K e_j + b_K) / sqrt(r); and |e_i - e_k| <= max|E| |mu_i - mu_k|_1, which is at
most 2 max|E| d_H. So |a_i - a_k|_1 <= L_A d_H. Three constants are shown: that one, one that needs norms of weights
alone, and that with the factor sqrt(2V) in place of 2, as the paper has it for mean embeddings.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import GeometryError
from posgeom.estimation.build import geometry
from posgeom.estimation.distributions import position_distributions
from posgeom.models.query_key import QueryKey
from posgeom.theory.mean_embeddings import embedding_of_tokens
from posgeom.theory.verdict import Check, Verdict

_SLACK = 1e-9


@dataclass(frozen=True, kw_only=True)
class AttentionLipschitz(Check):
    """Lemma 16 on the distributions of a corpus, over all heads of a layer.

    The largest over heads of the measured constant and of its bounds; `n_violations` counts pairs beyond their head's.
    """

    measured: float
    sharp: float
    by_norms: float
    with_vocabulary: float
    n_violations: int
    n_pairs: int
    n_heads: int


def attention_lipschitz(
    counts: PositionCounts, embedding: NDArray[np.float64], projections: QueryKey
) -> AttentionLipschitz:
    """Measure the Lipschitz constant of attention weights in the Hellinger distance, beside its bounds.

    Parameters
    ----------
    counts : PositionCounts
        Their plug-in distributions: the inequality is about any distributions, those of a sample among them.
    embedding : ndarray of float, shape (V, d)
    projections : QueryKey
        Of the first layer.

    Returns
    -------
    AttentionLipschitz
        False where a pair exceeds the sharp constant.

    Raises
    ------
    GeometryError
        When sizes do not fit, or all positions have one distribution.
    """
    width = projections.query.shape[-1]
    if width != embedding.shape[1]:
        raise GeometryError(f"an embedding of width {embedding.shape[1]} does not fit projections of width {width}")
    vectors = embedding_of_tokens(counts, embedding)
    corpus = geometry(counts, estimator="plugin")
    upper = np.triu_indices(corpus.positions.size, 1)
    hellinger = corpus.plugin.values[upper]
    apart = hellinger > 0
    if not apart.any():
        raise GeometryError("all positions have one distribution: there is no distance to compare with")
    distributions = position_distributions(counts, corpus.positions)
    means = np.asarray(distributions.rows @ vectors)[distributions.row_of_position]
    longest = float(np.linalg.norm(vectors, axis=1).max())
    measured, sharp, by_norms, n_violations = 0.0, 0.0, 0.0, 0
    for head, (query, key) in enumerate(zip(projections.query, projections.keys_by_head, strict=True)):
        scale, shift = np.sqrt(query.shape[0]), projections.key_bias[projections.key_head(head)]
        asks, keys = means @ query.T + projections.query_bias[head], means @ key.T + shift
        weights = scipy.special.softmax(asks @ keys.T / scale, axis=1)
        ratios = scipy.spatial.distance.pdist(weights, "cityblock")[apart] / hellinger[apart]
        constant = 2 * longest * float(np.linalg.norm(keys @ query, axis=1).max()) / scale
        n_violations += int((ratios > constant * (1 + _SLACK)).sum())
        of_keys = float(np.linalg.norm(key, 2)) * longest + float(np.linalg.norm(shift))
        measured, sharp = max(measured, float(ratios.max())), max(sharp, constant)
        by_norms = max(by_norms, 2 * longest * float(np.linalg.norm(query, 2)) * of_keys / scale)
    with_vocabulary = by_norms * float(np.sqrt(2 * counts.vocab_size)) / 2
    return AttentionLipschitz(
        verdict=Verdict.FALSE if n_violations else Verdict.HOLDS,
        because=(
            f"attention weights change by at most {measured:.3g} d_H, under L_A = {sharp:.3g} ({n_violations} pairs "
            f"beyond); norms alone give {by_norms:.3g}, and with sqrt(2V) for 2 {with_vocabulary:.3g}"
        ),
        measured=measured,
        sharp=sharp,
        by_norms=by_norms,
        with_vocabulary=with_vocabulary,
        n_violations=n_violations,
        n_pairs=int(apart.sum()),
        n_heads=projections.query.shape[0],
    )
