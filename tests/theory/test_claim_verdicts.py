"""Verdicts of the ledger turn when the numbers behind them do: each is shown both ways."""

from types import SimpleNamespace
from typing import Any

import pytest

from posgeom.inference.jackknife import Estimate
from posgeom.paper.inputs import SST2, Corpus, Inputs
from posgeom.paper.measured import Measured
from posgeom.scores.stress import Stress
from posgeom.simulation.synthetic import synthetic
from posgeom.theory import model_claims
from posgeom.theory.claims import ledger
from posgeom.theory.evidence import Evidence
from posgeom.theory.monotonicity import Violations
from posgeom.theory.verdict import Verdict


@pytest.fixture
def evidence() -> Evidence:
    """The paper's synthetic corpus in place of SST-2: 32 positions, each with a distribution of its own."""
    return Evidence(Inputs(corpora={"sst2": Corpus(synthetic(seed=0).counts, 0, what=SST2)}, n_seeds=2))


def verdict(evidence: Evidence, number: int) -> Verdict:
    return ledger(evidence, [number]).rows[0].finding.verdict


def stress(raw: float, scaled: float) -> Stress:
    return Stress(raw, scaled, 1.0, raw)


def use(monkeypatch: pytest.MonkeyPatch, by_spec: dict[str, Stress], gaussian: tuple[float, ...] = ()) -> None:
    def stated(self: Measured, spec: str, n_dims: int, seed: int | None = None) -> Stress:
        if spec.startswith("rope:") and seed is not None:
            return stress(gaussian[seed], 0.2)
        return by_spec[spec]

    monkeypatch.setattr(Measured, "stress", stated)


@pytest.mark.parametrize(
    ("number", "sinusoidal", "alibi", "expected"),
    [
        (20, stress(270, 0.2), stress(0.5, 0.3), Verdict.SCALE),
        (20, stress(270, 0.3), stress(0.5, 0.2), Verdict.HOLDS),
        (20, stress(0.4, 0.2), stress(0.5, 0.3), Verdict.FALSE),
        (21, stress(270, 0.2), stress(0.5, 0.3), Verdict.SCALE),
        (21, stress(270, 0.3), stress(0.5, 0.2), Verdict.HOLDS),
        (21, stress(0.4, 0.2), stress(0.5, 0.3), Verdict.FALSE),
    ],
)
def test_scale(
    number: int, sinusoidal: Stress, alibi: Stress, expected: Verdict, evidence: Evidence, monkeypatch: Any
) -> None:
    others = dict.fromkeys(("rope", "random"), stress(1, 0.25))
    use(monkeypatch, {"sinusoidal": sinusoidal, "alibi": alibi} | others)
    assert verdict(evidence, number) is expected


@pytest.mark.parametrize(
    ("unit", "gaussian", "expected"),
    [
        (100.0, (101.0, 99.0), Verdict.HOLDS),
        (100.0, (112.0, 99.0), Verdict.CONVENTION),
        (110.0, (101.0, 99.0), Verdict.FALSE),
    ],
)
def test_rope(
    unit: float, gaussian: tuple[float, ...], expected: Verdict, evidence: Evidence, monkeypatch: Any
) -> None:
    use(monkeypatch, {"sinusoidal": stress(100, 0.2), "rope": stress(unit, 0.2)}, gaussian)
    assert verdict(evidence, 22) is expected


def test_rank_three_is_a_matter_of_scale_only_where_scaling_closes_the_gap(
    evidence: Evidence, monkeypatch: Any
) -> None:
    assert verdict(evidence, 17) is Verdict.SCALE
    use(monkeypatch, {"sinusoidal": stress(20, 20)})
    monkeypatch.setattr(Measured, "mds_stresses", [stress(0.05, 0.05)] * 31)
    assert verdict(evidence, 17) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("left", "exact", "curved"), [(0.0, Verdict.HOLDS, Verdict.FALSE), (0.01, Verdict.FALSE, Verdict.HOLDS)]
)
def test_what_is_left_at_full_rank(
    left: float, exact: Verdict, curved: Verdict, evidence: Evidence, monkeypatch: Any
) -> None:
    monkeypatch.setattr(Measured, "mds_stresses", [*[stress(0.02, 0.01)] * 30, stress(left, left)])
    assert verdict(evidence, 19) is exact
    assert verdict(evidence, 12) is curved


