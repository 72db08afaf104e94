"""Three sentences, each with its number, what that rests on, and its interval where there is one."""

from typing import Any

import pytest

from posgeom.report.findings import findings, layers_findings
from posgeom.report.run import Run


@pytest.fixture
def scores(run: Run) -> dict[str, Any]:
    assert run.scores is not None
    return dict(run.scores)


def test_three_sentences_from_the_numbers(scores: dict[str, Any]) -> None:
    sentences = findings(scores)
    assert len(sentences) == 3
    size, shape, encodings = sentences
    mean = scores["mean_squared_distance"]
    assert f"{mean['crossval']:.3g} cross-validated" in size
    assert f"plug-in estimate of {mean['plugin']:.3g}" in size
    assert "5,000 documents, 32 positions" in size
    assert "most of the difference" in size
    assert "was not tested" in shape
    best = min(
        (e for e in scores["encodings"] if e["stress_scaled"] is not None and not e["name"].startswith("mds")),
        key=lambda e: e["stress_scaled"],
    )
    assert f"{best['name']} at {best['stress_scaled']:.3f}" in encodings
    assert all(sentence.endswith(".") for sentence in sentences)


def test_intervals_significance_and_ceiling(scores: dict[str, Any]) -> None:
    scores["uncertainty"] = {"level": 0.9, "method": "jackknife", "n_folds": 10}
    scores["mean_squared_distance_interval"] = {"crossval": {"low": 1.1, "high": 1.2}}
    scores["significance"] = {"significant_rank": 1, "n_null": 20, "signal_share": 0.5, "axes": []}
    scores["noise_ceiling"] = {"stress_scaled": {"value": 0.02, "low": 0.01, "high": 0.03}}
    size, shape, encodings = findings(scores)
    assert "(90% interval 1.1 to 1.2)" in size
    assert shape.startswith(
        "1 axis stands above what shuffled positions give by 20 null corpora, with 50% of the inertia"
    )
    assert "one half of the corpus scores 0.020 (90% interval 0.01 to 0.03) against the other" in encodings


def test_undefined_is_said(scores: dict[str, Any]) -> None:
    nothing = [e | {"stress_scaled": None} for e in scores["encodings"]]
    changed = scores | {"encodings": nothing, "spectrum": [0.0, -0.1]}
    changed["mean_squared_distance"] = {"plugin": 0.0, "crossval": 0.0, "crossval_common_depth": None}
    size, shape, encodings = findings(changed)
    assert "nan" not in (size + shape + encodings).lower()
    assert "No axis" in shape
    assert "undefined for every encoding" in encodings
    plugin = scores | {"estimator": "plugin", "mean_squared_distance": {"plugin": 0.3, "crossval": None}}
    assert "plug-in estimate" in findings(plugin)[0]
    assert "too large" in findings(plugin)[0]
    fitted = [e for e in scores["encodings"] if e["name"].startswith("mds")]
    assert "mds" in findings(scores | {"encodings": fitted})[2]


def test_layers() -> None:
    rows = [
        {"layer": layer, "head": head, "weights": weights, "stress_scaled": value}
        for layer, head, weights, value in (
            (0, None, "trained", 0.01),
            (0, 0, "trained", 0.4),
            (0, 1, "trained", None),
            (1, 0, "trained", 0.2),
            (1, 1, "trained", 0.3),
            (0, 0, "initial", 0.5),
            (1, 0, "initial", 0.7),
        )
    ]
    layers = {"estimator": "crossval", "positions_used": [0, 1, 2], "rows": rows}
    best, fresh = layers_findings(layers)
    assert "Head 0 of layer 1" in best
    assert "0.200" in best
    assert "median of 3 heads is 0.300 (against crossval distances of 3 positions)" in best
    assert "the median is 0.600" in fresh
    (undefined,) = layers_findings(layers | {"rows": rows[2:3]})
    assert undefined.startswith("Scaled stress is undefined for every head")
