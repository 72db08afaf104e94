"""The table of docs/uncertainty.md is that of the stored study, which ``make pictures`` writes anew."""

import json
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
SCENARIOS = ("drift", "regimes", "unequal depth", "bursty", "none")
FIXED = ("sinusoidal", "alibi", "random")
SCORES = ("stress_scaled", "pearson", "stress_raw", "scale", "stress_1", "spearman")
ROWS = {
    "mean d^2 at common depth": ["mean d^2"],
    "along the depth curve: quarter, half, folds in pairs, halves": [
        f"d^2, {step}" for step in ("quarter of the depth", "half of the depth", "folds in pairs", "halves of folds")
    ],
    "share of noise": ["noise share"],
    "first and second eigenvalue": ["eigenvalue 1", "eigenvalue 2"],
    "scaled stress: sinusoidal, ALiBi, random": [f"stress_scaled {e}" for e in FIXED],
    "Pearson: the same": [f"pearson {e}" for e in FIXED],
    "raw stress: the same": [f"stress_raw {e}" for e in FIXED],
    "scale: the same": [f"scale {e}" for e in FIXED],
    "stress-1: the same": [f"stress_1 {e}" for e in FIXED],
    "Spearman: the same": [f"spearman {e}" for e in FIXED],
    "mds: these six scores": [f"{score} mds" for score in SCORES],
    "mds of rank 3: the same": [f"{score} mds rank 3" for score in SCORES],
    "noise ceiling: the same": [f"noise ceiling, {score}" for score in SCORES],
    "scaled stress: sinusoidal - ALiBi, mds - sinusoidal": [
        "stress_scaled sinusoidal - alibi",
        "stress_scaled mds - sinusoidal",
    ],
    "violations in the corpus": ["violations"],
    "bracket for unlimited text": ["limit of d^2"],
}
N_INTERVALS = 4 * sum(map(len, list(ROWS.values())[:-1])) + 6  # without structure there are those of the depth


def test_the_intervals_cover() -> None:
    study = json.loads((DOCS / "calibration.json").read_text())
    covered = {
        (row["scenario"], row["estimate"]): row["coverage"]
        for row in study["rows"]
        if row["coverage"] is not None and row["estimate"] != "limit of d^2"  # a bracket, not an interval
    }
    assert len(covered) == N_INTERVALS
    assert {key: share for key, share in covered.items() if not 0.92 <= share <= 0.98} == {}


def test_the_table_follows_the_study() -> None:
    page = (DOCS / "uncertainty.md").read_text()
    study = json.loads((DOCS / "calibration.json").read_text())
    found = {(row["scenario"], row["estimate"]): row for row in study["rows"]}
    assert {row["n_replications"] for row in study["rows"]} == {1000}
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
