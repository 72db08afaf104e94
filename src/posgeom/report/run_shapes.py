"""What the files of a run must hold for charts and pages; keys that are not used are not looked at."""

from posgeom.report.shapes import MAYBE_NUMBER, NUMBER, Optional, Values

_ENCODING_SCORES = (
    *("alignment", "alignment_scale", "explained"),
    *("stress_raw", "stress_scaled", "scale", "stress_1", "pearson", "spearman", "violation_rate", "tie_rate"),
    *("min_separation", "effective_rank"),
)
_INTERVAL = {"low": MAYBE_NUMBER, "high": MAYBE_NUMBER}
_VALUE = {"value": MAYBE_NUMBER, "low": Optional(NUMBER), "high": Optional(NUMBER)}
_ENCODING = {
    "name": str,
    "n_dims": Optional(int),
    **dict.fromkeys(_ENCODING_SCORES, MAYBE_NUMBER),
    "n_triples": int,
    "min_separation_pair": [int],
    "intervals": Optional(Values(Optional(_INTERVAL))),
}
_AXIS = {"low": Optional(NUMBER), "high": Optional(NUMBER), "p_value": NUMBER}
SCORES_SHAPE = {
    "schema_version": int,
    "software": {"name": str, "version": str},
    "convention": str,
    "seed": int,
    "corpus": {
        "sources": [str],
        "columns": [str],
        "documents": int,
        "empty_documents": int,
        "tokens": int,
        "grouped_by": Optional(str),
    },
    "tokenizer": {
        "kind": str,
        "name": str,
        "sha256": Optional(str),
        "n_special_tokens": int,
        "engines": Optional([str]),
    },
    "n_positions": int,
    "vocab_size": int,
    "n_dims": int,
    "metric": str,
    "estimator": str,
    "empty_policy": str,
    "n_folds": int,
    "n_folds_used": int,
    "n_splits": int,
    "min_depth": int,
    "common_depth": Optional(int),
    "positions_used": [int],
    "depth": [int],
    "mean_squared_distance": {"plugin": NUMBER, "crossval": MAYBE_NUMBER, "crossval_common_depth": MAYBE_NUMBER},
    "self_affinity": MAYBE_NUMBER,
    "rank": Optional(int),
    "spectrum": [NUMBER],
    "spectrum_rank": int,
    "spectrum_negative_mass": NUMBER,
    "plugin_spectrum": [NUMBER],
    "encodings": [_ENCODING],
    "cautions": Optional([str]),
    "notes": [str],
    "uncertainty": Optional({"level": NUMBER, "method": str, "n_folds": int, "depth": Optional(int)}),
    "alignment_undefined": Optional(str),
    "noise_ceiling": Optional(Values(Optional(_VALUE))),
    "significance": Optional(
        {
            "significant_rank": int,
            "alpha": NUMBER,
            "n_patterns": int,
            "smallest_p": NUMBER,
            "signal_share": Optional(NUMBER),
            "axes": [_AXIS],
        }
    ),
    "depth_curve": Optional(
        {
            "depth": [NUMBER],
            "mean_squared": [MAYBE_NUMBER],
            "low": Optional([MAYBE_NUMBER]),
            "high": Optional([MAYBE_NUMBER]),
        }
    ),
    "mean_squared_distance_interval": Optional(Values(Optional(_INTERVAL))),
    "corpus_monotonicity": Optional({"violation_rate": Values(MAYBE_NUMBER)}),
}
_COLUMN = [MAYBE_NUMBER]
CHARTS_SHAPE = {
    "schema_version": int,
    "matrix": {"first": [int], "last": [int], "depth": [int], "distances": Values([_COLUMN])},
    "lags": [
        {
            "estimate": str,
            "first": [int],
            "last": [int],
            "pairs": [int],
            "low": _COLUMN,
            "median": _COLUMN,
            "high": _COLUMN,
        }
    ],
    "map": {"positions": [int], "axes": [[NUMBER]]},
    "densities": [{"encoding": str, "width": NUMBER, "x": [NUMBER], "y": [NUMBER], "pairs": [int]}],
    "violations": Optional({"lags": [int], "series": [{"encoding": Optional(str), "rates": _COLUMN}]}),
    "tokens": Optional(
        {
            "documents": int,
            "common_depth": Optional(int),
            "n_folds": int,
            "false_discovery_rate": NUMBER,
            "looked_at": [
                {
                    "kind": str,
                    "number": int,
                    "size": NUMBER,
                    "ends": [[int]],
                    "tokens_tested": int,
                    "tokens_told": int,
                    "tokens": [
                        {
                            "token": str,
                            **dict.fromkeys(("deviation", "share", "frequency", "elsewhere", "p_value"), NUMBER),
                            **dict.fromkeys(("low", "high"), MAYBE_NUMBER),
                        }
                    ],
                }
            ],
        }
    ),
    "logo": Optional({"positions": [int], "tokens": [str], "bits": [[NUMBER]]}),
    "widths": [{"encoding": str, "n_dims": int, "alignment": MAYBE_NUMBER, "stress_scaled": MAYBE_NUMBER}],
}
LAYERS_SHAPE = {
    "schema_version": int,
    "model": str,
    "stack": str,
    "n_layers": int,
    "n_heads": int,
    "input": str,
    "metric": str,
    "estimator": str,
    "positions_used": [int],
    "rows": [
        {
            "layer": int,
            "head": Optional(int),
            "weights": str,
            "alignment": MAYBE_NUMBER,
            "stress_scaled": MAYBE_NUMBER,
            "stress_raw": MAYBE_NUMBER,
            "pearson": MAYBE_NUMBER,
        }
    ],
    "notes": [str],
}
_RECORD = {
    "step": int,
    **dict.fromkeys(("min_separation", "effective_rank", "row_norm", "loss", "loss_error"), NUMBER),
    **dict.fromkeys(("accuracy", "accuracy_error"), NUMBER),
    **dict.fromkeys(("violation_rate", "moved", "alignment", "alignment_low", "alignment_high"), MAYBE_NUMBER),
    **dict.fromkeys(("stress_raw", "stress_scaled", "pearson"), MAYBE_NUMBER),
    **dict.fromkeys(("h1", "h1_pairs", "h2", "h2_pairs", "h3", "h3_pairs", "all", "all_pairs"), MAYBE_NUMBER),
    **dict.fromkeys(("closest_i", "closest_j"), int),
}
_POINT = {"position": int, "value": NUMBER, "low": MAYBE_NUMBER, "high": MAYBE_NUMBER, "beyond": bool}
WARP_SHAPE = {
    "schema_version": int,
    "sources": [str],
    "n_positions_used": int,
    "estimator": str,
    "n_folds": Optional(int),
    "level": NUMBER,
    "families": [{"name": str, "curve": [_POINT]}],
    "left_out": [
        {
            "first_position": int,
            "share_of_squared_norm": _VALUE,
            "alignment": Values(_VALUE),
        }
    ],
    "findings": [str],
}
TRAINING_SHAPE = {
    "schema_version": int,
    "software": {"name": str, "version": str},
    "sources": [str],
    "task": {
        "name": str,
        "description": str,
        "chance": MAYBE_NUMBER,
        **dict.fromkeys(("train_examples", "train_documents", "held_out_documents"), int),
        "held_out": str,
    },
    "model": {"class": str, "n_layers": int, "width": int, "parameters": int, "trained_parameters": int},
    "options": {
        "preset": str,
        "model": Optional(str),
        "encoding": str,
        "frozen": bool,
        "rank": Optional(int),
        "seed": int,
    },
    "preset": {"n_positions": int, "batch_size": int},
    "geometry": Optional(
        {"metric": str, "estimator": str, "positions_used": [int], "common_depth": Optional(int)},
    ),
    "records": [_RECORD],
    "losses": [{"step": int, "loss": NUMBER}],
    "machine": {"device": str, "precision": str, "torch": str, "transformers": str, "seconds": NUMBER},
    "notes": [str],
}
