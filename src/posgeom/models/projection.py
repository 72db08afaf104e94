"""Positions seen through a query-key product: scores of P M with M = W_Q^T W_K, and what M is made of."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posgeom.estimation.euclidean import euclidean_distances
from posgeom.inference.fields import FIELDS, EncodingPairs, Target
from posgeom.scores.effective_rank import effective_rank
from posgeom.scores.monotonicity import monotonicity

N_SINGULAR_VALUES = 8
"""Leading singular values kept."""


@dataclass(frozen=True, slots=True)
class ProjectionScores:
    """Scores of an encoding P projected by M; None where one is undefined.

    Attributes
    ----------
    alignment : float or None
        Cosine between the geometry of P M and the corpus's, whatever the norm of M.
    stress_raw, stress_scaled, scale : float or None
        Of P M against the geometry; see `posgeom.scores.stress.Stress`. Raw stress is the paper's.
    pearson : float or None
        Correlation of distances.
    violation_rate : float or None
        Of the distances of P M.
    norm : float
        Frobenius norm of M.
    symmetric_share, antisymmetric_share : float or None
        Squared Frobenius norm of (M + M^T) / 2 and of (M - M^T) / 2 over that of M; they add up to 1.
        None where M is 0.
    effective_rank : float
        Exponential of the entropy of all singular values of P M P^T.
    singular_values : tuple of float
        The leading ones of P M P^T.
    """

    alignment: float | None
    stress_raw: float | None
    stress_scaled: float | None
    scale: float | None
    pearson: float | None
    violation_rate: float | None
    norm: float
    symmetric_share: float | None
    antisymmetric_share: float | None
    effective_rank: float
    singular_values: tuple[float, ...]


def score_projection(
    points: NDArray[np.float64],
    query: NDArray[np.float64],
    key: NDArray[np.float64],
    target: Target,
    positions: NDArray[np.int64],
) -> ProjectionScores:
    """Scores of P M, with M = W_Q^T W_K of one head or of a whole layer.

    Shapes: `points` (m, d), `query, key` (r, d), `positions` (m,).
    """
    distances = euclidean_distances(projected(points, query, key))
    scores = dict(zip(FIELDS, EncodingPairs.of(distances).against(target).tolist(), strict=True))
    wanted = ("alignment", "stress_raw", "stress_scaled", "scale", "pearson")
    norm, symmetric = _norm_and_symmetry(query, key)
    values = _singular_values(points @ query.T, points @ key.T)
    return ProjectionScores(
        **{name: scores[name] if np.isfinite(scores[name]) else None for name in wanted},
        violation_rate=monotonicity(distances, positions).violation_rate,
        norm=norm,
        symmetric_share=symmetric,
        antisymmetric_share=None if symmetric is None else 1 - symmetric,
        effective_rank=effective_rank(values),
        singular_values=tuple(values[:N_SINGULAR_VALUES].tolist()),
    )


def projected(points: NDArray[np.float64], query: NDArray[np.float64], key: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows of P M, up to an isometry that leaves their distances alone.

    Shapes: `points` (m, d), `query, key` (r, d); the result (m, min(r, d).
    """
    coefficients = points @ query.T
    if key.shape[0] >= key.shape[1]:
        return np.asarray(coefficients @ key)
    # Rows of P M lie in the r dimensions that the rows of W_K span.
    return np.asarray(coefficients @ np.asarray(np.linalg.qr(key.T, mode="r")).T)


def _norm_and_symmetry(query: NDArray[np.float64], key: NDArray[np.float64]) -> tuple[float, float | None]:
    """Frobenius norm of M, and the symmetric part's share of its square, by the smaller of the products."""
    if query.shape[0] >= query.shape[1]:
        product = query.T @ key
        squared, trace = float((product**2).sum()), float((product * product.T).sum())
    else:
        crossed = key @ query.T  # tr(M M) = tr(C C), with C = W_K W_Q^T
        squared = max(float(((query @ query.T) * (key @ key.T)).sum()), 0.0)
        trace = float((crossed * crossed.T).sum())
    if not squared:
        return 0.0, None
    return float(np.sqrt(squared)), float(np.clip((1 + trace / squared) / 2, 0, 1))


def _singular_values(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Singular values of left right^T, which is P M P^T, in decreasing order; zeros beyond the rank left out."""
    if left.shape[0] > left.shape[1]:
        left, right = (np.asarray(np.linalg.qr(side, mode="r")) for side in (left, right))
    return np.asarray(np.linalg.svd(left @ right.T, compute_uv=False), np.float64)
