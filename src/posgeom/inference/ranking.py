"""Which encodings are told apart by alignment: paired differences of one scorecard, with simultaneous intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from posgeom.inference.comparison import DECIDES, Difference, RunScore, difference, rank_scores
from posgeom.inference.scorecard import Scorecard

Kind = Literal["fixed", "fitted", "reference"]
REFERENCE = "random"
"""The scheme that the others are held against: a table that knows nothing of order."""


@dataclass(frozen=True, slots=True)
class Place:
    """Encodings of one geometry, which score the same by construction, and the group that they compete in."""

    names: tuple[str, ...]
    kind: Kind


@dataclass(frozen=True, slots=True)
class Ranking:
    """Encodings by alignment, the highest first, and the paired difference of every two that compete.

    The intervals hold all at once at `level`: each is Student's at 1 - (1 - level) / len(differences) (Bonferroni), so
    that the leader may be chosen after the scores were seen.
    """

    places: tuple[Place, ...]
    differences: tuple[Difference, ...]
    level: float | None


def ranking(card: Scorecard) -> Ranking:
    """Rank the encodings of a scorecard whose alignment is defined.

    Fixed encodings compete with each other and with the random table; those fitted to the corpus with each other.
    """
    kinds = {row.name: _kind(row.name, row.sample) for row in card}
    merged: list[list[RunScore]] = []
    for one in rank_scores([card.scored(name, DECIDES) for name in kinds], DECIDES):
        if one.value is None:
            continue
        same = (group for group in merged if _kind_of(group, kinds) == kinds[one.encoding] and _same(group[0], one))
        group = next(same, None)
        if group is None:
            merged.append([one])
        else:
            group.append(one)
    for group in merged:
        group.sort(key=lambda one: (len(one.encoding), one.encoding))
    places = tuple(Place(tuple(one.encoding for one in group), _kind_of(group, kinds)) for group in merged)
    pairs = [
        (first, second)
        for (first, a), (second, b) in combinations(zip(merged, places, strict=True), 2)
        if (a.kind == "fitted") == (b.kind == "fitted") and {a.kind, b.kind} != {"reference"}
    ]
    each = 0.0 if card.level is None or not pairs else 1 - (1 - card.level) / len(pairs)
    return Ranking(places, tuple(difference(a[0], b[0], DECIDES, each) for a, b in pairs), card.level)


def _kind(name: str, sample: str) -> Kind:
    if name.partition(":")[0] == REFERENCE:
        return "reference"
    return "fixed" if sample == "exact" else "fitted"


def _kind_of(group: Sequence[RunScore], kinds: dict[str, Kind]) -> Kind:
    return kinds[group[0].encoding]


def _same(first: RunScore, second: RunScore) -> bool:
    """Whether two alignments differ by round-off alone, with all folds and without each."""
    if first.value is None or second.value is None or not np.isclose(first.value, second.value, rtol=1e-9, atol=0):
        return False
    if first.replicates is None or second.replicates is None:
        return True
    left_out = (first.replicates.left_out, second.replicates.left_out)
    return bool(np.allclose(*left_out, rtol=1e-9, atol=0, equal_nan=True))
