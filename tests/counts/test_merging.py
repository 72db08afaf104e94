"""Counts added up one after the other are those added up at once, and are not all held."""

import weakref
from collections.abc import Iterator

import pytest

from posgeom.counts.counting import count_texts
from posgeom.counts.merging import add_up
from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import CountsError
from tests.counts.cluster.helpers import assert_identical, words


def part(k: int, n_lines: int = 40) -> PositionCounts:
    return count_texts(words(n_lines, seed=k).splitlines(), n_positions=6, n_folds=3, null_replicates=1, source=str(k))


@pytest.mark.parametrize("sizes", [(40,), (40, 40), (400, 5, 5, 5), (5, 5, 5, 400, 5), tuple(range(2, 20))])
def test_the_sum_is_that_of_a_merge_at_once(sizes: tuple[int, ...]) -> None:
    parts = [part(k, size) for k, size in enumerate(sizes)]
    assert_identical(add_up(iter(parts)), parts[0].merge(*parts[1:]))


def test_few_parts_are_held_at_a_time() -> None:
    held: list[weakref.ref[PositionCounts]] = []
    most = 0

    def parts() -> Iterator[PositionCounts]:
        nonlocal most
        for _ in range(30):
            counts = part(0)
            held.append(weakref.ref(counts))
            most = max(most, sum(one() is not None for one in held))
            yield counts
            del counts

    assert add_up(parts()).n_documents == 30 * 40
    assert most <= 3


def test_other_settings_are_refused() -> None:
    other = count_texts(["a b"], n_positions=7, n_folds=3)
    with pytest.raises(CountsError, match="cannot merge counts with context length n 6 and 7"):
        add_up([part(0), other])
