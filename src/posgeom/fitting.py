"""Encodings built from a corpus, to be put into a model: classical MDS of a chosen rank, as a table and as factors."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from numbers import Integral
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.encodings.base import Encoding, PointEncoding
from posgeom.encodings.checks import check_choice, check_n_positions, check_width
from posgeom.encodings.interpolation import interpolate_rows
from posgeom.encodings.mds import orthonormal_columns
from posgeom.errors import EncodingError, GeometryError
from posgeom.estimation.build import Geometry
from posgeom.estimation.build import geometry as estimate_geometry
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.mds import MDS, classical_mds
from posgeom.inference.alignment import why_undefined
from posgeom.inference.jackknife import Estimate
from posgeom.inference.scoring import replicates_of
from posgeom.inference.significance import Significance, significance
from posgeom.policies import ENOUGH_DEPTH, ENOUGH_FOLDS, FEWEST_TO_TEST, LEVEL
from posgeom.progress import ProgressHook, silent

Rows = Literal["as-is", "unit"]
_ROUND_OFF = 1e-9


def fit_encoding(
    geometry: Geometry,
    n_dims: int,
    rank: int | Literal["auto"] = "auto",
    rows: Rows = "as-is",
    n_positions: int | None = None,
    *,
    counts: PositionCounts | None = None,
    level: float | None = LEVEL,
    seed: int = 0,
    progress: ProgressHook = silent,
) -> Encoding:
    """Build an encoding from a corpus: classical MDS in a model's width, and its factors (Algorithm 1, Remark 8).

    The table is P = A W^T: A has the coordinates of every position on the r leading axes of the geometry, and W is a
    d x r matrix with orthonormal columns, drawn by `seed`, so that distances are those of A and every channel has its
    part. Positions that the geometry leaves out get a row too: where `counts` has at least 100 sequences of one, by
    Gower's formula for a further point, at the depth that it has; else by linear interpolation between its
    neighbours, or before the first and after the last of them with the row of that one, so that all positions beyond
    the corpus are one point until they are trained. A faithful geometry is not a better model.

    Parameters
    ----------
    geometry : Geometry
    n_dims : int
        Width d.
    rank : int or "auto"
        Axes r. ``"auto"`` is the significant rank; see `significance`.
    rows : {"as-is", "unit"}
        Rows as they are, or each scaled to norm 1, which keeps directions only.
    n_positions : int, optional
        Rows n; by default those of the geometry.
    counts : PositionCounts, optional
        What the geometry was estimated from: places positions that it masks for few sequences, and is recorded.
    level : float or None
        Of the interval of the share explained; None for no interval.
    seed : int
        Draws W.
    progress : callable
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    Encoding
        Its `factors` are ``coordinates`` (A, shape (n, r)) and ``axes`` (W, shape (d, r)); its `fit` is how it was
        fitted, JSON-serialisable: rank, the test of the axes, the share of |B|^2 explained (that is the square of
        alignment; out of sample where there are folds for it), numbers of parameters, and how each position was
        placed. `posgeom.export` writes all of it.

    Raises
    ------
    GeometryError
        When the significant rank is not known or is 0.
    EncodingError
        When a width, a rank or a length is out of range, or the counts are not those of the geometry.

    Examples
    --------
    >>> import posgeom as pg
    >>> texts = [" ".join(f"{'ab'[(i + k // 3) % 2]}{k % 3}" for k in range(6)) for i in range(400)]
    >>> counts = pg.count_texts(texts, "whitespace", n_positions=6, fold_by="row")
    >>> encoding = fit_encoding(pg.geometry(counts), 16, rank=2, n_positions=8)
    >>> encoding.factors["coordinates"].shape, encoding.factors["axes"].shape
    ((8, 2), (16, 2))
    """
    check_width(n_dims)
    check_choice("rows", rows, ("as-is", "unit"))
    length = geometry.n_positions if n_positions is None else n_positions
    check_n_positions("fitted to a corpus", length)
    if counts is not None and not np.array_equal(counts.depth, geometry.position_depth):
        raise EncodingError("the counts are not those that the geometry was estimated from: give those, or none")
    tested = significance(geometry, progress=progress)
    chosen = _rank(rank, tested, geometry, n_dims)
    placed = _place(geometry, chosen, max(length, geometry.n_positions), counts)
    coordinates = placed.coordinates if rows == "as-is" else _unit_rows(placed.coordinates)
    if rows == "unit" and not coordinates.any(axis=1).all():
        position = int(np.flatnonzero(~coordinates.any(axis=1))[0])
        raise EncodingError(f"position {position} lies at the centre of the others: its row has no direction to keep")
    name = f"mds of a corpus, rank {chosen}" + (", unit rows" if rows == "unit" else "")
    explained = _explained(_fitted(name, coordinates, geometry, chosen, rows), geometry)
    axes, coordinates = orthonormal_columns(n_dims, chosen, seed), coordinates[:length]
    encoding = _fitted(name, coordinates @ axes.T, geometry, chosen, rows)
    encoding.factors = MappingProxyType({"coordinates": coordinates, "axes": axes})
    encoding.fit = MappingProxyType(
        {
            "method": "classical MDS",
            "metric": geometry.metric.name,
            "estimator": geometry.estimator,
            "depth": geometry.depth,
            "rows": rows,
            "rank": chosen,
            "rank_chosen": "auto" if rank == "auto" else "given",
            "significance": None if tested is None else _test(tested),
            "explained": _share(explained, geometry, level),
            "parameters": {"factors": chosen * (length + n_dims), "table": length * n_dims},
            "positions": placed.ranges(length),
            "seed": seed,
            **({} if counts is None else _source(counts)),
        }
    )
    return encoding


@dataclass(frozen=True, eq=False)
class _Placed:
    """Coordinates of positions, shape (n, r), and in what way each of these got them."""

    coordinates: NDArray[np.float64]
    fitted: NDArray[np.int64]
    further: NDArray[np.int64]

    def ranges(self, length: int) -> dict[str, list[list[int]]]:
        """First and last position of every run of positions placed in one way."""
        positions = np.arange(length)
        known = np.union1d(self.fitted, self.further)
        inside = (positions > known[0]) & (positions < known[-1]) & ~np.isin(positions, known)
        ways = {
            "fitted": np.isin(positions, self.fitted),
            "gower": np.isin(positions, self.further),
            "interpolated": inside,
            "nearest": (positions < known[0]) | (positions > known[-1]),
        }
        return {name: _runs(np.flatnonzero(mask)) for name, mask in ways.items()}


def _place(geometry: Geometry, rank: int, n: int, counts: PositionCounts | None) -> _Placed:
    solution = geometry.mds(rank)
    further, rows = _further(geometry, solution, counts)
    positions = np.concatenate([solution.positions, further])
    order = np.argsort(positions)
    known = positions[order].astype(np.float64)
    coordinates = np.concatenate([solution.coordinates, rows])[order]
    places = np.clip(np.arange(n, dtype=np.float64), known[0], known[-1])
    return _Placed(interpolate_rows(coordinates, known, places, "linear"), solution.positions, further)


def _further(
    geometry: Geometry, solution: MDS, counts: PositionCounts | None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Positions masked for few sequences that have enough of them to be placed, and where they are.

    They lower the common depth, at which distances are shorter. So they are placed among the fitted positions as those
    lie at that depth, and taken along as the fitted ones are mapped to where they lie here.
    """
    none = np.empty(0, np.int64), np.empty((0, solution.coordinates.shape[1]))
    selection = geometry.selection
    if counts is None or selection.bins is not None:
        return none
    if not (geometry.position_depth[selection.shallow] >= ENOUGH_DEPTH).any() or selection.min_depth <= ENOUGH_DEPTH:
        return none
    wider = estimate_geometry(
        counts,
        metric=geometry.metric.name,
        estimator=geometry.estimator,
        empty=geometry.empty,
        min_depth=ENOUGH_DEPTH,
        positions=selection.within,
        seed=geometry.seed,
    ).distances
    known = np.isin(wider.positions, solution.positions)
    squared = wider.squared
    shared = DistanceMatrix.from_squared(
        squared[np.ix_(known, known)], solution.positions, wider.metric, wider.estimator
    )
    there = classical_mds(shared).truncate(solution.coordinates.shape[1])
    back = np.linalg.lstsq(there.coordinates, solution.coordinates, rcond=None)[0]
    return wider.positions[~known], there.extend(squared[np.ix_(~known, known)]) @ back


