"""Appendix A: kernels, the flow and its fixed point, on distances of known distributions."""

import json

import numpy as np
import pytest
import scipy

from posgeom.errors import GeometryError
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.scores.monotonicity import monotonicity
from posgeom.theory.kernel_regime import ntk
from posgeom.theory.ntk import (
    KERNELS,
    cooperativity_check,
    drive_of,
    equal_rows_check,
    flow_check,
    kernel_check,
    kernel_matrix,
)
from posgeom.theory.ntk_bounds import fixed_point, lipschitz_check, lipschitz_search, monotone_search, on_arc
from posgeom.theory.verdict import Verdict

DECREASING = ["exp(-d^2)", "exp(-d)", "1/(1+d^2)"]


def distances(n: int = 6, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).dirichlet(np.full(20, 0.3), size=n)
    return euclidean_distances(np.sqrt(rows))


@pytest.mark.parametrize("kernel", DECREASING)
def test_decreasing_kernels_are_positive_definite(kernel: str) -> None:
    for seed in range(20):
        result = kernel_check(distances(seed=seed), kernel)
        assert result.verdict is Verdict.HOLDS
        assert result.witness is None
        assert not result.is_increasing


@pytest.mark.parametrize(
    "f",
    [
        lambda d: 1 + d,
        lambda d: 5 + d**3,
        lambda d: np.exp(d),
        lambda d: d,
        lambda d: d - 3.0,
        lambda d: 2 - 1 / (1 + d),
    ],
)
def test_no_increasing_kernel_is_positive_definite(f: object) -> None:
    """For a positive f the checker finds two positions whose minor is negative, by itself; f = d - 3 is negative."""
    for seed in range(10):
        d = distances(seed=seed)
        result = kernel_check(d, f)  # type: ignore[arg-type]
        assert result.is_increasing
        assert result.verdict is Verdict.FALSE
        assert result.smallest_eigenvalue < 0
        alpha = f(d)  # type: ignore[operator]
        if alpha.min() >= 0:
            assert result.witness is not None
            assert result.minor is not None
            pair = np.ix_(result.witness, result.witness)
            assert np.linalg.det(alpha[pair]) == pytest.approx(result.minor)
            assert result.minor < 0


def test_known_eigenvalues() -> None:
    """Section 7 of the method: near -.87 and +.08 for six positions; a pair has eigenvalues f(0) -+ f(d)."""
    two = np.array([[0, 0.7], [0.7, 0]])
    assert kernel_check(two, "1+d").smallest_eigenvalue == pytest.approx(-0.7)
    assert kernel_check(two, "exp(-d^2)").smallest_eigenvalue == pytest.approx(1 - np.exp(-0.49))
    assert kernel_check(two, "1+d").minor == pytest.approx(1 - 1.7**2)


def test_a_decreasing_kernel_need_not_be_positive_definite() -> None:
    """Three points of a line, f near 1, near 1 and 0: the eigenvalue alone shows it, without a minor of two."""
    line = np.abs(np.subtract.outer(np.arange(3), np.arange(3))) * 0.8
    result = kernel_check(line, lambda d: np.exp(-(d**8)))
    assert result.verdict is Verdict.FALSE
    assert result.witness is None


def test_equal_distributions_make_alpha_singular() -> None:
    rows = [0, *range(6)]
    doubled = distances()[np.ix_(rows, rows)]
    assert kernel_check(doubled, "exp(-d^2)").verdict is Verdict.CONVENTION
    with pytest.raises(GeometryError, match="singular"):
        flow_check(doubled, "exp(-d^2)")


@pytest.mark.parametrize("kernel", DECREASING)
def test_the_flow_converges_to_the_fixed_point(kernel: str) -> None:
    result = flow_check(distances(), kernel)
    assert result.verdict is Verdict.HOLDS
    assert result.remaining < 1e-6


def test_the_flow_diverges_with_an_increasing_kernel() -> None:
    result = flow_check(distances(), "1+d")
    assert result.verdict is Verdict.FALSE
    assert result.growth > 1e4
    assert result.smallest_eigenvalue < 0


def test_the_flow_agrees_with_the_matrix_exponential() -> None:
    """Only as far as it has come where it is stopped early: P(t) = P* + exp(-alpha t) (P(0) - P*)."""
    from posgeom.theory.ntk import _flow

    alpha, b = kernel_matrix(distances(), "exp(-d)"), np.arange(6.0)
    start = np.random.default_rng(1).normal(size=6)
    fixed = np.linalg.solve(alpha, b)
    expected = fixed + scipy.linalg.expm(-alpha * 0.7) @ (start - fixed)
    np.testing.assert_allclose(_flow(alpha, b, start, 0.7), expected, rtol=1e-5)


def test_drive_is_an_isometric_copy() -> None:
    np.testing.assert_allclose(euclidean_distances(drive_of(distances())), distances(), atol=1e-12)


@pytest.mark.parametrize("kernel", DECREASING)
def test_equal_distributions_keep_the_difference_they_start_with(kernel: str) -> None:
    result = equal_rows_check(distances(), kernel)
    assert result.verdict is Verdict.CONVENTION
    assert result.from_equal < 1e-6
    assert result.from_apart == pytest.approx(1, abs=1e-4)
    assert abs(result.smallest_eigenvalue) < 1e-12


