from collections import Counter

import numpy as np
import pytest

from posgeom.counts.accumulator import Accumulator


@pytest.mark.parametrize("bound", [50, 2**32, 2**32 + 1, 2**62])
@pytest.mark.parametrize("at", [1, 7, 100, 10_000])
def test_agrees_with_a_counter(bound: int, at: int) -> None:
    rng = np.random.default_rng(bound % 1000 + at)
    expected: Counter[int] = Counter()
    adding = Accumulator(bound, at)
    for size in rng.integers(0, 60, 40):
        keys = rng.integers(max(0, bound - 50), bound, size)
        expected.update(keys.tolist())
        adding.add(keys)
    keys, counts = adding.result()
    assert (np.diff(keys) > 0).all()
    assert keys.dtype == counts.dtype == np.int64
    assert dict(zip(keys.tolist(), counts.tolist(), strict=True)) == expected


def test_nothing() -> None:
    keys, counts = Accumulator(5).result()
    assert keys.size == counts.size == 0
