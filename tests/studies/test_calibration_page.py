"""The table of docs/uncertainty.md is that of the stored study, which ``make pictures`` writes anew."""

import json
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
SCENARIOS = ("drift", "regimes", "unequal depth", "bursty", "none")
ROWS = {
    "mean d^2 at common depth": ["mean d^2"],
    "scaled stress: sinusoidal, ALiBi, random": [f"stress_scaled {e}" for e in ("sinusoidal", "alibi", "random")],
    "Pearson: sinusoidal, ALiBi, random": [f"pearson {e}" for e in ("sinusoidal", "alibi", "random")],
    "raw stress: the same": [f"stress_raw {e}" for e in ("sinusoidal", "alibi", "random")],
    "scale: the same": [f"scale {e}" for e in ("sinusoidal", "alibi", "random")],
    "stress-1: the same": [f"stress_1 {e}" for e in ("sinusoidal", "alibi", "random")],
    "noise ceiling: scaled stress, Pearson": ["noise ceiling, stress_scaled", "noise ceiling, pearson"],
    "difference of two scaled stresses": ["stress_scaled sinusoidal - alibi"],
    "bracket for unlimited text": ["limit of d^2"],
}


def test_the_intervals_cover() -> None:
    study = json.loads((DOCS / "calibration.json").read_text())
    covered = {
        (row["scenario"], row["estimate"]): row["coverage"]
        for row in study["rows"]
        if row["coverage"] is not None and row["estimate"] != "limit of d^2"  # a bracket, not an interval
    }
    assert len(covered) == 77
    assert {key: share for key, share in covered.items() if not 0.92 <= share <= 0.98} == {}


def test_the_table_follows_the_study() -> None:
    page = (DOCS / "uncertainty.md").read_text()
    study = json.loads((DOCS / "calibration.json").read_text())
    found = {(row["scenario"], row["estimate"]): row for row in study["rows"]}
    assert {row["n_replications"] for row in study["rows"]} == {500}
    for label, estimates in ROWS.items():
        cells = []
        for scenario in SCENARIOS:
            rows = [found.get((scenario, estimate)) for estimate in estimates]
            cells.append(" ".join(f"{100 * row['coverage']:.3g}" for row in rows if row))
        assert f"| {label} | {' | '.join(cells)} |".replace("  ", " ") in page, (label, cells)
    means = {"first axis significant": ("rejected", 100), "mean significant rank": ("significant rank", 1)}
    for label, (estimate, factor) in means.items():
        cells = [f"{factor * found[scenario, estimate]['mean']:.3g}" for scenario in SCENARIOS]
        assert f"| {label} | {' | '.join(cells)} |" in page, (label, cells)
