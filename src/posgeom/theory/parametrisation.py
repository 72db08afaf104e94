"""Minimal parametrisation (Remark 8 of the paper): what each rank of MDS costs, and what it gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.alibi import alibi
from posgeom.errors import PosgeomError
from posgeom.estimation.build import Geometry
from posgeom.estimation.crossval import balanced_splits
from posgeom.estimation.fold_products import FoldProducts
from posgeom.estimation.mds import classical_mds
from posgeom.inference.alignment import Norm, why_undefined
from posgeom.inference.jackknife import Estimate, Replicates
from posgeom.inference.scoring import corpus_scores, replicates_of
from posgeom.inference.significance import significance
from posgeom.policies import ENOUGH_FOLDS, HELD_OUT_SPLITS
from posgeom.scores.stress import Stress, stresses_by_rank
from posgeom.theory.verdict import Cell, Check, Verdict

DEFAULT_LOSS = 0.01
"""Alignment that a smaller rank may lose: a hundredth of all there can be, unless another is given."""
_SHOWN = (1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512)


@dataclass(frozen=True, slots=True)
class RankRow:
    """One rank: r (n + d), stress and alignment of MDS of plug-in distances, and alignment of halves of the corpus."""

    rank: int
    parameters: int
    stress: Stress
    plugin: float
    held_out: Estimate


@dataclass(frozen=True, kw_only=True)
class Parametrisation(Check):
    """What each rank costs and gives, for every rank up to that of the plug-in geometry.

    `full` is n d; `plugin_rank` the paper's rank of B; `significant_rank` is None with too few folds to tell.
    `smallest` and `smallest_plugin` are the smallest ranks whose alignment falls short by at most `loss`: out of sample
    of the best rank, and on plug-in distances of 1. `alibi` is the alignment of ALiBi's line, which has rank one.
    """

    headers: ClassVar[tuple[str, ...]] = (
        *("rank", "r(n + d)", "raw stress", "scaled", "alignment, plug-in", "alignment, other half"),
    )

    n_positions: int
    n_dims: int
    full: int
    ranks: tuple[RankRow, ...]
    plugin_rank: int | None
    significant_rank: int | None
    loss: float
    smallest_plugin: int | None
    smallest: int | None
    alibi: Estimate
    alibi_plugin: float | None

    def rows(self) -> Sequence[tuple[Cell, ...]]:
        """Some ranks, the chosen ones among them, and ALiBi's line."""
        chosen = {*_SHOWN, self.smallest, self.smallest_plugin, self.significant_rank, len(self.ranks)}
        line = ("ALiBi's line", self.n_positions, None, None, self.alibi_plugin, self.alibi)
        return [
            (str(row.rank), row.parameters, row.stress.raw, row.stress.scaled, row.plugin, row.held_out)
            for row in self.ranks
            if row.rank in chosen
        ] + [line]

    def parameters(self, rank: int) -> int:
        """Parameters r (n + d) of a rank."""
        return rank * (self.n_positions + self.n_dims)