def _rank(rank: Any, tested: Significance | None, geometry: Geometry, n_dims: int) -> int:
    if rank == "auto":
        if tested is None:
            raise GeometryError(
                "the significant rank is not known: it takes a cross-validated geometry with documents in at least "
                f"{FEWEST_TO_TEST} folds; name a rank"
            )
        if tested.rank == 0:
            raise GeometryError(
                "no axis of this geometry is more than noise, so that there is nothing to fit: name a rank if you want "
                "one all the same"
            )
        rank = tested.rank
    most = min(geometry.spectrum.n_positive, n_dims)
    if isinstance(rank, bool | str) or not isinstance(rank, Integral) or not 1 <= int(rank) <= most:
        raise EncodingError(
            f"rank {rank}: expected auto, or 1 to {most}; the geometry has {geometry.spectrum.n_positive} axes, the "
            f"width is {n_dims}"
        )
    return int(rank)


def _fitted(name: str, points: NDArray[np.float64], geometry: Geometry, rank: int, rows: str) -> Encoding:
    """An encoding that says how it comes out of another geometry; distances do not depend on W."""

    def refit(shape: Geometry) -> Encoding:
        solution = shape.mds()
        axes = solution.embed(rank, rank)
        return PointEncoding(name, _unit_rows(axes) if rows == "unit" else axes, solution.positions, shape.n_positions)

    encoding = PointEncoding(name, points)
    encoding.fitted_to, encoding.refit = geometry, refit
    return encoding


