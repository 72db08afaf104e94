"""Scores of a table against slow independent forms."""

from itertools import permutations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from posgeom.encodings.base import PointEncoding
from posgeom.errors import GeometryError, PosgeomError
from posgeom.estimation.build import Geometry
from posgeom.inference.scorecard import scorecard
from posgeom.training_options import checked_schedule


class tracker:  # noqa: N801
    def __init__(self, *arguments: Any) -> None:
        from posgeom.training.tracking import TableTracker

        self._tracker = TableTracker(*arguments)

    def scores(self, *arguments: Any) -> Any:
        """Scores by attribute."""
        return SimpleNamespace(**self._tracker.scores(*arguments))


def test_a_table_by_itself() -> None:
    rng = np.random.default_rng(3)
    start = rng.normal(size=(9, 4))
    table = start + 0.1 * rng.normal(size=start.shape)
    found = tracker(None, 7).scores(table, start)
    rows, first = table[:7], start[:7]
    gaps = {(i, j): float(np.sqrt(((rows[i] - rows[j]) ** 2).sum())) for i in range(7) for j in range(7)}
    pair = min((p for p in gaps if p[0] < p[1]), key=lambda p: gaps[p])
    assert (found.closest_i, found.closest_j) == pair
    assert found.min_separation == pytest.approx(gaps[pair], rel=1e-12)
    triples = [(i, j, k) for i, j, k in permutations(range(7), 3) if abs(i - j) < abs(i - k)]
    violated = sum(gaps[i, j] > gaps[i, k] for i, j, k in triples)
    assert found.violation_rate == pytest.approx(violated / len(triples), rel=1e-12)
    assert found.moved == pytest.approx(np.sqrt(((rows - first) ** 2).sum()) / np.sqrt((first**2).sum()), rel=1e-12)
    assert found.row_norm == pytest.approx(np.sqrt((rows**2).sum(axis=1).mean()), rel=1e-12)
    values = np.sqrt(np.linalg.eigvalsh(np.cov(rows.T) * 6))
    p = values / values.sum()
    assert found.effective_rank == pytest.approx(np.exp(-(p * np.log(p)).sum()), rel=1e-9)
    assert found.alignment is found.stress_raw is found.pearson is None


def test_against_a_geometry_it_is_the_scorecard(shape: Geometry) -> None:
    table = np.random.default_rng(0).normal(size=(16, 8))
    found, card = tracker(shape).scores(table, None), scorecard(PointEncoding("table", table[:10]), shape)
    row = card.rows[0]
    for name in ("alignment", "stress_raw", "stress_scaled", "pearson"):
        assert getattr(found, name) == pytest.approx(getattr(row, name), rel=1e-12)
    assert found.alignment_low == pytest.approx(row.intervals["alignment"].low, rel=1e-9)
    assert found.alignment_high == pytest.approx(row.intervals["alignment"].high, rel=1e-9)
    assert found.moved is None


def test_a_rotation_and_a_factor_leave_what_has_no_scale(shape: Geometry) -> None:
    rng = np.random.default_rng(1)
    table = rng.normal(size=(10, 5))
    turned = 3 * table @ np.linalg.qr(rng.normal(size=(5, 5)))[0] + 2.0
    one, other = (tracker(shape).scores(points, None) for points in (table, turned))
    for name in ("alignment", "stress_scaled", "pearson", "violation_rate", "effective_rank"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-9)
    assert other.min_separation == pytest.approx(3 * one.min_separation)


def test_zero_tables_have_defined_scores() -> None:
    found = tracker(None, 4).scores(np.zeros((4, 3)), np.zeros((4, 3)))
    assert (found.min_separation, found.effective_rank, found.row_norm) == (0, 0, 0)
    assert found.moved is None
    assert found.tie_rate == 1


def test_too_few_rows_are_refused(shape: Geometry) -> None:
    with pytest.raises(GeometryError, match="has 8 positions, 10 are looked at: use -n 8"):
        tracker(shape).scores(np.ones((8, 3)), None)


@pytest.mark.parametrize("step", [-1, 1.5, "3", True])
def test_schedules_are_whole_numbers(step: Any) -> None:
    with pytest.raises(PosgeomError, match="expected whole numbers from 0 on"):
        checked_schedule((0, step))


def test_the_papers_separation_from_scratch_is_that_of_the_draw() -> None:
    """Its .70 is one of many draws from N(0, .02^2), d = 768, 128 rows; half of the triples are violated."""
    rng = np.random.default_rng(0)
    found = [tracker(None, 128).scores(rng.normal(scale=0.02, size=(128, 768)), None) for _ in range(20)]
    separations = [one.min_separation for one in found]
    assert min(separations) < 0.705
    assert max(separations) > 0.695
    assert np.mean(separations) == pytest.approx(0.710, abs=0.008)
    assert np.mean([one.violation_rate for one in found]) == pytest.approx(0.5, abs=0.02)
