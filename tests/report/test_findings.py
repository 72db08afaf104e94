"""Sentences, each with its number, what that rests on, and its interval where there is one."""

from typing import Any

import pytest

from posgeom.report.encoding_findings import encoding_findings
from posgeom.report.findings import findings, layers_findings
from posgeom.report.run import Run


@pytest.fixture
def scores(run: Run) -> dict[str, Any]:
    assert run.scores is not None
    return dict(run.scores)


def test_sentences_from_the_numbers(scores: dict[str, Any]) -> None:
    sentences = findings(scores)
    size, axes, random, fixed, fitted = sentences
    mean, interval = scores["mean_squared_distance"], scores["mean_squared_distance_interval"]["crossval_common_depth"]
    bounds = f"(95% interval {interval['low']:.3g} to {interval['high']:.3g}), of samples of 500 documents"
    assert f"Cross-validated, the distance is {mean['crossval_common_depth']:.3g} {bounds}" in size
    assert size.startswith(f"{scores['noise_share']['value']:.0%} (95% interval ")
    assert f"by plain frequencies (plug-in), {mean['plugin']:.3g}, is not found again" in size
    assert "5,000 documents, 32 positions" in size
    tested = scores["significance"]
    assert axes.startswith(
        f"{tested['significant_rank']} axes stand above noise, by 512 patterns of signs of folds, with"
    )
    places = [place for place in scores["ranking"]["places"] if place["kind"] == "fixed"]
    best = next(e for e in scores["encodings"] if e["name"] == places[0]["encodings"][0])
    bounds = "{low:.3f} to {high:.3f}".format(**best["intervals"]["alignment"])
    assert f"has the highest alignment, {best['alignment']:.3f} (95% interval {bounds})" in fixed
    assert "a difference of" in random
    assert f"simultaneous over {len(scores['ranking']['differences'])} differences" in random
    assert "mds" in fitted
    assert "documents that they are not fitted to" in fitted
    assert scores["findings"] == sentences
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
    changed["ranking"] = {"level": 0.95, "places": [], "differences": []}
    changed["mean_squared_distance"] = {"plugin": 0.0, "crossval": 0.0, "crossval_common_depth": None}
    changed["noise_share"] = None
    size, axes, encodings = findings(changed)
    assert "nan" not in (size + axes + encodings).lower()
    assert "No axis" in axes
    assert encodings == "Encodings are not ranked: there is no structure."
    plugin = scores | {"estimator": "plugin", "mean_squared_distance": {"plugin": 0.3, "crossval": None}}
    assert "plug-in estimate" in findings(plugin)[0]
    assert "too large" in findings(plugin)[0]


def two(low: float | None, high: float | None) -> dict[str, Any]:
    """A document of rope, equal to sinusoidal, and a random table, whose difference has that interval."""
    gap = {"first": "sinusoidal", "second": "random", "value": 0.1, "low": low, "high": high}
    places = [{"encodings": ["sinusoidal", "rope"], "kind": "fixed"}, {"encodings": ["random"], "kind": "reference"}]
    encodings: list[dict[str, Any]] = [
        {"name": name, "alignment": 0.5, "intervals": {}, "sample": "exact"} for name in ("sinusoidal", "random")
    ]
    ranked = {"level": 0.95, "places": places, "differences": [gap]}
    return {"ranking": ranked, "encodings": encodings, "corpus": {"documents": 1200}}


def test_a_random_table_is_a_reference_and_what_is_not_told_apart_is_said() -> None:
    says, leads = encoding_findings(two(0.05, 0.15))
    assert says.startswith(
        "The standard encoding says more about this corpus than a random table: sinusoidal = rope has"
    )
    assert "0.100 (95% interval 0.050 to 0.150, simultaneous over 1 difference) (1,200 documents)" in says
    assert "random" not in leads
    tie = encoding_findings(two(-0.1, 0.3))[0]
    assert tie.startswith(
        "No standard encoding says more about this corpus than a random table, as far as 1,200 documents"
    )
    worse = two(-0.3, -0.1)
    worse["ranking"]["differences"][0] |= {"first": "random", "second": "sinusoidal", "low": 0.1, "high": 0.3}
    assert encoding_findings(worse)[0].startswith(
        "No standard encoding says more about this corpus than a random table: "
    )
    assert "not known" in encoding_findings(two(None, None))[0]


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
