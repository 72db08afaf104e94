"""Counts added up, one after the other."""

from collections.abc import Iterable

from posgeom.counts.position_counts import PositionCounts


def add_up(parts: Iterable[PositionCounts]) -> PositionCounts:
    """The sum of at least one part, in memory that follows the sum and the largest part, not the number of parts."""
    remaining = iter(parts)
    total = next(remaining)
    waiting: list[PositionCounts] = []
    for counts in remaining:
        waiting.append(counts)
        if sum(one.fold.size for one in waiting) >= total.fold.size:
            total, waiting = total.merge(*waiting), []
    return total.merge(*waiting) if waiting else total
