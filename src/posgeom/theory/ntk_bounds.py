"""Appendix A, what the fixed point P* = alpha^-1 b keeps of the corpus: distances up to a constant, and their order.

A bound that holds: with k_ij = sqrt(f_ii + f_jj - 2 f_ij), the distance of alpha's own feature space, and |P*|_alpha =
sqrt(tr P*' alpha^-1 P*), |p_i - p_j| <= k_ij |P*|_alpha by Cauchy and Schwarz. It is a multiple of d_H where f is
smooth at 0, and of its square root for exp(-d). The factor depends on the corpus, and has no bound: as two positions
come near each other, p_i - p_j is about (b_i - b_j) / (f(0) - f(d)), so that a b that is itself Lipschitz gives a ratio
|p_i - p_j| / d_H that grows without limit.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import GeometryError
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.scores.monotonicity import monotonicity
from posgeom.seeds import make_rng
from posgeom.theory.ntk import Kernel, drive_of, kernel_matrix, name_of
from posgeom.theory.verdict import Check, Verdict

_EPSILON = float(np.finfo(np.float64).eps)


def fixed_point(
    distances: NDArray[np.float64], kernel: str | Kernel, drive: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """alpha^-1 b, shape (m, k); b is by default an isometric copy of the corpus."""
    alpha = kernel_matrix(distances, kernel)
    if np.linalg.cond(alpha) * len(alpha) * _EPSILON > 1e-2:
        raise GeometryError("alpha is singular to round-off, so that alpha^-1 b is not known: take fewer positions")
    return np.asarray(np.linalg.solve(alpha, drive_of(distances) if drive is None else drive))


@dataclass(frozen=True, kw_only=True)
class LipschitzCheck(Check):
    """How far the fixed point stretches distances.

    `measured` is sup |p_i - p_j| / d_H, `bound` sup k_ij |P*|_alpha / d_H, `tightness` the largest ratio of both sides.
    """

    kernel: str
    measured: float
    bound: float
    tightness: float
    n_violations: int


def lipschitz_check(
    distances: NDArray[np.float64], kernel: str | Kernel, *, drive: NDArray[np.float64] | None = None
) -> LipschitzCheck:
    """Lemma 18's bound on one corpus: measured sup |p_i - p_j| / d_H, and a bound that holds.

    Under the convention that the constant is the corpus's own: any finite set has one.
    """
    alpha, rows = kernel_matrix(distances, kernel), fixed_point(distances, kernel, drive)
    norm = float((rows * np.linalg.solve(alpha, rows)).sum())
    if float(np.linalg.eigvalsh(alpha)[0]) <= 0 or norm < 0:
        raise GeometryError(f"alpha is not positive definite with f(d) = {name_of(kernel)}: take a decreasing f")
    own = np.diagonal(alpha)
    upper = np.triu_indices(len(alpha), 1)
    apart = distances[upper] > 0
    d, p = distances[upper][apart], euclidean_distances(rows)[upper][apart]
    bound = np.sqrt(np.maximum(own[:, None] + own - 2 * alpha, 0))[upper][apart] * np.sqrt(norm)
    n_violations = int((p > bound * (1 + 1e-6)).sum())
    measured, limit = float((p / d).max()), float((bound / d).max())
    return LipschitzCheck(
        verdict=Verdict.FALSE if n_violations else Verdict.CONVENTION,
        because=(
            f"|p_i - p_j| is at most {measured:.4g} d_H on this corpus, under the bound {limit:.4g} that holds for it "
            f"({n_violations} pairs beyond); it is the corpus's own, and grows as positions come nearer"
        ),
        kernel=name_of(kernel),
        measured=measured,
        bound=limit,
        tightness=float((p / bound).max()),
        n_violations=n_violations,
    )


@dataclass(frozen=True, kw_only=True)
class LipschitzSearch(Check):
    """Three positions, two of which come near each other.

    `ratios` are |p_i - p_j| / d_H by their `distances`, and `exponent` is the slope of their logarithms.
    """

    kernel: str
    distances: tuple[float, ...]
    ratios: tuple[float, ...]
    exponent: float


def lipschitz_search(
    kernel: str | Kernel, *, steps: tuple[float, ...] = (0.1, 0.03, 0.01, 0.003, 0.001)
) -> LipschitzSearch:
    """Look for a constant C of |p_i - p_j| <= C d_H that serves all corpora, with a b that is Lipschitz itself.

    Two tokens, three positions with roots (cos t, sin t) at t = 0, h and 1, and b_i = d_H(mu_i, mu_1).
    """
    near, ratios = [], []
    for h in steps:
        distances = on_arc(np.array([0, h, 1.0]))
        rows = fixed_point(distances, kernel, distances[:, :1])
        near.append(float(distances[0, 1]))
        ratios.append(float(abs(rows[1, 0] - rows[0, 0]) / distances[0, 1]))
    exponent = float(np.polyfit(np.log(near), np.log(ratios), 1)[0])
    grows = bool((np.diff(ratios) > 0).all()) and ratios[-1] > 2 * ratios[0]
    return LipschitzSearch(
        verdict=Verdict.FALSE if grows else Verdict.HOLDS,
        because=(
            f"with f(d) = {name_of(kernel)} and a b of Lipschitz constant 1, |p_i - p_j| / d_H is {ratios[0]:.3g} for "
            f"two positions {near[0]:.2g} apart and {ratios[-1]:.3g} for two {near[-1]:.2g} apart"
        ),
        kernel=name_of(kernel),
        distances=tuple(near),
        ratios=tuple(ratios),
        exponent=exponent,
    )


def on_arc(angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Hellinger distances of two-token distributions (cos^2 t, sin^2 t), shape (m, m)."""
    return euclidean_distances(np.stack([np.cos(angles), np.sin(angles)], axis=1))


