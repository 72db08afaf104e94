"""Rows that are positions, and rows that training has not reached."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from posgeom.errors import CheckpointError
from posgeom.models.checkpoint import open_checkpoint
from posgeom.models.family import PositionTable
from posgeom.models.model import open_model
from posgeom.models.position_rows import PositionRows, positions_of_mask, read_positions, untrained_tail
from posgeom.models.query_key import Tensors


def rows_of(tmp_path: Path, array: np.ndarray, **settings: object) -> PositionRows:
    save_file({"t": array}, tmp_path / "a.safetensors")
    tensors = Tensors(open_checkpoint(tmp_path / "a.safetensors"), frozenset())
    return read_positions(tensors, PositionTable("t", **settings))  # type: ignore[arg-type]


def trained(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of the norm of fresh ones, which the norm alone would not tell apart, each near the one before."""
    rows = rng.normal(size=(n, d))
    for i in range(1, n):
        rows[i] = 0.9 * rows[i - 1] + 0.44 * rows[i]
    return np.asarray(0.02 * np.sqrt(d) * rows / np.linalg.norm(rows, axis=1, keepdims=True))


@pytest.mark.parametrize("width", [100, 128, 768])
@pytest.mark.parametrize("fresh", [0, 1, 2, 50, 200])
def test_the_tail_starts_where_training_ends(width: int, fresh: int) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table = np.concatenate([trained(200, width, rng), rng.normal(scale=0.02, size=(fresh, width))])
        tail = untrained_tail(table, 0.02)
        assert (tail is None) if fresh == 0 else (tail is not None and tail.start == 200)


def test_a_whole_table_may_be_fresh() -> None:
    for seed in range(20):
        table = np.random.default_rng(seed).normal(scale=0.02, size=(512, 768))
        tail = untrained_tail(table, 0.02)
        assert tail is not None
        assert tail.start == 0
        assert tail.mean_norm == pytest.approx(tail.initial_norm, rel=0.01)
        assert tail.initial_norm == pytest.approx(0.02 * np.sqrt(768))


def test_what_the_rule_does_not_take() -> None:
    rng = np.random.default_rng(0)
    assert untrained_tail(rng.normal(scale=0.02, size=(50, 99)), 0.02) is None  # too narrow to tell
    assert untrained_tail(rng.normal(scale=0.04, size=(50, 256)), 0.02) is None  # another norm
    assert untrained_tail(rng.normal(scale=0.02, size=(50, 256)), 0.0) is None
    middle = np.concatenate([trained(9, 256, rng), rng.normal(scale=0.02, size=(9, 256)), trained(9, 256, rng)])
    assert untrained_tail(middle, 0.02) is None


def test_padding_and_special_rows(tmp_path: Path) -> None:
    table = np.random.default_rng(0).normal(size=(514, 8)).astype(np.float32)
    table[1] = 0
    rows = rows_of(tmp_path, table, offset=2, padding_row=1)
    np.testing.assert_array_equal(rows.points, table[2:])
    assert (rows.offset, rows.padding_row, rows.zero_positions, rows.n_trained) == (2, 1, (), 512)
    assert rows_of(tmp_path, table).zero_positions == (1,)
    assert rows_of(tmp_path, table[None], n_special=1).points.shape == (514, 8)


def test_tables_that_do_not_fit(tmp_path: Path) -> None:
    for array, settings, message in (
        (np.ones((3, 4), np.float32), {"offset": 2}, "at least 2 positions"),
        (np.ones((2, 3, 4), np.float32), {}, "expected \\(rows, width\\)"),
        (np.ones(4, np.float32), {}, "expected \\(rows, width\\)"),
        (np.ones((10, 4), np.float32), {"n_special": 1, "grid": (3, 4)}, "grid of 3 x 4"),
    ):
        with pytest.raises(CheckpointError, match=message):
            rows_of(tmp_path, array, **settings)


def test_positions_of_masks() -> None:
    assert positions_of_mask([0, 0, 1, 1, 1]).tolist() == [-1, -1, 0, 1, 2]
    assert positions_of_mask([[1, 1, 0], [0, 1, 1]]).tolist() == [[0, 1, -1], [-1, 0, 1]]


def test_the_tail_of_a_real_albert(data_dir: Path) -> None:
    opened = open_model(data_dir / "albert-rxn")
    table = opened.stacks[0].positions
    assert isinstance(table, PositionTable)
    rows = read_positions(opened.tensors, table)
    assert rows.points.shape == (512, 128)
    assert rows.untrained is not None
    assert rows.untrained.start == 510
    assert rows.untrained.initial_norm == pytest.approx(0.226, abs=5e-4)
    np.testing.assert_allclose(np.linalg.norm(rows.points[510:], axis=1), [0.2252, 0.2209], atol=5e-5)
    assert np.linalg.norm(rows.points[:510], axis=1).min() > 0.7


@pytest.mark.parametrize("width", [768, 1024])
@pytest.mark.parametrize("kind", ["truncated", "decayed"])
def test_tails_of_a_smaller_scale(width: int, kind: str) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        fresh = rng.normal(size=(257, width))
        if kind == "truncated":
            while (np.abs(fresh) > 2).any():
                fresh = np.where(np.abs(fresh) > 2, rng.normal(size=fresh.shape), fresh)
        table = np.concatenate([trained(255, width, rng), 0.02 * fresh * (0.4 if kind == "decayed" else 1)])
        tail = untrained_tail(table, 0.02)
        assert tail is not None
        assert tail.start == 255
        assert tail.tail_norm < tail.initial_norm
        assert "below initializer_range" in tail.rule


def test_a_short_tail_has_no_scale_of_its_own() -> None:
    rng = np.random.default_rng(0)
    shrunk = np.concatenate([trained(50, 768, rng), rng.normal(scale=0.008, size=(4, 768))])
    assert untrained_tail(shrunk, 0.02) is None
