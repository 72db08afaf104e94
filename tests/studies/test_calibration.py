"""The calibration study: its truths, its corpora, and a short run of it."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from posgeom.errors import PosgeomError
from posgeom.seeds import make_rng
from posgeom.studies.calibration import calibrate
from posgeom.studies.scenarios import N_FOLDS, SCENARIOS, expected_roots, scenarios
from tests.cli.helpers import posgeom


def test_expected_roots() -> None:
    p = np.array([[1e-7, 1e-4, 0.003, 0.2, 0.9, 1.0]])
    x = np.arange(51)
    known = (binom.pmf(x, 50, p[..., None]) * np.sqrt(x / 50)).sum(axis=-1)
    np.testing.assert_allclose(expected_roots(p, 50), known, rtol=1e-4)
    assert (expected_roots(p, 50) <= np.sqrt(p) + 1e-12).all()


def test_corpora_have_the_distributions_and_lengths_they_say() -> None:
    for scenario in scenarios():
        counts = scenario.draw(make_rng(0), n_null=1)
        assert counts.n_documents == scenario.lengths.size
        assert counts.depth.tolist() == [int((scenario.lengths > i).sum()) for i in range(counts.n_positions)]
        assert counts.depth_by_fold.max() - counts.depth_by_fold.min() <= counts.n_documents / N_FOLDS
        (null,) = counts.null
        assert np.bincount(null.token, null.count).tolist() == np.bincount(counts.token, counts.count).tolist()
        frequent = int(scenario.marginal[0].argmax())
        share = counts.count[(counts.position == 0) & (counts.token == frequent)].sum() / counts.depth[0]
        assert share == pytest.approx(scenario.marginal[0, frequent], abs=0.03)
        assert (scenario.true_squared(None).max() > 1e-12) == scenario.has_structure
    assert tuple(s.name for s in scenarios()) == SCENARIOS


def test_a_short_run() -> None:
    found = {(one.scenario, one.estimate): one for one in calibrate(4, which=["regimes", "none"])}
    mean = found["regimes", "mean d^2"]
    assert mean.mean == pytest.approx(mean.truth, rel=0.1)
    assert mean.plugin_mean is not None
    assert mean.plugin_mean > 3 * mean.truth
    assert mean.bias_in_spreads is not None
    assert found["regimes", "rejected"].mean == 1
    assert found["none", "mean d^2"].truth == pytest.approx(0, abs=1e-12)
    assert ("none", "stress_scaled alibi") not in found
    again = {(one.scenario, one.estimate): one for one in calibrate(4, which=["regimes"])}
    assert again["regimes", "mean d^2"] == mean
    assert "stress_scaled alibi" in {estimate for _, estimate in again}


def test_bad_arguments() -> None:
    with pytest.raises(PosgeomError, match="1 replications"):
        calibrate(1)
    with pytest.raises(PosgeomError, match="no scenario 'chaos'"):
        calibrate(2, which=["chaos"])


def test_the_command(tmp_path: Path) -> None:
    done = posgeom("calibrate", "--replications", "2", "--scenario", "drift", "--out", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert max(len(line) for line in done.stdout.splitlines()) <= 100
    document = json.loads((tmp_path / "out" / "calibration.json").read_text())
    assert {row["scenario"] for row in document["rows"]} == {"drift"}
    assert (tmp_path / "out" / "figures" / "coverage.svg").stat().st_size > 1000
    bad = posgeom("calibrate", "--scenario", "chaos", cwd=tmp_path)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert "expected one of drift" in bad.stderr