@pytest.mark.parametrize("kernel", DECREASING)
def test_the_flow_is_not_cooperative(kernel: str) -> None:
    result = cooperativity_check(distances(), kernel)
    assert (result.verdict, result.n_negative, result.n_entries) == (Verdict.FALSE, 30, 30)
    assert cooperativity_check(distances(), lambda d: np.where(d == 0, 1.0, -0.1)).verdict is Verdict.HOLDS


@pytest.mark.parametrize("kernel", DECREASING)
def test_the_bound_on_distances_is_never_exceeded(kernel: str) -> None:
    """Whatever b is; it is reached where P* is one feature difference, b = alpha (alpha_i - alpha_j)."""
    rng = np.random.default_rng(2)
    for seed in range(20):
        d = distances(seed=seed)
        drive = rng.normal(size=(6, 2))
        result = lipschitz_check(d, kernel, drive=drive)
        rows = np.linalg.solve(kernel_matrix(d, kernel), drive)
        slow = max(np.linalg.norm(rows[i] - rows[j]) / d[i, j] for i in range(6) for j in range(i))
        assert result.measured == pytest.approx(slow)
        assert result.measured <= result.bound
        assert result.n_violations == 0
        assert result.tightness <= 1 + 1e-9
    alpha = kernel_matrix(d, kernel)
    sharp = lipschitz_check(d, kernel, drive=alpha @ (alpha[:, :1] - alpha[:, 1:2]))
    assert sharp.tightness == pytest.approx(1)


@pytest.mark.parametrize(("kernel", "exponent"), [("exp(-d^2)", -2), ("exp(-d)", -1), ("1/(1+d^2)", -2)])
def test_no_constant_serves_all_corpora(kernel: str, exponent: float) -> None:
    result = lipschitz_search(kernel)
    assert result.verdict is Verdict.FALSE
    assert result.exponent == pytest.approx(exponent, abs=0.05)


def test_a_bound_that_serves_is_said_to() -> None:
    """With alpha the identity, P* is b, whose constant is 1."""
    result = lipschitz_search(lambda d: np.where(d == 0, 1.0, 0.0))
    assert result.verdict is Verdict.HOLDS
    np.testing.assert_allclose(result.ratios, 1)
    assert monotone_search(lambda d: np.where(d == 0, 1.0, 0.0)).verdict is Verdict.HOLDS


@pytest.mark.parametrize("kernel", DECREASING)
def test_a_monotone_corpus_can_have_a_fixed_point_that_is_not(kernel: str) -> None:
    result = monotone_search(kernel)
    assert result.verdict is Verdict.FALSE
    assert result.angles is not None
    d = on_arc(np.array(result.angles))
    n = len(d)

    def violated(values: np.ndarray) -> int:
        triples = [(i, j, k) for i in range(n) for j in range(n) for k in range(n) if len({i, j, k}) == 3]
        return sum(abs(i - j) < abs(i - k) and values[i, j] > values[i, k] + 1e-9 for i, j, k in triples)

    roots = np.stack([np.cos(result.angles), np.sin(result.angles)], axis=1)
    fixed = euclidean_distances(np.linalg.solve(kernel_matrix(d, kernel), roots))
    assert violated(d) == 0
    assert violated(fixed) == result.violations == monotonicity(fixed, np.arange(n)).violations > 0


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_the_appendix_as_a_whole(kernel: str) -> None:
    result = ntk(distances(), kernel)
    verdicts = {one.statement: one.verdict for one in result.statements}
    assert result.verdict is Verdict.FALSE
    assert verdicts["alpha is positive definite"] is (Verdict.FALSE if kernel == "1+d" else Verdict.HOLDS)
    assert verdicts["rows are Lipschitz in d_H"] is (Verdict.NOT_RUN if kernel == "1+d" else Verdict.CONVENTION)
    stored = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert stored["statements"][0]["numbers"]["smallest_eigenvalue"] == pytest.approx(
        kernel_check(distances(), kernel).smallest_eigenvalue
    )
    assert len(result.rows()) == 7
    assert verdicts["equal distributions get equal rows"] is (
        Verdict.NOT_RUN if kernel == "1+d" else Verdict.CONVENTION
    )


def test_errors() -> None:
    with pytest.raises(GeometryError, match=r"expected one of exp\(-d\^2\)"):
        kernel_check(distances(), "gaussian")
    with pytest.raises(GeometryError, match="with 2 positions or more"):
        kernel_check(np.zeros((1, 1)), "exp(-d)")
    with pytest.raises(GeometryError, match="finite number for each"), np.errstate(divide="ignore"):
        kernel_check(distances(), lambda d: 1 / d)
    with pytest.raises(GeometryError, match="not positive definite"):
        lipschitz_check(distances(), "1+d")
    with pytest.raises(GeometryError, match="singular to round-off"):
        fixed_point(on_arc(np.linspace(0, 0.1, 12)), "exp(-d^2)")
