"""Which tokens set positions apart: squared distances and axes are sums over tokens, so that each has its share.

With R_f the root frequencies of fold f, a token's part of a cross-validated length is a product of two folds, as that
of the whole is, and parts add up to it exactly. Whether a token is more than noise is asked of its deviation, by
Student's t over folds; axes are then those of the other folds, which its own noise had no part in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its parts when they are used: they take long to load
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import GeometryError
from posgeom.estimation.build import Geometry
from posgeom.estimation.fold_products import FoldProducts
from posgeom.frames import Framed, estimated
from posgeom.inference.jackknife import Estimate
from posgeom.inference.significance import significance
from posgeom.policies import ALPHA, LEVEL
from posgeom.progress import ProgressHook, silent

_FEWEST_FOLDS = 3
_ENOUGH_COUNT = 5
"""Occurrences in a fold, seen or to be expected at equal distributions, that a token needs to be looked at: the usual
rule for counts whose deviations are taken for normal (Cochran 1954)."""


@dataclass(frozen=True, slots=True)
class TokenEffect:
    """What one token does at a position, or along an axis.

    Attributes
    ----------
    token : int
        Id in the counts.
    deviation : Estimate
        Mean over folds of its root frequency at the position less that over all positions; along an axis, its
        coordinate. Positive: over-represented there, or at the positive end.
    share : float
        Its part of the squared distance from the centre, or of the eigenvalue; all parts add up to 1. An estimate,
        which may be below 0.
    frequency, elsewhere : float
        Its share of the tokens counted at the position (along an axis: at the positions of its positive end), and at
        all positions (of its negative end).
    p_value : float
        Two-sided, of the deviation.
    """

    token: int
    deviation: Estimate
    share: float
    frequency: float
    elsewhere: float
    p_value: float


@dataclass(frozen=True, eq=False)
class TokenEffects(Framed):
    """The tokens that set one position, or the ends of one axis, apart.

    Attributes
    ----------
    kind : {"position", "axis"}
    number : int
        Sequence position, or axis counted from 1.
    size : float
        Squared distance from the centre of all positions, or eigenvalue: what the shares are of.
    ends : tuple of tuple of int
        Of an axis: the positions farthest out at its positive and at its negative end.
    effects : tuple of TokenEffect
        Those told from noise, by the size of their share.
    n_tested : int
        Tokens that were looked at: those seen, or to be expected, five times in a fold.
    """

    kind: str
    number: int
    size: float
    ends: tuple[tuple[int, ...], tuple[int, ...]]
    effects: tuple[TokenEffect, ...]
    n_tested: int

    def __repr__(self) -> str:
        return f"<TokenEffects: {self.kind} {self.number}, {len(self.effects)} of {self.n_tested} tokens above noise>"

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain dictionary per token, for JSON, CSV or a data frame."""
        return [
            {"kind": self.kind, "number": self.number, "token": effect.token}
            | estimated({"deviation": effect.deviation}, LEVEL)
            | {name: getattr(effect, name) for name in ("share", "frequency", "elsewhere", "p_value")}
            for effect in self.effects
        ]


