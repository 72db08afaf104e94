"""What charts show of an analysis beyond its scores: reductions that are small enough to store and to draw."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.registry import SCHEMES, build_encoding
from posgeom.errors import EncodingError
from posgeom.estimation.blocks import block_edges, block_means
from posgeom.estimation.distance_matrix import upper_pairs
from posgeom.inference.scoring import corpus_scores
from posgeom.progress import ProgressHook, silent
from posgeom.results import Analysis
from posgeom.scores.density import pair_density
from posgeom.scores.lag_profile import lag_profile
from posgeom.scores.stress import paired_distances
from posgeom.scores.violations_by_lag import violations_by_lag
from posgeom.token_data import token_chart_data

SCHEMA_VERSION = 2
MAX_CELLS, N_BLOCKS = 128, 64
"""Rows of a matrix that a chart still shows one by one; larger ones are averaged over at most so many blocks."""
MAP_AXES = 3
_DIGITS = 6
_MANY_POSITIONS = 1024

PLUGIN, CROSSVAL = "plug-in", "cross-validated"


def chart_data(analysis: Analysis, *, progress: ProgressHook = silent) -> dict[str, Any]:
    """All that charts of an analysis need and its other files lack: ``charts.json``, small whatever n is."""
    geometry = analysis.geometry
    squared = {PLUGIN: geometry.plugin.squared}
    if geometry.crossval is not None:
        squared[CROSSVAL] = geometry.crossval.squared
    solution = geometry.mds()
    data = geometry_chart_data(
        geometry.positions, geometry.position_depth[geometry.positions], squared, solution.coordinates
    )
    corpus = violations_by_lag(geometry.distances.values, geometry.positions)
    densities: list[dict[str, Any]] = []
    violations: list[dict[str, Any]] = [{"encoding": None, "rates": _short(corpus.rates)}]
    for done, (encoding, row) in enumerate(zip(analysis.encodings, analysis.scorecard, strict=True)):
        progress("chart data", done, len(analysis.encodings))
        distances, target = paired_distances(encoding, geometry)
        density = pair_density(upper_pairs(distances), target.pairs, row.scale)
        if density is not None:
            binned = {"x": _short(density.x), "y": _short(density.y), "pairs": density.pairs.tolist()}
            densities.append({"encoding": row.name, "width": density.width} | binned)
        rates = violations_by_lag(distances, geometry.positions).rates
        violations.append({"encoding": row.name, "rates": _short(rates)})
    progress("chart data", len(analysis.encodings), len(analysis.encodings))
    return (
        data
        | {
            "densities": densities,
            "violations": {"lags": corpus.lags.tolist(), "series": violations},
            "widths": list(_scores_by_width(analysis)),
        }
        | token_chart_data(analysis.counts, geometry, progress=progress)
    )


def geometry_chart_data(
    positions: NDArray[np.int64],
    depth: NDArray[np.int64],
    squared: dict[str, NDArray[np.float64]],
    coordinates: NDArray[np.float64],
) -> dict[str, Any]:
    """The part of `chart_data` that a geometry alone gives."""
    edges = block_edges(positions.size, MAX_CELLS if positions.size <= MAX_CELLS else N_BLOCKS)
    axes = np.zeros((positions.size, MAP_AXES))
    axes[:, : coordinates.shape[1]] = coordinates[:, :MAP_AXES]
    lags = []
    for name, matrix in squared.items():
        profile = lag_profile(np.sqrt(np.maximum(matrix, 0)), positions)
        low, median, high = profile.quantiles.T
        columns = {"low": _short(low), "median": _short(median), "high": _short(high)}
        whole = {"first": profile.first.tolist(), "last": profile.last.tolist(), "pairs": profile.pairs.tolist()}
        lags.append({"estimate": name} | whole | columns)
    return {
        "schema_version": SCHEMA_VERSION,
        "matrix": {
            "first": positions[edges[:-1]].tolist(),
            "last": positions[edges[1:] - 1].tolist(),
            "depth": np.minimum.reduceat(depth, edges[:-1]).tolist(),
            "distances": {
                name: [_short(row) for row in np.sqrt(np.maximum(block_means(matrix, edges), 0))]
                for name, matrix in squared.items()
            },
        },
        "lags": lags,
        "map": {"positions": positions.tolist(), "axes": [_short(axis) for axis in axes.T]},
        "densities": [],
        "violations": None,
        "widths": [],
    }


def _scores_by_width(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """Scores of the schemes that have a width, at smaller ones."""
    geometry, n_dims = analysis.geometry, analysis.n_dims
    step = 2 if geometry.positions.size <= _MANY_POSITIONS else 4
    widths = sorted({*(step**k for k in range(1, 20) if step**k < n_dims), n_dims})
    for encoding in analysis.encodings:
        scheme = SCHEMES.get(encoding.scheme or "")
        if scheme is not None and "n_dims" in scheme.context and scheme.name != "mds":
            yield from _series(encoding.name, encoding.name, widths, analysis)
    if any(encoding.scheme == "mds" for encoding in analysis.encodings):
        axes = max(min(geometry.spectrum.n_positive, n_dims), 1)
        yield from _series("mds", "mds", sorted({1, *(w for w in widths if w < axes), axes}), analysis)


def _series(name: str, spec: str, widths: list[int], analysis: Analysis) -> Iterator[dict[str, Any]]:
    for width in widths:
        try:
            encoding = build_encoding(
                spec,
                n_positions=analysis.geometry.n_positions,
                n_dims=width,
                geometry=analysis.geometry,
                seed=analysis.seed,
            )
        except EncodingError:  # a width that the scheme, or one of its options, cannot have
            continue
        scores = corpus_scores(encoding, analysis.geometry)
        yield {"encoding": name, "n_dims": width} | {key: scores[key] for key in ("alignment", "stress_scaled")}


def _short(values: Any) -> list[float | None]:
    """Numbers with the digits that a chart can show."""
    return [None if value is None else float(f"{value:.{_DIGITS}g}") for value in values]
