import numpy as np
import pytest

from posgeom.errors import GeometryError
from posgeom.estimation.depth import choose_min_depth, select_positions


@pytest.mark.parametrize(
    ("deepest", "expected"),
    [(67_349, 3368), (25_000, 1250), (2000, 100), (300, 100), (150, 75), (10, 5), (1, 1), (0, 1)],
)
def test_default_minimum_depth(deepest: int, expected: int) -> None:
    assert choose_min_depth(np.array([0, deepest, deepest // 3])) == expected


DEPTH = np.array([0, 1000, 900, 60, 40, 0])


def test_masks_empty_and_shallow_positions_and_names_them() -> None:
    chosen = select_positions(DEPTH, min_depth=None, empty="mask", group_depth=None)
    assert chosen.positions.tolist() == [1, 2]
    assert chosen.empty.tolist() == [0, 5]
    assert chosen.shallow.tolist() == [3, 4]
    assert (chosen.min_depth, chosen.chosen_automatically) == (100, True)


def test_uniform_keeps_empty_positions() -> None:
    chosen = select_positions(DEPTH, min_depth=50, empty="uniform", group_depth=None)
    assert chosen.positions.tolist() == [0, 1, 2, 3, 5]
    assert not chosen.chosen_automatically


def test_a_position_missing_from_a_half_is_masked() -> None:
    half = np.array([0, 400, 0, 20, 10, 0])
    assert select_positions(DEPTH, min_depth=1, empty="mask", group_depth=half).positions.tolist() == [1, 3, 4]


def test_too_few_positions() -> None:
    with pytest.raises(GeometryError, match="the deepest has 1000; lower --min-depth"):
        select_positions(DEPTH, min_depth=950, empty="mask", group_depth=None)
    with pytest.raises(GeometryError, match="1 of 6 positions have a sequence in every fold"):
        select_positions(DEPTH, min_depth=1, empty="mask", group_depth=np.array([0, 9, 0, 0, 0, 0]))
    with pytest.raises(GeometryError, match="at least 1"):
        select_positions(DEPTH, min_depth=0, empty="mask", group_depth=None)