def test_rank_and_parameters(evidence: Evidence) -> None:
    """All 31 axes of this corpus are real, and 31 (32 + 768) parameters are more than 32 x 768."""
    assert verdict(evidence, 15) is Verdict.HOLDS
    assert verdict(evidence, 16) is Verdict.FALSE


@pytest.mark.parametrize(
    ("corpus", "mds", "expected"),
    [
        (0.22, 0.22, Verdict.CONVENTION),
        (0.6, 0.6, Verdict.FALSE),
        (0.22, 0.1, Verdict.HOLDS),
        (0.1, 0.2, Verdict.FALSE),
    ],
)
def test_violations_of_mds(corpus: float, mds: float, expected: Verdict, evidence: Evidence, monkeypatch: Any) -> None:
    hypothesis, conclusion = (Violations("", rate, 0.25, Estimate(rate), 0.0) for rate in (corpus, mds))
    check = SimpleNamespace(hypothesis=hypothesis, conclusions=(conclusion,), plugin_triples=100)
    monkeypatch.setitem(evidence.__dict__, "monotonicity", check)
    assert verdict(evidence, 24) is expected


@pytest.mark.parametrize(
    ("raw", "scaled", "norm", "expected"),
    [
        ([100.0, 10.0, 1.0], [0.2, 0.22, 0.21], [9.0, 3.0, 1.0], Verdict.SCALE),
        ([1.0, 10.0, 100.0], [0.2, 0.22, 0.9], [9.0, 3.0, 1.0], Verdict.HOLDS),
        ([1.0, 100.0, 10.0], [0.2, 0.1, 0.3], [9.0, 3.0, 1.0], Verdict.FALSE),
    ],
)
def test_layers(
    raw: list[float], scaled: list[float], norm: list[float], expected: Verdict, evidence: Evidence, monkeypatch: Any
) -> None:
    rows = [
        SimpleNamespace(stress_raw=one, stress_scaled=two, norm=three)
        for one, two, three in zip(raw, scaled, norm, strict=True)
    ]
    monkeypatch.setattr(model_claims, "_layers", lambda _: (rows, rows))
    monkeypatch.setattr(model_claims, "_of_which", lambda _: "")
    assert verdict(evidence, 27) is expected


@pytest.mark.parametrize(("scaled", "expected"), [(0.2, Verdict.SCALE), (0.01, Verdict.HOLDS)])
def test_fresh_layers(scaled: float, expected: Verdict, evidence: Evidence, monkeypatch: Any) -> None:
    trained, fresh = (SimpleNamespace(stress_raw=1.0, stress_scaled=one, norm=1.0) for one in (0.2, scaled))
    monkeypatch.setattr(model_claims, "_layers", lambda _: ([trained], [fresh]))
    monkeypatch.setattr(model_claims, "_of_which", lambda _: "")
    assert verdict(evidence, 28) is expected


def test_correlation_of_mds_is_one_by_construction(evidence: Evidence, monkeypatch: Any) -> None:
    assert verdict(evidence, 26) is Verdict.CONVENTION
    real = Measured.build
    monkeypatch.setattr(Measured, "build", lambda self, _, *rest: real(self, "alibi", *rest))
    assert verdict(evidence, 26) is Verdict.FALSE


def test_a_separation_that_training_made_would_not_be_the_initial_one(evidence: Evidence, monkeypatch: Any) -> None:
    assert verdict(evidence, 7) is Verdict.SCALE
    monkeypatch.setattr(model_claims, "REPORTED_SEPARATION", 0.95)
    assert verdict(evidence, 7) is Verdict.HOLDS
