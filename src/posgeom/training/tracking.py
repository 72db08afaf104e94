"""What a table of positions is at one step of training: a row of numbers, with no need of torch."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import GeometryError
from posgeom.estimation.build import Geometry
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.inference.alignment import targets_of, why_undefined
from posgeom.inference.fields import EncodingPairs
from posgeom.inference.scoring import by_field, intervals_of, values_of
from posgeom.policies import ENOUGH_FOLDS, LEVEL
from posgeom.scores.effective_rank import effective_rank
from posgeom.scores.monotonicity import monotonicity
from posgeom.scores.separation import minimum_separation


@dataclass(frozen=True, slots=True)
class TableScores:
    """A table of positions in numbers; None where one is undefined, or rests on a geometry that was not given.

    Attributes
    ----------
    min_separation : float
        Least |p_i - p_j|, and `closest_i`, `closest_j`, the pair that attains it.
    violation_rate, tie_rate : float or None
        Of the triples (i, j, k) with |i - j| < |i - k|: those with d(i, j) > d(i, k), and those with equal distances.
    effective_rank : float
    row_norm : float
        Root mean square of |p_i|.
    moved : float or None
        |P - P_0| / |P_0|, P_0 being the table that training began with.
    alignment, alignment_low, alignment_high : float or None
        With the geometry, and its 95 % interval (delete-one jackknife over folds).
    stress_raw, stress_scaled, pearson : float or None
    """

    min_separation: float
    closest_i: int
    closest_j: int
    violation_rate: float | None
    tie_rate: float | None
    effective_rank: float
    row_norm: float
    moved: float | None
    alignment: float | None = None
    alignment_low: float | None = None
    alignment_high: float | None = None
    stress_raw: float | None = None
    stress_scaled: float | None = None
    pearson: float | None = None


class TableTracker:
    """Scores tables of one model: what they are by themselves, and against one geometry that is prepared once.

    Parameters
    ----------
    geometry : Geometry, optional
        Its context length n is how many positions are looked at; alignment, stress and correlation are over those of
        them that it has data for.
    n_positions : int, optional
        Positions to look at without a geometry; by default all that the table has.
    """

    def __init__(self, geometry: Geometry | None = None, n_positions: int | None = None) -> None:
        self.n_positions = n_positions if geometry is None else geometry.n_positions
        self.geometry = geometry
        if geometry is not None:
            self._errors = geometry.products is not None and geometry.products.n >= ENOUGH_FOLDS
            self._targets = targets_of(geometry, why_undefined(geometry), errors=self._errors)

    def rows(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """The positions that are looked at, of a table of shape (rows, d)."""
        n = table.shape[0] if self.n_positions is None else self.n_positions
        if n > table.shape[0]:
            raise GeometryError(
                f"the model's table has {table.shape[0]} positions, {n} are looked at: use -n {table.shape[0]}"
            )
        return table[:n]

    def scores(self, table: NDArray[np.float64], start: NDArray[np.float64] | None) -> TableScores:
        """Score a table, shape (rows, d), that was `start` when training began; None where that is not known."""
        points = self.rows(table)
        positions = np.arange(len(points))
        distances = euclidean_distances(points)
        closest, order = minimum_separation(distances, positions), monotonicity(distances, positions)
        first = None if start is None else self.rows(start)
        norm = 0.0 if first is None else float(np.linalg.norm(first))
        return TableScores(
            min_separation=closest.distance,
            closest_i=closest.pair[0],
            closest_j=closest.pair[1],
            violation_rate=order.violation_rate,
            tie_rate=order.tie_rate,
            effective_rank=effective_rank(np.linalg.svd(points - points.mean(axis=0), compute_uv=False)),
            row_norm=float(np.linalg.norm(points) / np.sqrt(len(points))),
            moved=None if first is None or not norm else float(np.linalg.norm(points - first)) / norm,
            **self._against_geometry(distances),
        )

    def _against_geometry(self, distances: NDArray[np.float64]) -> dict[str, float | None]:
        if self.geometry is None:
            return {}
        used = self.geometry.positions
        pairs = EncodingPairs.of(distances[np.ix_(used, used)])
        replicates = by_field(np.stack([pairs.against(target) for target in self._targets]))
        values, intervals = values_of(replicates), intervals_of(replicates, LEVEL if self._errors else None)
        bounds = intervals.get("alignment")
        known = {name: values[name] for name in ("alignment", "stress_raw", "stress_scaled", "pearson")}
        return known | {
            "alignment_low": None if bounds is None else bounds.low,
            "alignment_high": None if bounds is None else bounds.high,
        }
