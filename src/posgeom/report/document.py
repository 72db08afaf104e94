"""The result as one plain object: the content of ``scores.json`` (schema in docs/scores-json.md)."""

from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from posgeom.analysis import Analysis
from posgeom.corpus.leaks import shared_passages
from posgeom.geometry.build import Geometry

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
    bins, shared = counts.bins, shared_passages(counts)
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
