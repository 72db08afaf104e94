"""Which of the encodings that are not fitted to a corpus says most about it, and which are not told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.inference.fields import FIELDS
from posgeom.inference.jackknife import Interval, Replicates
from posgeom.inference.scorecard import EncodingScores, Scorecard
from posgeom.policies import LEVEL

REFERENCE = "random"
"""Scheme that stands for no geometry at all."""
_SAME = 1e-9
"""Difference of alignments, with all folds and without each, up to which two encodings have one geometry."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Alignment of one group of encodings less that of another.

    Attributes
    ----------
    first, second : str
        Names of their first members.
    value : float
    interval : Interval or None
        Of this difference by itself.
    p_value : float
        Two-sided, adjusted for all differences that were looked at (Holm 1979).
    """

    first: str
    second: str
    value: float
    interval: Interval | None
    p_value: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """The encodings that do not depend on the corpus, by alignment.

    Attributes
    ----------
    groups : tuple of tuple of str
        The best first; encodings of one geometry stand together. Random tables are left out.
    reference : str or None
        A random table, where one was scored.
    comparisons : tuple of Comparison
        Every two of these; empty where differences have no error.
    level : float
        Of the intervals, and 1 less the chance that any two equal ones are told apart.
    """

    groups: tuple[tuple[str, ...], ...]
    reference: str | None
    comparisons: tuple[Comparison, ...]
    level: float

    def is_above(self, first: str, second: str) -> bool:
        """Whether the first is told from the second, and is above it."""
        return any(
            one.p_value <= 1 - self.level and one.value * (1 if one.first == first else -1) > 0
            for one in self.comparisons
            if {one.first, one.second} == {first, second}
        )

    @property
    def best(self) -> tuple[tuple[str, ...], ...]:
        """The group with the highest alignment, and those that are not told from it."""
        return tuple(group for group in self.groups if not self.is_above(self.groups[0][0], group[0]))

    @property
    def above_reference(self) -> tuple[tuple[str, ...], ...]:
        """Groups that are told from the random table, and are above it."""
        if self.reference is None:
            return ()
        return tuple(group for group in self.groups if self.is_above(group[0], self.reference))


def ranking(card: Scorecard) -> Ranking | None:
    """Rank the encodings that do not depend on the corpus by paired differences; None where alignment is undefined."""
    place = FIELDS.index("alignment")
    known = {
        row.name: (row, card.replicates[i][place] if card.replicates else Replicates(row.alignment, np.empty(0)))
        for i, row in enumerate(card.rows)
        if row.sample == "exact" and row.alignment is not None
    }
    references = [name for name in known if name.partition(":")[0] == REFERENCE]
    ordered = sorted((row for row, _ in known.values() if row.name not in references), key=_order)
    if not ordered:
        return None
    groups: list[list[str]] = []
    for row in ordered:
        for group in groups:
            if _is_same(known[group[0]][1], known[row.name][1]):
                group.append(row.name)
                break
        else:
            groups.append([row.name])
    level = card.level or LEVEL
    compared = [group[0] for group in groups] + references[:1]
    comparisons = _compared({name: known[name][1] for name in compared}, level) if card.level else ()
    return Ranking(tuple(map(tuple, groups)), next(iter(references), None), comparisons, level)


def _order(row: EncodingScores) -> tuple[float, int, str]:
    return -round(row.alignment or 0.0, 9), len(row.name), row.name


def _is_same(first: Replicates, second: Replicates) -> bool:
    gap = first.minus(second)
    values = np.array([gap.value, *gap.left_out])
    return bool((np.abs(values[np.isfinite(values)]) <= _SAME).all())


def _compared(known: dict[str, Replicates], level: float) -> tuple[Comparison, ...]:
    pairs = list(combinations(known, 2))
    gaps = [known[first].minus(known[second]).estimate for first, second in pairs]
    if not pairs or any(gap.value is None or not gap.standard_error for gap in gaps):
        return ()
    p = [
        2 * float(scipy.special.stdtr(g.degrees_of_freedom, -abs(g.value or 0) / (g.standard_error or 1))) for g in gaps
    ]
    return tuple(
        Comparison(first, second, float(gap.value or 0), gap.interval(level), float(adjusted))
        for (first, second), gap, adjusted in zip(pairs, gaps, holm(p), strict=True)
    )


def holm(p_values: Sequence[float]) -> NDArray[np.float64]:
    """P-values adjusted so that the chance of any false rejection among them stays at the level (Holm 1979)."""
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted
