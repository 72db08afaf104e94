"""The result as one plain object: the content of ``scores.json`` (schema in docs/scores-json.md)."""

from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from posgeom.analysis import Analysis
from posgeom.counts.leaks import shared_shingles
from posgeom.geometry.build import Geometry
from posgeom.geometry.depth_curve import DepthCurve
from posgeom.geometry.significance import Significance
from posgeom.scores.interval import mean_interval, noise_share, noise_share_interval
from posgeom.scores.scorecard import Scorecard

SCHEMA_VERSION = 1


def to_document(analysis: Analysis) -> dict[str, Any]:
    """Everything worth storing of an analysis but its matrices.

    Parameters
    ----------
    analysis : Analysis

    Returns
    -------
    dict
        JSON-serialisable; an undefined number is None.
    """
    counts, geometry = analysis.counts, analysis.geometry
    bins, shared = counts.bins, shared_shingles(counts)
    return {
        "schema_version": SCHEMA_VERSION,
        "software": {"name": "posgeom", "version": version("posgeom")},
        "convention": analysis.convention,
        "seed": analysis.seed,
        "corpus": {
            "sources": list(counts.sources),
            "columns": list(counts.columns),
            "documents": counts.n_documents,
            "empty_documents": counts.empty_documents,
            "tokens": counts.n_tokens,
            "grouped_by": counts.grouped_by,
            "min_length": counts.min_length,
            "short_documents": counts.short_documents,
            "shared_passages": None if shared is None else asdict(shared),
        },
        "tokenizer": asdict(counts.tokenizer)
        | {"engines": list(counts.engines), "engine_notes": list(counts.engine_notes)},
        "n_positions": counts.n_positions,
        "bins": None if bins is None else {"kind": bins.kind, "edges": list(bins.edges)},
        "vocab_size": counts.vocab_size,
        "n_dims": analysis.n_dims,
        **_geometry(geometry),
        "mean_squared_distance_interval": {"crossval_common_depth": _mean_interval(geometry, analysis.level)},
        "noise_share": _noise_share(geometry, analysis.depth_curve, analysis.level),
        "corpus_monotonicity": {"violation_rate": asdict(analysis.order)},
        "uncertainty": _uncertainty(analysis.scorecard),
        "significance": _significance(analysis.significance, analysis.level),
        "depth_curve": _depth_curve(analysis.depth_curve, analysis.level),
        "noise_ceiling": _ceiling(analysis.scorecard),
        "encodings": [
            row | {"min_separation_pair": list(row["min_separation_pair"])} for row in analysis.scorecard.to_dicts()
        ],
        "notes": list(analysis.notes),
    }


def _geometry(geometry: Geometry) -> dict[str, Any]:
    selection = geometry.selection
    full, common = geometry.crossval_full_depth, geometry.crossval
    return {
        "metric": geometry.metric.name,
        "estimator": geometry.estimator,
        "empty_policy": geometry.empty,
        "n_folds": geometry.n_folds,
        "n_folds_used": geometry.n_folds_used,
        "n_splits": geometry.n_splits,
        "n_blocks": len(geometry.blocks),
        "min_depth": selection.min_depth,
        "min_depth_chosen_automatically": selection.chosen_automatically,
        "common_depth": geometry.depth,
        "n_positions_used": int(selection.positions.size),
        "positions_used": selection.positions.tolist(),
        "positions_empty": selection.empty.tolist(),
        "positions_shallow": selection.shallow.tolist(),
        "depth": geometry.position_depth.tolist(),
        "mean_squared_distance": {
            "plugin": geometry.plugin.mean_squared,
            "crossval": None if full is None else full.mean_squared,
            "crossval_common_depth": None if geometry.depth is None or common is None else common.mean_squared,
        },
        "self_affinity": geometry.self_affinity,
        "negative_pairs": geometry.distances.negative_share,
        "rank": geometry.rank,
        "spectrum": geometry.spectrum.eigenvalues.tolist(),
        "spectrum_rank": geometry.spectrum.rank,
        "spectrum_negative_mass": geometry.spectrum.negative_mass,
        "plugin_spectrum": geometry.plugin_spectrum.eigenvalues.tolist(),
        "plugin_spectrum_rank": geometry.plugin_spectrum.rank,
    }


def _mean_interval(geometry: Geometry, level: float | None) -> dict[str, float] | None:
    interval = mean_interval(geometry, level)
    return None if interval is None else asdict(interval)


def _noise_share(geometry: Geometry, curve: DepthCurve | None, level: float | None) -> dict[str, float | None] | None:
    value = noise_share(geometry)
    if value is None:
        return None
    interval = None if level is None else noise_share_interval(geometry, curve, level)
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return {"value": value, "low": low, "high": high}


def _uncertainty(card: Scorecard) -> dict[str, Any] | None:
    if card.level is None:
        return None
    return {"level": card.level, "method": card.method, "n_folds": card.n_blocks}


def _significance(tested: Significance | None, level: float | None) -> dict[str, Any] | None:
    if tested is None or level is None:
        return None
    axes = []
    for axis in tested.axes:
        low, high = axis.interval(level) or (None, None)
        axes.append(
            {
                "eigenvalue": axis.eigenvalue,
                "corrected": axis.corrected,
                "low": low,
                "high": high,
                "null_mean": axis.null_mean,
                "null_upper": axis.null_upper,
                "p_value": axis.p_value,
            }
        )
    return {
        "significant_rank": tested.rank,
        "alpha": tested.alpha,
        "n_null": len(tested.null),
        "signal_share": tested.signal_share,
        "axes": axes,
        "null_spectrum": tested.null.mean(axis=0).tolist(),
    }


def _depth_curve(curve: DepthCurve | None, level: float | None) -> dict[str, Any] | None:
    if curve is None or level is None:
        return None
    intervals = [curve.interval(k, level) or (None, None) for k in range(len(curve.points))]
    limit = curve.limit(level)
    return {
        "depth": [point.depth for point in curve.points],
        "mean_squared": [point.mean_squared for point in curve.points],
        "low": [low for low, _ in intervals],
        "high": [high for _, high in intervals],
        "self_affinity": [point.self_affinity for point in curve.points],
        "limit": None if limit is None else dict(zip(("value", "low", "high"), limit, strict=True)),
    }


def _ceiling(card: Scorecard) -> dict[str, dict[str, float | None]] | None:
    if not card.ceiling:
        return None
    out: dict[str, dict[str, float | None]] = {}
    for name, value in card.ceiling.items():
        interval = card.ceiling_intervals.get(name)
        bounds = (None, None) if interval is None else (interval.low, interval.high)
        out[name] = {"value": value, "low": bounds[0], "high": bounds[1]}
    return out