def token_effects(
    counts: PositionCounts,
    geometry: Geometry,
    *,
    positions: Sequence[int] | None = None,
    n_positions: int = 5,
    n_axes: int | None = None,
    alpha: float = ALPHA,
    progress: ProgressHook = silent,
) -> tuple[TokenEffects, ...]:
    """Find the tokens that set positions of a corpus apart: along its significant axes, and at its outer positions.

    Parameters
    ----------
    counts : PositionCounts
        What the geometry was estimated from.
    geometry : Geometry
        Cross-validated Hellinger distances.
    positions : sequence of int, optional
        Positions to look at. By default the ones farthest from the centre.
    n_positions : int
        How many these are.
    n_axes : int, optional
        Leading axes to look at. By default the significant ones, at most three.
    alpha : float
        False discovery rate, over all tokens of all axes and positions that were looked at (Benjamini and Hochberg
        1995).
    progress : callable
        Called as ``progress("tokens", done, total)``.

    Returns
    -------
    tuple of TokenEffects
        Axes first, then positions.

    Raises
    ------
    GeometryError
        When the geometry is not cross-validated, or a position takes no part in it.
    """
    products = geometry.products
    if products is None or products.n < _FEWEST_FOLDS:
        raise GeometryError(
            f"tokens are told from noise by how folds agree: expected a cross-validated geometry of at least "
            f"{_FEWEST_FOLDS} folds; use --estimator crossval and more --folds"
        )
    gram = products.centred()
    lengths = np.diag(gram)
    used = geometry.positions
    if positions is None:
        places = np.sort(np.argsort(-lengths, kind="stable")[:n_positions]).tolist()
    else:
        places = [_place(used, position) for position in positions]
    tested = significance(geometry, progress=progress) if n_axes is None else None
    axes = min(3 if tested is None else tested.rank, 3) if n_axes is None else min(n_axes, products.m - 1)
    total = axes + len(places)
    tables = _axis_tables(products, gram, axes)
    looked_at = []
    for done, (size, vector, by_fold) in enumerate(tables):
        progress("tokens", done, total)
        order = np.argsort(-vector, kind="stable")
        ends = (tuple(used[order[:3]].tolist()), tuple(used[order[-3:][::-1]].tolist()))
        exact = np.stack([_of_positions(part, products, vector) for part in products.roots])
        looked_at.append(_LookedAt("axis", done + 1, size, ends, vector**2, by_fold, exact))
    for done, place in enumerate(places):
        progress("tokens", axes + done, total)
        weights = -np.full(products.m, 1 / products.m)
        weights[place] += 1
        by_fold = np.stack([_of_positions(part, products, weights) for part in products.roots])
        here = np.eye(1, products.m, place)[0]
        looked_at.append(
            _LookedAt(
                "position", int(used[place]), float(lengths[place]), ((int(used[place]),), ()), here, by_fold, by_fold
            )
        )
    progress("tokens", total, total)
    return _told_apart(counts, geometry, looked_at, products.scale, alpha)


def _place(used: NDArray[np.int64], position: int) -> int:
    place = int(np.searchsorted(used, position))
    if place == used.size or used[place] != position:
        raise GeometryError(f"position {position} takes no part in this geometry: expected one that is used")
    return place


