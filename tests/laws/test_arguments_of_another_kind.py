"""A table, a dictionary, a string or nothing where documents, counts, distances or encodings are expected: one line."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import posgeom as pg


class DataFrame(dict[str, list[float]]):
    """What pandas would give, as far as iterating and naming its columns go."""

    columns = ("a", "b")


OTHERS = {
    "a table": pa.table({"a": [0.0, 1.0], "b": [1.0, 0.0]}),
    "a data frame": DataFrame(a=[0.0, 1.0], b=[1.0, 0.0]),
    "splits": {"train": ["a b"], "test": ["c"]},
    "a string": "hello",
    "nothing": None,
}
COUNTS = pg.count_texts([f"{a} {b}" for a in "xyz" for b in "xyz"] * 20, n_positions=2, fold_by="row")
GEOMETRY = pg.geometry(COUNTS)
NOT_A_LIST: Any = 5
TAKERS: dict[str, Callable[[Any], object]] = {
    "count": pg.count,
    "count_texts": pg.count_texts,
    "groups": lambda value: pg.count_texts(["a"], groups=[] if value is None else value),
    "analyze": pg.analyze,
    "geometry": pg.geometry,
    "classical_mds": pg.classical_mds,
    "mds": pg.mds,
    "distances": lambda value: pg.DistanceMatrix(value, np.arange(2), "hellinger", "plugin"),
    "distributions": pg.distribution_distances,
    "scorecard": lambda value: pg.scorecard(value, GEOMETRY),
    "encodings of a scorecard": lambda value: pg.scorecard([value], GEOMETRY),
    "geometry of a scorecard": lambda value: pg.scorecard([], value),
    "score": lambda value: pg.score(value, GEOMETRY),
    "encodings": lambda value: pg.analyze(COUNTS, n_dims=4, encodings=NOT_A_LIST if value is None else value),
    "items of encodings": lambda value: pg.analyze(COUNTS, n_dims=4, encodings=[value]),
    "learned": pg.learned,
    "effective_rank": pg.effective_rank,
    "positions_of_mask": pg.positions_of_mask,
}
NUMBERS_OF_A_TABLE = {"learned", "distributions", "distances", "positions_of_mask"}
"""Where a table of numbers is one: what NumPy makes a matrix of."""


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("taker", TAKERS)
def test_another_kind_of_argument_is_one_line(taker: str, other: str) -> None:
    if taker in NUMBERS_OF_A_TABLE and other == "a table":
        return
    with pytest.raises(pg.PosgeomError) as caught:
        TAKERS[taker](OTHERS[other])
    assert str(caught.value).isprintable()
    assert ": " in str(caught.value) or "expected" in str(caught.value)
