"""What a table of positions is at one step of training: a row of numbers, with no need of torch."""

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


class TableTracker:
    """Scores tables of one model over their first positions, against a geometry too where one is given."""

    def __init__(self, geometry: Geometry | None = None, n_positions: int | None = None) -> None:
        self.n_positions = n_positions if geometry is None else geometry.n_positions
        self.geometry = geometry
        if geometry is not None:
            self._errors = geometry.products is not None and geometry.products.n >= ENOUGH_FOLDS
            self._targets = targets_of(geometry, why_undefined(geometry), errors=self._errors)

    def scores(self, table: NDArray[np.float64], start: NDArray[np.float64] | None) -> dict[str, float | None]:
        """Score a table, shape (rows, d), that was `start` when training began; None is what is not known."""
        points = self._rows(table)
        positions = np.arange(len(points))
        distances = euclidean_distances(points)
        closest, order = minimum_separation(distances, positions), monotonicity(distances, positions)
        first = None if start is None else self._rows(start)
        norm = 0.0 if first is None else float(np.linalg.norm(first))
        return {
            "min_separation": closest.distance,
            "closest_i": closest.pair[0],
            "closest_j": closest.pair[1],
            "violation_rate": order.violation_rate,
            "tie_rate": order.tie_rate,
            "effective_rank": effective_rank(np.linalg.svd(points - points.mean(axis=0), compute_uv=False)),
            "row_norm": float(np.linalg.norm(points) / np.sqrt(len(points))),
            "moved": None if first is None or not norm else float(np.linalg.norm(points - first)) / norm,
            **self._against_geometry(distances),
        }

    def _rows(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        n = table.shape[0] if self.n_positions is None else self.n_positions
        if n > table.shape[0]:
            raise GeometryError(
                f"the model's table has {table.shape[0]} positions, {n} are looked at: use -n {table.shape[0]}"
            )
        return table[:n]

    def _against_geometry(self, distances: NDArray[np.float64]) -> dict[str, float | None]:
        names = ("alignment", "alignment_low", "alignment_high", "stress_raw", "stress_scaled", "pearson")
        if self.geometry is None:
            return dict.fromkeys(names)
        used = self.geometry.positions
        pairs = EncodingPairs.of(distances[np.ix_(used, used)])
        replicates = by_field(np.stack([pairs.against(target) for target in self._targets]))
        bounds = intervals_of(replicates, LEVEL if self._errors else None).get("alignment")
        known: dict[str, float | None] = dict(values_of(replicates))
        low, high = (None, None) if bounds is None else (bounds.low, bounds.high)
        known |= {"alignment_low": low, "alignment_high": high}
        return {name: known[name] for name in names}
