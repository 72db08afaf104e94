"""The result as one plain object: the content of ``scores.json`` (schema in docs/scores-json.md)."""

from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from posgeom.counts.leaks import shared_shingles
from posgeom.estimation.build import Geometry
from posgeom.inference.depth_curve import DepthCurve
from posgeom.inference.jackknife import Estimate
from posgeom.inference.null_corpora import OrderBeyondLengths
from posgeom.inference.ranking import ranking
from posgeom.inference.scorecard import Scorecard
from posgeom.inference.significance import HYPOTHESIS, Significance
from posgeom.report.findings import findings
from posgeom.results import Analysis

SCHEMA_VERSION = 2


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
    document = {
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
            "cut_documents": counts.cut_documents,
            "shared_passages": None if shared is None else asdict(shared),
        },
        "tokenizer": asdict(counts.tokenizer)
        | {"engines": list(counts.engines), "engine_notes": list(counts.engine_notes)},
        "n_positions": counts.n_positions,
        "bins": None if bins is None else {"kind": bins.kind, "edges": list(bins.edges)},
        "vocab_size": counts.vocab_size,
        "n_dims": analysis.n_dims,
        **_geometry(geometry),
        "mean_squared_distance_interval": {"crossval_common_depth": _interval(analysis.mean_squared, analysis.level)},
        "noise_share": None if analysis.noise_share is None else _estimate(analysis.noise_share, analysis.level),
        "corpus_monotonicity": {"violation_rate": asdict(analysis.order)},
        "uncertainty": _uncertainty(analysis.scorecard),
        "significance": _significance(analysis.significance, analysis.level),
        "beyond_lengths": _beyond_lengths(analysis.beyond_lengths),
        "depth_curve": _depth_curve(analysis.depth_curve, analysis.level),
        "noise_ceiling": _ceiling(analysis.scorecard),
        "alignment_undefined": analysis.scorecard.undefined,
        "encodings": [
            row | {"min_separation_pair": list(row["min_separation_pair"])} for row in analysis.scorecard.to_dicts()
        ],
        "ranking": _ranking(analysis.scorecard),
        "cautions": list(analysis.cautions),
        "notes": list(analysis.notes),
    }
    return document | {"findings": findings(document)}


def _geometry(geometry: Geometry) -> dict[str, Any]:
    selection = geometry.selection
    full, common = geometry.crossval_full_depth, geometry.crossval
    return {
        "metric": geometry.metric.name,
        "estimator": geometry.estimator,
        "empty_policy": geometry.empty,
        "n_folds": geometry.n_folds,
        "n_folds_used": geometry.n_folds_used,
        "n_splits": len(geometry.splits),
        "n_fold_groups": len(geometry.fold_groups),
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


def _interval(estimate: Estimate, level: float | None) -> dict[str, float] | None:
    interval = estimate.interval(level)
    return None if interval is None else asdict(interval)


def _estimate(estimate: Estimate, level: float | None) -> dict[str, float | None]:
    interval = estimate.interval(level)
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return {"value": estimate.value, "low": low, "high": high}


def _uncertainty(card: Scorecard) -> dict[str, Any] | None:
    if card.level is None:
        return None
    return {"level": card.level, "method": "jackknife", "n_folds": card.n_folds, "depth": card.depth}


def _significance(tested: Significance | None, level: float | None) -> dict[str, Any] | None:
    if tested is None:
        return None
    axes = []
    for axis in tested.axes:
        known = _estimate(axis.corrected, level)
        axes.append({"eigenvalue": axis.eigenvalue, "corrected": known.pop("value"), **known, "p_value": axis.p_value})
    return {
        "hypothesis": HYPOTHESIS,
        "significant_rank": tested.rank,
        "alpha": tested.alpha,
        "n_patterns": tested.n_patterns,
        "smallest_p": tested.smallest_p,
        "signal_share": tested.signal_share,
        "axes": axes,
    }


def _beyond_lengths(found: OrderBeyondLengths | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "null_kind": found.kind,
        "n_null": len(found.null),
        "rank": found.rank,
        "alpha": found.alpha,
        "p_values": list(found.p_values),
        "null_spectrum": found.null.mean(axis=0).tolist(),
    }


def _depth_curve(curve: DepthCurve | None, level: float | None) -> dict[str, Any] | None:
    if curve is None:
        return None
    values = [_estimate(point.mean_squared, level) for point in curve.points]
    return {
        "depth": [point.depth for point in curve.points],
        "mean_squared": [value["value"] for value in values],
        "low": [value["low"] for value in values],
        "high": [value["high"] for value in values],
        "self_affinity": [point.self_affinity for point in curve.points],
    }


def _ranking(card: Scorecard) -> dict[str, Any]:
    ranked = ranking(card)
    differences = []
    for one in ranked.differences:
        low, high = (None, None) if one.interval is None else (one.interval.low, one.interval.high)
        differences.append({"first": one.first, "second": one.second, "value": one.value, "low": low, "high": high})
    return {
        "level": ranked.level,
        "places": [{"encodings": list(place.names), "kind": place.kind} for place in ranked.places],
        "differences": differences,
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