def _of_positions(
    roots: scipy.sparse.csr_array, products: FoldProducts, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A weighted sum of the root frequencies of positions, by token, shape (V,)."""
    by_row = np.bincount(products.row_of_position, weights, minlength=roots.shape[0])
    return np.asarray(by_row @ roots)


def _axis_tables(
    products: FoldProducts, gram: NDArray[np.float64], n: int
) -> list[tuple[float, NDArray[np.float64], NDArray[np.float64]]]:
    """Eigenvalue and vector of each leading axis, and each fold's tokens along that axis as the other folds have it."""
    if not n:
        return []
    values, vectors = _leading(gram, n)
    by_fold = []
    for fold, part in enumerate(products.roots):
        _, own = _leading(products.centred([g for g in range(products.n) if g != fold]), n)
        left, _, right = np.linalg.svd(own.T @ vectors)
        turned = own @ (left @ right)  # the nearest to the axes of all folds: order, signs and ties are arbitrary
        by_fold.append([_of_positions(part, products, turned[:, k]) for k in range(n)])
    return [(float(values[k]), vectors[:, k], np.stack([one[k] for one in by_fold])) for k in range(n)]


def _leading(gram: NDArray[np.float64], n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The n largest eigenvalues, and their vectors with the entry of largest magnitude positive."""
    m = len(gram)
    values, vectors = scipy.linalg.eigh(gram, subset_by_index=[m - n, m - 1])
    values, vectors = values[::-1], vectors[:, ::-1]
    largest = np.abs(vectors).argmax(axis=0)
    return values, vectors * np.sign(vectors[largest, np.arange(n)])


@dataclass(frozen=True, slots=True)
class _LookedAt:
    """An axis or a position: how much each position weighs in it, and its tokens by fold, for the test and exactly."""

    kind: str
    number: int
    size: float
    ends: tuple[tuple[int, ...], tuple[int, ...]]
    weights: NDArray[np.float64]
    by_fold: NDArray[np.float64]
    exact: NDArray[np.float64]


def _told_apart(
    counts: PositionCounts, geometry: Geometry, looked_at: Sequence[_LookedAt], scale: float, alpha: float
) -> tuple[TokenEffects, ...]:
    """Student's t of every token that is there often enough, and those that pass together."""
    ids, used, tests = counts.distinct_tokens, geometry.positions, []
    everywhere = _weighted(counts, used, np.ones(used.size))
    for one in looked_at:
        known = one.by_fold[:, : ids.size]  # one more column stands for tokens never seen
        n = len(known)
        mean, error = known.mean(axis=0), known.std(axis=0, ddof=1) / np.sqrt(n)
        here = _weighted(counts, used, one.weights)
        expected = everywhere * (here.sum() / everywhere.sum())
        often = np.flatnonzero((np.maximum(here, expected) >= _ENOUGH_COUNT * n) & (error > 0))
        p = 2 * scipy.special.stdtr(n - 1, -np.abs(mean[often] / error[often]))
        tests.append((often, mean, error, p))
    threshold = _benjamini_hochberg(np.concatenate([p for *_, p in tests]) if tests else np.empty(0), alpha)
    out = []
    for one, (often, mean, error, p) in zip(looked_at, tests, strict=True):
        parts = _shares(one.exact, one.size, scale)
        here, there = (_frequencies(counts, end or used.tolist()) for end in one.ends)
        passed = np.flatnonzero(p <= threshold)
        largest_first = passed[np.argsort(-np.abs(parts[often[passed]]), kind="stable")]
        effects = tuple(
            TokenEffect(
                int(ids[v]),
                Estimate(float(mean[v]), float(error[v]), len(one.exact) - 1),
                float(parts[v]),
                float(here[v]),
                float(there[v]),
                float(p[i]),
            )
            for i, v in zip(largest_first.tolist(), often[largest_first].tolist(), strict=True)
        )
        out.append(TokenEffects(one.kind, one.number, one.size, one.ends, effects, int(often.size)))
    return tuple(out)


def _weighted(
    counts: PositionCounts, positions: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Occurrences of each distinct token, those at some positions weighted."""
    by_position = np.zeros(counts.n_positions)
    by_position[positions] = weights
    tokens = np.searchsorted(counts.distinct_tokens, counts.token)
    weighted = counts.count * by_position[counts.position]
    return np.bincount(tokens, weighted, minlength=counts.distinct_tokens.size).astype(np.float64)


def _shares(by_fold: NDArray[np.float64], size: float, scale: float) -> NDArray[np.float64]:
    """Each token's mean product of two folds, as a share of the whole, shape (V,)."""
    n = len(by_fold)
    products = (by_fold.sum(axis=0) ** 2 - (by_fold**2).sum(axis=0)) * (scale / (n * (n - 1)))
    return np.asarray(products / size)


def _benjamini_hochberg(p: NDArray[np.float64], alpha: float) -> float:
    """The largest p-value that passes at a false discovery rate; below 0 where none does."""
    ordered = np.sort(p)
    passed = np.flatnonzero(ordered <= alpha * np.arange(1, p.size + 1) / max(p.size, 1))
    return float(ordered[passed[-1]]) if passed.size else -1.0


def _frequencies(counts: PositionCounts, positions: Sequence[int]) -> NDArray[np.float64]:
    """Share of each distinct token among those counted at some positions."""
    totals = _weighted(counts, np.asarray(positions), np.ones(len(positions)))
    return np.asarray(totals / max(totals.sum(), 1))
