"""Inequalities between distances of distributions (Appendix A of the paper): both sides, tightness, violations.

d is the unnormalised Hellinger distance, KL the divergence in nats, r the largest ratio mu(v) / nu(v). KL and r need
mass everywhere, so a corpus's distributions have a pseudo-count added for these; the rest takes them as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import PosgeomError
from posgeom.estimation.depth import looked_at
from posgeom.estimation.distance_matrix import check_matrix_fits
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.estimation.metrics import METRICS
from posgeom.estimation.sparse_rows import divide_rows, row_sums
from posgeom.seeds import make_rng
from posgeom.theory.counterexample import FLOOR, Counterexample, search_counterexample, told
from posgeom.theory.divergences import ratio_constant, smoothed_divergences
from posgeom.theory.verdict import Cell, Check, Verdict

_SLACK = 1e-9
"""Share of a side by which round-off may break an inequality."""
PSEUDO_COUNT = 0.5
_RANDOM = ((2, 0.5), (10, 0.1), (10, 1.0), (1000, 1.0))
"""Tokens and concentration of the random distributions."""
_N_RANDOM = 40

Sides = Mapping[str, NDArray[np.float64]]
"""Quantities of pairs, by name, all of one shape: d, l1, kl, ratio, and d_kl, the d of the distributions of the KL."""


@dataclass(frozen=True, slots=True)
class Statement:
    """An inequality, left side <= right side, in terms of `Sides`."""

    text: str
    source: str
    left: Callable[[Sides], NDArray[np.float64]]
    right: Callable[[Sides], NDArray[np.float64]]


STATEMENTS: Mapping[str, Statement] = MappingProxyType(
    {
        "kl_below": Statement("d^2 / 2 <= KL", "paper", lambda s: s["d_kl"] ** 2 / 2, lambda s: s["kl"]),
        "kl_below_square": Statement("d^2 <= KL", "sharper", lambda s: s["d_kl"] ** 2, lambda s: s["kl"]),
        "kl_below_log": Statement(
            "-2 log(1 - d^2 / 2) <= KL",
            "sharper",
            lambda s: -2 * np.log1p(-np.minimum(s["d_kl"] ** 2 / 2, 1 - 1e-15)),
            lambda s: s["kl"],
        ),
        "kl_above": Statement(
            "KL <= 2 sqrt 2 d", "paper, Lemma 12", lambda s: s["kl"], lambda s: 2 * np.sqrt(2) * s["d_kl"]
        ),
        "kl_ratio": Statement(
            "KL <= (1 + sqrt r)^2 d^2",
            "in its place",
            lambda s: s["kl"],
            lambda s: (1 + np.sqrt(s["ratio"])) ** 2 * s["d_kl"] ** 2,
        ),
        "kl_ratio_sharp": Statement(
            "KL <= (r log r - r + 1) / (sqrt r - 1)^2 d^2",
            "sharp",
            lambda s: s["kl"],
            lambda s: ratio_constant(s["ratio"]) * s["d_kl"] ** 2,
        ),
        "l1": Statement("|mu - nu|_1 <= 2 d", "sharper", lambda s: s["l1"], lambda s: 2 * s["d"]),
        "l1_sharp": Statement(
            "|mu - nu|_1 <= d sqrt(4 - d^2)",
            "sharp",
            lambda s: s["l1"],
            lambda s: s["d"] * np.sqrt(np.maximum(4 - s["d"] ** 2, 0)),
        ),
        "mean_embedding": Statement(
            "|e_i - e_j| <= sqrt(2 V) max|E| d",
            "paper, Lemma 16",
            lambda s: s["mean_embedding"],
            lambda s: np.sqrt(2 * s["vocab_size"]) * s["largest"] * s["d"],
        ),
        "mean_embedding_sharp": Statement(
            "|e_i - e_j| <= 2 max|E| d",
            "sharper",
            lambda s: s["mean_embedding"],
            lambda s: 2 * s["largest"] * s["d"],
        ),
    }
)


@dataclass(frozen=True, kw_only=True)
class Inequality(Check):
    """An inequality on the pairs of a sample: `tightness` is the largest left over right side."""

    name: str
    statement: str
    source: str
    sample: str
    n_pairs: int
    violations: int
    tightness: float | None
    left: float | None
    right: float | None


@dataclass(frozen=True, kw_only=True)
class Bounds(Check):
    """Every inequality on each sample, and the counterexample to KL <= 2 sqrt 2 d; None where no pair breaks it."""

    headers: ClassVar[tuple[str, ...]] = (
        *("statement", "source", "sample", "pairs", "broken", "largest left / right", "left", "right"),
    )

    inequalities: tuple[Inequality, ...]
    counterexample: Counterexample | None
    floor: float
    pseudo_count: float

    def rows(self) -> Sequence[tuple[Cell, ...]]:
        """One row an inequality."""
        return [
            (o.statement, o.source, o.sample, o.n_pairs, o.violations, o.tightness, o.left, o.right)
            for o in self.inequalities
        ]

    def named(self, name: str) -> list[Inequality]:
        """An inequality of `STATEMENTS`, on each sample."""
        return [one for one in self.inequalities if one.name == name]


def bounds(
    counts: PositionCounts | None = None,
    embedding: NDArray[np.float64] | None = None,
    *,
    pseudo_count: float = PSEUDO_COUNT,
    floor: float = FLOOR,
    positions: tuple[int, int] | None = None,
    seed: int = 0,
) -> Bounds:
    """Check every inequality on random distributions, and on those of the positions of a corpus.

    Parameters
    ----------
    counts : PositionCounts, optional
    embedding : ndarray of float, shape (V, d), optional
        A row for each token of the vocabulary; by default rows drawn at random.
    pseudo_count : float
        Added to each count for KL and the ratio, which are infinite where a token is not seen.
    floor : float
        Least probability in the search for a counterexample.
    positions : tuple of int, optional
        First and last position of the corpus that are looked at; by default all.
    seed : int

    Returns
    -------
    Bounds
        False where any inequality is broken; each of them has its own verdict.

    Raises
    ------
    PosgeomError
        When a number or the positions are out of range, or the embedding does not fit the counts.
    """
    if not pseudo_count > 0:
        raise PosgeomError(f"pseudo-count {pseudo_count}: expected a positive number, without which KL is infinite")
    rng = make_rng(seed)
    samples = {"random": [_dense_sides(rng.dirichlet(np.full(v, c), _N_RANDOM), rng) for v, c in _RANDOM]}
    if counts is None and positions is not None:
        raise PosgeomError(f"positions {positions[0]}-{positions[1]}: there are no counts to choose them from")
    if counts is not None:
        samples["corpus"] = [_corpus_sides(counts, embedding, pseudo_count, positions, rng)]
    inequalities = tuple(_check(name, sample, parts) for name in STATEMENTS for sample, parts in samples.items())
    worst = search_counterexample(floor)
    failing = [one.statement for one in inequalities if one.violations] + (
        [STATEMENTS["kl_above"].text] if worst is not None else []
    )
    because = "No pair breaks any of them." if not failing else f"Broken: {', '.join(dict.fromkeys(failing))}."
    if worst is not None:
        because += " " + told(worst)
    return Bounds(
        inequalities=inequalities,
        counterexample=worst,
        floor=floor,
        pseudo_count=pseudo_count,
        verdict=Verdict.FALSE if failing else Verdict.HOLDS,
        because=because,
    )


def _check(name: str, sample: str, parts: Sequence[Sides]) -> Inequality:
    statement = STATEMENTS[name]
    sides = [np.broadcast_arrays(statement.left(one), statement.right(one)) for one in parts]
    left, right = (np.concatenate([both[k] for both in sides]) for k in (0, 1))
    violations = int((left > right * (1 + _SLACK) + _SLACK).sum())
    ratio = np.divide(left, right, out=np.full(left.size, -np.inf), where=right > _SLACK)
    worst = int(ratio.argmax()) if (right > _SLACK).any() else None
    tightness = None if worst is None else float(ratio[worst])
    told = "" if tightness is None else f"; the left side is at most {tightness:.3g} of the right one"
    return Inequality(
        name=name,
        statement=statement.text,
        source=statement.source,
        sample=sample,
        n_pairs=left.size,
        violations=violations,
        tightness=tightness,
        left=None if worst is None else float(left[worst]),
        right=None if worst is None else float(right[worst]),
        verdict=Verdict.FALSE if violations else Verdict.HOLDS,
        because=f"{violations:,} of {left.size:,} {sample} pairs break {statement.text}{told}.",
    )


def _dense_sides(rows: NDArray[np.float64], rng: np.random.Generator) -> Sides:
    """All ordered pairs of a few distributions, each of its two sides computed from its definition."""
    rows = np.maximum(rows, np.finfo(float).tiny)
    i, j = np.nonzero(~np.eye(len(rows), dtype=bool))
    mu, nu = rows[i], rows[j]
    d = np.linalg.norm(np.sqrt(mu) - np.sqrt(nu), axis=1)
    table = rng.standard_normal((rows.shape[1], 8))
    return {
        "d": d,
        "d_kl": d,
        "l1": np.abs(mu - nu).sum(axis=1),
        "kl": (mu * np.log(mu / nu) - mu + nu).sum(axis=1),
        "ratio": (mu / nu).max(axis=1),
        **_embedded(rows @ table, table, (i, j)),
    }


def _corpus_sides(
    counts: PositionCounts,
    embedding: NDArray[np.float64] | None,
    pseudo_count: float,
    positions: tuple[int, int] | None,
    rng: np.random.Generator,
) -> Sides:
    """All ordered pairs of the positions of a corpus with data; nothing of size n x V is ever dense."""
    matrix = counts.matrix()[looked_at(counts.n_positions, positions) & (counts.depth > 0)]
    check_matrix_fits(matrix.shape[0], 6)
    if embedding is not None and embedding.shape[0] <= int(counts.distinct_tokens.max(initial=0)):
        raise PosgeomError(
            f"an embedding of {embedding.shape[0]:,} rows has none for token {int(counts.distinct_tokens.max()):,}: "
            "count with the model's own tokenizer"
        )
    n_seen = counts.distinct_tokens.size
    table = rng.standard_normal((n_seen, 64)) if embedding is None else embedding[counts.distinct_tokens]
    rows = divide_rows(matrix, row_sums(matrix))
    pairs = np.nonzero(~np.eye(rows.shape[0], dtype=bool))
    d = METRICS["hellinger"].distances(rows)
    smoothed = smoothed_divergences(matrix, counts.vocab_size, pseudo_count)
    sides = {"d": d[pairs], "l1": 2 * METRICS["total-variation"].distances(rows)[pairs]}
    sides |= {name: value[pairs] for name, value in zip(("kl", "d_kl", "ratio"), smoothed, strict=True)}
    whole = table if embedding is None else embedding
    return sides | _embedded(np.asarray(rows @ table), whole, pairs, counts.vocab_size)


def _embedded(
    means: NDArray[np.float64],
    table: NDArray[np.float64],
    pairs: tuple[NDArray[np.int64], ...],
    vocab_size: int | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Distances of mean embeddings, with what the constants of their bounds are made of."""
    return {
        "mean_embedding": euclidean_distances(means)[pairs],
        "largest": np.array(np.linalg.norm(table, axis=1).max()),
        "vocab_size": np.array(vocab_size or table.shape[0]),
    }
