"""Geometries of given distributions."""

from typing import Any

import numpy as np
import pytest
import scipy

import posgeom as pg
from posgeom.errors import GeometryError

ROWS = np.random.default_rng(0).dirichlet(np.full(7, 0.5), 5)


@pytest.mark.parametrize("metric", ["hellinger", "jensen-shannon", "total-variation", "fisher-rao"])
def test_distances_are_those_of_the_rows(metric: str) -> None:
    shape = pg.geometry_of(3 * ROWS, metric=metric)
    np.testing.assert_allclose(
        shape.distances.values, pg.distribution_distances(scipy.sparse.csr_array(ROWS), metric), atol=1e-12
    )
    np.testing.assert_allclose(pg.geometry_of(scipy.sparse.coo_array(ROWS), metric=metric).distances.values,
                               shape.distances.values, atol=1e-12)  # fmt: skip


def test_hellinger_by_hand_and_scores() -> None:
    shape = pg.geometry_of(ROWS.tolist())
    roots = np.sqrt(ROWS)
    expected = np.linalg.norm(roots[:, None] - roots, axis=2)
    np.testing.assert_allclose(shape.distances.values, expected, atol=1e-12)
    card = pg.scorecard({"steps": np.arange(5.0)[:, None], "roots": roots}, shape)
    assert [row.name for row in card] == ["steps", "roots"]
    assert card["roots"].alignment == pytest.approx(1)
    assert card["roots"].intervals == {}
    assert pg.mds(shape).distances() == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1, 0]], "1 distributions have no geometry"),
        ([1, 0], r"shape \(2,\): expected \(positions, tokens\)"),
        ([[1, 0], [0, 0]], "row 1 sums to 0"),
        ([[1, 0], [2, -1]], "row 1 holds -1"),
        ([[1, np.nan], [1, 1]], "row 0 holds nan"),
        ([["a", "b"], ["c", "d"]], "expected numbers"),
        ([[1], [1, 2]], "expected numbers"),
    ],
)
def test_refusals(rows: Any, message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        pg.geometry_of(rows)