@dataclass(frozen=True, kw_only=True)
class MonotoneSearch(Check):
    """Monotone corpora whose fixed point is not.

    `angles` are those of the smallest counterexample, whose corpus and b have no violations.
    """

    kernel: str
    n_corpora: int
    n_counterexamples: int
    angles: tuple[float, ...] | None
    violations: int | None
    triples: int | None


def monotone_search(kernel: str | Kernel, *, largest: int = 6, n_tries: int = 40, seed: int = 0) -> MonotoneSearch:
    """Look for a corpus whose distances grow with the lag, and the fixed point's do not.

    Two tokens; the roots of positions lie on an arc, in order; b is the corpus's own roots, so that |b_i - b_j| = d_H.
    """
    rng, smallest = make_rng(seed), None
    n_corpora = n_counterexamples = 0
    for n in range(3, largest + 1):
        for attempt in range(n_tries):
            steps = rng.uniform(0.5, 1, n - 1) if attempt else np.ones(n - 1)
            angles = np.concatenate([[0], np.cumsum(steps)])
            angles *= np.pi / 2 / angles[-1] * (rng.uniform(0.3, 1) if attempt else 1)
            distances, positions = on_arc(angles), np.arange(n)
            if monotonicity(distances, positions).violations:
                continue
            n_corpora += 1
            roots = np.stack([np.cos(angles), np.sin(angles)], axis=1)
            result = monotonicity(euclidean_distances(fixed_point(distances, kernel, roots)), positions)
            if result.violations:
                n_counterexamples += 1
                smallest = smallest or (tuple(angles.tolist()), result.violations, result.triples)
    because = f"none of the {n_corpora} monotone corpora tried has a fixed point that is not"
    if smallest is not None:
        because = (
            f"{n_counterexamples} of {n_corpora} monotone corpora have a fixed point that is not; the smallest has "
            f"{len(smallest[0])} positions, with {smallest[1]} of {smallest[2]} triples violated"
        )
    return MonotoneSearch(
        verdict=Verdict.HOLDS if smallest is None else Verdict.FALSE,
        because=because,
        kernel=name_of(kernel),
        n_corpora=n_corpora,
        n_counterexamples=n_counterexamples,
        angles=None if smallest is None else smallest[0],
        violations=None if smallest is None else smallest[1],
        triples=None if smallest is None else smallest[2],
    )