def _unit_rows(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of norm 1; zero where one is zero to round-off."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    has_direction = norms > _ROUND_OFF * norms.max(initial=0)
    return np.where(has_direction, rows / np.where(has_direction, norms, 1), 0)


def _explained(encoding: Encoding, geometry: Geometry) -> Estimate:
    return replicates_of([encoding], geometry, errors=True)[0]["explained"].estimate


def _share(explained: Estimate, geometry: Geometry, level: float | None) -> dict[str, Any]:
    """The share of |B|^2 that the best scaling of it explains, and whether on other text than it was fitted to."""
    interval, products = explained.interval(level), geometry.products
    held_out = products is not None and products.n >= ENOUGH_FOLDS
    return {
        "value": explained.value,
        "undefined": why_undefined(geometry) if explained.value is None else None,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "level": None if interval is None else level,
        "out_of_sample": held_out,
        "n_folds": None if products is None else products.n,
    }


def _test(tested: Significance) -> dict[str, Any]:
    return {
        "rank": tested.rank,
        "alpha": tested.alpha,
        "p_values": [axis.p_value for axis in tested.axes],
        "n_patterns": tested.n_patterns,
    }


def _source(counts: PositionCounts) -> Mapping[str, Any]:
    return {
        "tokenizer": asdict(counts.tokenizer),
        "corpus": {
            "sources": list(counts.sources),
            "documents": counts.n_documents,
            "tokens": counts.n_tokens,
            "checksum": counts.checksum,
        },
    }


def _runs(positions: NDArray[np.int64]) -> list[list[int]]:
    """First and last of each run of consecutive numbers."""
    parts = np.split(positions, np.flatnonzero(np.diff(positions) > 1) + 1)
    return [[int(part[0]), int(part[-1])] for part in parts if part.size]
