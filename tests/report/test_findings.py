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
    size, axes, encodings = sentences
    mean, interval = scores["mean_squared_distance"], scores["mean_squared_distance_interval"]["crossval_common_depth"]
    bounds = f"(95% interval {interval['low']:.3g} to {interval['high']:.3g}), of samples of 500 documents"
    assert f"cross-validated it is {mean['crossval_common_depth']:.3g} {bounds}" in size
    assert f"distance between positions, {mean['plugin']:.3g}, {scores['noise_share']['value']:.0%}" in size
    assert "5,000 documents, 32 positions" in size
    tested = scores["significance"]
    assert axes.startswith(
        f"{tested['significant_rank']} axes stand above noise, by 512 patterns of signs of folds, with"
    )
    best = max(
        (e for e in scores["encodings"] if e["alignment"] is not None and not e["name"].startswith("mds")),
        key=lambda e: e["alignment"],
    )
    bounds = "{low:.3g} to {high:.3g}".format(**best["intervals"]["alignment"])
    assert f"{best['name']}, with an alignment of {best['alignment']:.3f} (95% interval {bounds})" in encodings
    assert all(sentence.endswith(".") for sentence in sentences)


def test_one_axis_none_and_not_tested(scores: dict[str, Any]) -> None:
    tested = {"significant_rank": 1, "n_patterns": 32, "signal_share": 0.5, "axes": [{"p_value": 0.4}]}
    assert findings(scores | {"significance": tested})[1].startswith(
        "1 axis stands above noise, by 32 patterns of signs of folds, with 50% of the inertia"
    )
    none = findings(scores | {"significance": tested | {"significant_rank": 0}})[1]
    assert none.startswith("No axis stands above noise, by 32 patterns of signs of folds (p = 0.4): nothing here says")
    assert "was not tested" in findings(scores | {"significance": None})[1]


def test_undefined_is_said(scores: dict[str, Any]) -> None:
    nothing = [e | {"alignment": None} for e in scores["encodings"]]
    changed = scores | {"encodings": nothing, "spectrum": [0.0, -0.1], "alignment_undefined": "there is no structure"}
    changed["mean_squared_distance"] = {"plugin": 0.0, "crossval": 0.0, "crossval_common_depth": None}
    changed["noise_share"] = None
    size, axes, encodings = findings(changed)
    assert "nan" not in (size + axes + encodings).lower()
    assert "No axis" in axes
    assert encodings == "Encodings are not ranked: there is no structure."
    plugin = scores | {"estimator": "plugin", "mean_squared_distance": {"plugin": 0.3, "crossval": None}}
    assert "plug-in estimate" in findings(plugin)[0]
    assert "too large" in findings(plugin)[0]
    fitted = [e for e in scores["encodings"] if e["name"].startswith("mds")]
    assert "mds" in findings(scores | {"encodings": fitted})[2]


def test_layers() -> None:
    rows = [
        {"layer": layer, "head": head, "weights": weights, "alignment": value}
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
    assert "Head 0 of layer 0" in best
    assert "0.400" in best
    assert "median of 3 heads is 0.300 (with crossval distances of 3 positions)" in best
    assert "the median is 0.600" in fresh
    (undefined,) = layers_findings(layers | {"rows": rows[2:3]})
    assert undefined.startswith("Alignment is undefined for every head")
