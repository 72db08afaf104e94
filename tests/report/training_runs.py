"""A stored run of training, small enough to read."""

import json
from pathlib import Path
from typing import Any


def record(step: int, **changed: Any) -> dict[str, Any]:
    hypotheses = {"h1": 3, "h1_pairs": 6, "h2": None, "h2_pairs": None, "h3": 2, "h3_pairs": 6}
    scores = {"alignment": 0.25, "alignment_low": 0.2, "alignment_high": 0.3, "stress_raw": 0.5, "stress_scaled": 0.4}
    learned = {"loss": 0.7 - step / 100, "loss_error": 0.01, "accuracy": 0.5 + step / 100, "accuracy_error": 0.02}
    own = {"min_separation": 0.3 + step / 1000, "closest_i": 1, "closest_j": 2, "violation_rate": 0.5, "tie_rate": 0.0}
    rest = {"effective_rank": 3.0, "row_norm": 0.2, "moved": step / 50, "pearson": 0.1, "all": None, "all_pairs": None}
    return {"step": step} | own | rest | scores | learned | hypotheses | changed


def run_document(**changed: Any) -> dict[str, Any]:
    task = {"name": "order", "description": "which comes first", "labels": ["a first", "b first"], "chance": 0.5}
    task |= {"train_examples": 20, "held_out_examples": 4, "train_documents": 10, "held_out_documents": 2}
    machine = {"device": "cpu", "precision": "float32", "torch": "2.4", "transformers": "5.0", "seconds": 2.5}
    model = {"class": "Bert", "model_type": "bert", "n_layers": 2, "n_heads": 2, "width": 8}
    return {
        "schema_version": 2,
        "software": {"name": "posgeom", "version": "0"},
        "sources": ["some/corpus.jsonl"],
        "task": task | {"held_out": "one document in ten"},
        "model": model | {"parameters": 1000, "trained_parameters": 900},
        "options": {"preset": "tiny", "model": None, "encoding": "default", "frozen": False, "rank": None, "seed": 0},
        "preset": {"n_positions": 4, "batch_size": 8},
        "encoding": {},
        "geometry": {"metric": "hellinger", "estimator": "crossval", "positions_used": [1, 2, 3], "common_depth": 5},
        "records": [record(0), record(20)],
        "losses": [{"step": 10, "loss": 0.6}],
        "machine": machine,
        "notes": ["a note <b>"],
    } | changed


def write_run(directory: Path, **changed: Any) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "run.json").write_text(json.dumps(run_document(**changed)))
    return directory
