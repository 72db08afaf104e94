"""Theorem 4, positional separation: what its three hypotheses come to for a model and a corpus, and what follows.

If positions differ in mean embedding (H1), if swapping two tokens raises the loss (H2) and if the first layer's M sees
the difference of mean embeddings (H3), then every global minimiser of the loss gives positions distinct rows. A trained
model is not known to be a global minimiser, so that the theorem itself is not testable; its hypotheses are, and the
separation of the rows stands beside them. Rows drawn at random are distinct without any theorem.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import PosgeomError
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.scores.separation import minimum_separation
from posgeom.seeds import make_rng
from posgeom.theory.mean_embeddings import PairTest
from posgeom.theory.swap import SwapTest
from posgeom.theory.verdict import Cell, Check, Verdict, plain


@dataclass(frozen=True, kw_only=True)
class SeparationCheck(Check):
    """Theorem 4 for one model and one corpus.

    Attributes
    ----------
    h1, h3 : PairTest
    h2 : SwapTest or None
        None where the model has no loss.
    n_pairs, n_covered : int
        Pairs of positions for which every hypothesis was tested, and those for which every one was shown.
    uncovered : tuple of pair of int
        Up to ten of the pairs for which one was not.
    minimum : float or None
        Smallest distance between two rows of P; None without rows.
    nearest : tuple of int or None
        The positions that attain it.
    """

    h1: PairTest
    h2: SwapTest | None
    h3: PairTest
    n_pairs: int
    n_covered: int
    uncovered: tuple[tuple[int, int], ...]
    minimum: float | None
    nearest: tuple[int, int] | None

    headers = ("hypothesis", "verdict", "pairs shown", "pairs tested")

    def rows(self) -> Sequence[tuple[Cell, ...]]:
        """What the terminal shows."""
        swaps: tuple[Cell, Cell, Cell] = (str(Verdict.NOT_RUN), None, None)
        if self.h2 is not None:
            swaps = (str(self.h2.verdict), len(self.h2.rising), len(self.h2.pairs))
        return [
            ("H1 mean embeddings differ", str(self.h1.verdict), self.h1.n_told_apart, self.h1.n_pairs),
            ("H2 swaps raise the loss", *swaps),
            ("H3 M sees the difference", str(self.h3.verdict), self.h3.n_told_apart, self.h3.n_pairs),
            ("all of them", str(self.verdict), self.n_covered, self.n_pairs),
        ]

    def to_dict(self) -> dict[str, Any]:
        """One plain object, for JSON."""
        parts = {"h1": self.h1, "h2": self.h2, "h3": self.h3}
        numbers = {f.name: plain(getattr(self, f.name)) for f in fields(self) if f.name not in parts}
        return numbers | {name: None if part is None else part.to_dict() for name, part in parts.items()}


def separation(
    h1: PairTest, h3: PairTest, h2: SwapTest | None = None, *, rows: NDArray[np.float64] | None = None
) -> SeparationCheck:
    """Put the hypotheses of Theorem 4 together, pair by pair.

    Parameters
    ----------
    h1 : PairTest
        Of `mean_embedding_test`.
    h3 : PairTest
        Of `projected_embedding_test`, on the same positions.
    h2 : SwapTest, optional
        Of `swap_test`. Without it the theorem is not run.
    rows : ndarray of float, shape (n, d), optional
        P, the encoding of every position from 0 on.

    Returns
    -------
    SeparationCheck

    Raises
    ------
    PosgeomError
        When positions differ, or P has too few rows.
    """
    if not np.array_equal(h1.positions, h3.positions):
        raise PosgeomError("H1 and H3 are of different positions: give both the same")
    place = {int(p): k for k, p in enumerate(h1.positions)}
    tested = [(i, j) for i, j in (p.pair for p in h2.pairs) if i in place and j in place] if h2 else []
    rising = set(h2.rising) if h2 else set()
    both = h1.told_apart & h3.told_apart
    covered = {(i, j) for i, j in tested if (i, j) in rising and both[place[i], place[j]]}
    nearest = None
    if rows is not None:
        if rows.ndim != 2 or rows.shape[0] <= h1.positions[-1]:
            raise PosgeomError(f"P has shape {rows.shape}, and the corpus has position {int(h1.positions[-1])}")
        nearest = minimum_separation(euclidean_distances(rows[h1.positions]), h1.positions)
    return SeparationCheck(
        verdict=Verdict.NOT_RUN if h2 is None else Verdict.NOT_TESTABLE,
        because=_because(len(covered), len(tested), h2 is None, None if nearest is None else nearest.distance),
        h1=h1,
        h2=h2,
        h3=h3,
        n_pairs=len(tested),
        n_covered=len(covered),
        uncovered=tuple(pair for pair in tested if pair not in covered)[:10],
        minimum=None if nearest is None else nearest.distance,
        nearest=None if nearest is None else nearest.pair,
    )


def _because(n_covered: int, n_tested: int, no_swaps: bool, distance: float | None) -> str:
    rows = "" if distance is None else f"; the nearest two rows of P are {distance:.4g} apart"
    if no_swaps:
        return f"H2 was not tested: it takes a model that predicts tokens, and documents to swap them in{rows}"
    return (
        f"the hypotheses are shown for {n_covered} of the {n_tested} pairs tested, and for the others the theorem says "
        f"nothing; where they hold it speaks of global minimisers, which no trained model is known to be{rows}"
    )


@dataclass(frozen=True, kw_only=True)
class InitialSeparation(Check):
    """A reported minimum separation beside that of rows that nothing has trained."""

    reported: float
    mean: float
    lowest: float
    highest: float
    n_draws: int


def initial_separation(
    reported: float,
    *,
    n_positions: int,
    n_dims: int,
    std: float = 0.02,
    n_draws: int = 50,
    decimals: int = 2,
    seed: int = 0,
) -> InitialSeparation:
    """Whether a minimum separation is that of its random initialisation, N(0, std^2) in each of n_dims.

    Parameters
    ----------
    reported : float
        Rounded to `decimals`.
    n_positions, n_dims : int
    std : float
    n_draws : int
    decimals : int
    seed : int

    Returns
    -------
    InitialSeparation
        An artefact of scale where the reported value, as rounded, lies among the draws: it follows std.
    """
    rng = make_rng(seed)
    draws = []
    for _ in range(n_draws):
        distances = euclidean_distances(rng.normal(scale=std, size=(n_positions, n_dims)))
        draws.append(minimum_separation(distances, np.arange(n_positions)).distance)
    low, high, slack = min(draws), max(draws), 0.5 * 10.0**-decimals
    is_initial = low - slack <= reported <= high + slack
    return InitialSeparation(
        verdict=Verdict.SCALE if is_initial else Verdict.HOLDS,
        because=(
            f"{n_positions} rows drawn from N(0, {std:g}^2) in {n_dims} dimensions, untrained, are {low:.3f} to "
            f"{high:.3f} apart at the least in {n_draws} draws, and {reported:.{decimals}f} is "
            + ("among them" if is_initial else "not among them")
        ),
        reported=reported,
        mean=float(np.mean(draws)),
        lowest=low,
        highest=high,
        n_draws=n_draws,
    )
