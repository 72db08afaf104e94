"""Fresh copies: drawn by layer, by seed, with the standard deviations of the family."""

from pathlib import Path

import numpy as np

from posgeom.models.family import PositionTable
from posgeom.models.initial import initial_query_key, initial_table
from posgeom.models.model import open_model
from tests.models.raw import save_bert


def test_layers_are_drawn_independently(tmp_path: Path) -> None:
    stack = open_model(save_bert(tmp_path / "m")).stacks[0]
    first, second = (initial_query_key(stack, layer, 0) for layer in (0, 1))
    again = initial_query_key(stack, 1, 0)
    np.testing.assert_array_equal(second.query, again.query)
    for pair in (
        (first.query, second.query),
        (first.query, first.key),
        (first.query, initial_query_key(stack, 0, 1).query),
    ):
        assert abs(np.corrcoef(pair[0].ravel(), pair[1].ravel())[0, 1]) < 0.05
    assert abs(first.query.std() / 0.02 - 1) < 0.03
    assert first.query.shape == (4, 32, 128)
    assert not first.query_bias.any()


def test_tables() -> None:
    wide = initial_table(PositionTable("t", initial_std=0.02), (500, 64), 64, 0)
    assert wide is not None
    assert abs(wide.std() / 0.02 - 1) < 0.03
    narrow = initial_table(PositionTable("t", initial_std=0.02, projection="p"), (500, 64), 96, 0)
    assert narrow is not None
    assert narrow.shape == (500, 96)
    assert abs(narrow.std() / (0.02 * 0.02 * 8) - 1) < 0.1
    assert initial_table(PositionTable("t", fixed=True), (5, 4), 4, 0) is None