def parametrisation(
    geometry: Geometry, plugin: Geometry | None = None, *, n_dims: int = 768, loss: float = DEFAULT_LOSS
) -> Parametrisation:
    """Measure what every rank of MDS costs in parameters, and what it gives.

    Parameters
    ----------
    geometry : Geometry
        Cross-validated, for significance and alignment out of sample.
    plugin : Geometry, optional
        Of the same corpus by another policy, for the plug-in numbers: the paper's has empty positions uniform.
    n_dims : int
        Width d of a table.
    loss : float
        Alignment that the smallest rank may lose.

    Returns
    -------
    Parametrisation
        On "the rank of B is the intrinsic dimension": an artefact of noise where fewer axes are significant.

    Raises
    ------
    PosgeomError
        When `loss` is not between 0 and 1.
    """
    if not 0 < loss < 1:
        raise PosgeomError(f"loss of alignment {loss}: expected a number between 0 and 1")
    raw = plugin or geometry
    n = geometry.n_positions
    stresses = stresses_by_rank(classical_mds(raw.plugin).coordinates, raw.plugin.pairs)
    eigenvalues = raw.plugin_spectrum.eigenvalues
    aligned = np.sqrt(np.cumsum(eigenvalues[: len(stresses)] ** 2) / (eigenvalues**2).sum())
    curve = held_out_curve(geometry, len(stresses))
    rows = tuple(
        RankRow(r, r * (n + n_dims), stress, float(score), held)
        for r, (stress, score, held) in enumerate(zip(stresses, aligned, curve, strict=True), 1)
    )
    known = [row for row in rows if row.held_out.value is not None]
    best = max((row.held_out.value or 0 for row in known), default=None)
    tested = significance(geometry)
    significant = None if tested is None else tested.rank
    line = alibi(n)
    smallest = next((row.rank for row in known if best is not None and (row.held_out.value or 0) >= best - loss), None)
    verdict, because = _judge(raw.rank, significant, smallest, loss)
    return Parametrisation(
        n_positions=n,
        n_dims=n_dims,
        full=n * n_dims,
        ranks=rows,
        plugin_rank=raw.rank,
        significant_rank=significant,
        loss=loss,
        smallest_plugin=next((row.rank for row in rows if row.plugin >= 1 - loss), None),
        smallest=smallest,
        alibi=replicates_of([line], geometry, errors=True)[0]["alignment"].estimate,
        alibi_plugin=corpus_scores(line, raw.plugin)["alignment"],
        verdict=verdict,
        because=because,
    )


def _judge(rank: int | None, significant: int | None, smallest: int | None, loss: float) -> tuple[Verdict, str]:
    if significant is None or rank is None:
        return Verdict.NOT_RUN, "Too few folds have documents, or too many positions data, to tell axes from noise."
    enough = "" if smallest is None else f"; rank {smallest} is within {loss:g} of the best alignment out of sample"
    because = f"B of the plug-in distances has rank {rank}, of which {significant} axes are more than noise{enough}."
    return (Verdict.HOLDS if significant >= rank else Verdict.NOISE), because


def held_out_curve(geometry: Geometry, n_ranks: int) -> list[Estimate]:
    """Alignment of MDS of rank 1, 2, ... of one half of the corpus with the other half, with jackknife errors.

    What `posgeom.inference.held_out.held_out` gives, for all ranks from one decomposition a half: with B_r the part of
    B on its r leading axes v_k, <B_r, B'> is a cumulative sum of lambda_k v_k' B' v_k.
    """
    products = geometry.products
    if products is None or products.n < ENOUGH_FOLDS or why_undefined(geometry) is not None:
        return [Estimate(None)] * n_ranks
    splits = [(s.a, s.b) for s in balanced_splits(list(range(products.n)), HELD_OUT_SPLITS, geometry.seed)]
    norm = Norm(products)
    by_fold = []
    for fold in (None, *range(products.n)):
        size = norm([group for group in range(products.n) if group != fold])
        without = [[[f for f in half if f != fold] for half in split] for split in splits]
        by_fold.append(np.mean([_both_ways(products, a, b, size, n_ranks) for a, b in without], axis=0))
    return [Replicates(float(column[0]), column[1:]).estimate for column in np.array(by_fold).T]


def _both_ways(
    products: FoldProducts, a: Sequence[int], b: Sequence[int], size: float, n_ranks: int
) -> NDArray[np.float64]:
    """Mean over both directions, shape (n_ranks,); NaN where a half would have fewer than two folds."""
    if min(len(a), len(b)) < 2:
        return np.full(n_ranks, np.nan)
    both = [products.centred(half) for half in (a, b)]
    out = []
    for fitted, other in (both, both[::-1]):
        values, vectors = np.linalg.eigh(fitted)
        values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
        shared = np.cumsum(values * np.einsum("ik,ik->k", vectors, other @ vectors))
        curve = shared / np.sqrt(np.cumsum(values**2)) / size
        # Ranks beyond the axes of this half add none.
        out.append(np.pad(curve[:n_ranks], (0, max(n_ranks - curve.size, 0)), mode="edge"))
    return np.asarray(np.mean(out, axis=0))
