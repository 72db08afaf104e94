import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posgeom.scores import monotonicity as module
from posgeom.scores.monotonicity import Monotonicity, monotonicity


def slow(d: np.ndarray, positions: np.ndarray, tolerance: float = 1e-9) -> Monotonicity:
    slack = tolerance * d.max()
    violations = ties = triples = 0
    m = range(len(positions))
    for i in m:
        for j in m:
            for k in m:
                if len({i, j, k}) == 3 and abs(positions[i] - positions[j]) < abs(positions[i] - positions[k]):
                    triples += 1
                    violations += bool(d[i, j] > d[i, k] + slack)
                    ties += bool(abs(d[i, j] - d[i, k]) <= slack)
    return Monotonicity(violations, ties, triples)


def random_matrix(m: int, levels: int, rng: np.random.Generator) -> np.ndarray:
    d = rng.integers(0, levels, (m, m)).astype(float)
    d += d.T
    np.fill_diagonal(d, 0)
    return d


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 20), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_agrees_with_the_triple_loop(m: int, levels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    positions = np.sort(rng.choice(60, m, replace=False))
    d = random_matrix(m, levels, rng)
    assert monotonicity(d, positions) == slow(d, positions)


@pytest.mark.parametrize("tolerance", [0.0, 0.05, 0.3, 1.0])
def test_any_tolerance(tolerance: float) -> None:
    rng = np.random.default_rng(4)
    d = rng.random((17, 17))
    d += d.T
    np.fill_diagonal(d, 0)
    assert monotonicity(d, np.arange(17), tolerance=tolerance) == slow(d, np.arange(17), tolerance)


@pytest.mark.parametrize("m", [31, 32, 33, 64, 65])
def test_widths_around_powers_of_two_and_several_blocks(m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHUNK_CELLS", 5 * m)
    d = random_matrix(m, 1000, np.random.default_rng(m))
    lag = np.abs(np.arange(m)[:, None] - np.arange(m))
    nearer, violated = lag[:, :, None] < lag[:, None, :], d[:, :, None] > d[:, None, :]
    proper = nearer & (lag[:, :, None] > 0)
    got = monotonicity(d, np.arange(m))
    assert (got.violations, got.triples) == ((proper & violated).sum(), proper.sum())


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 90), st.sampled_from([0.0, 1e-9, 0.01, 0.2]), st.integers(0, 2**32 - 1))
def test_chains_of_ties_among_many_values(m: int, tolerance: float, seed: int) -> None:
    """Where a value ties with its neighbours, which do not tie with each other, ties are no groups."""
    rng = np.random.default_rng(seed)
    positions = np.sort(rng.choice(2 * m, m, replace=False))
    d = np.where(rng.random((m, m)) < 0.5, rng.random((m, m)), rng.integers(0, 4, (m, m)) / 4)
    d = np.triu(d, 1) + np.triu(d, 1).T
    lag = np.abs(positions[:, None] - positions)
    proper = (lag[:, :, None] < lag[:, None, :]) & (lag[:, :, None] > 0)
    nearer, farther, slack = d[:, :, None], d[:, None, :], tolerance * d.max()
    strictly = int((proper & (nearer > farther + slack)).sum())
    weakly = int((proper & (nearer >= farther - slack)).sum())
    got = monotonicity(d, positions, tolerance=tolerance)
    assert got == Monotonicity(strictly, weakly - strictly, int(proper.sum()))


def test_triples_at_n_128() -> None:
    lag = np.abs(np.arange(128)[:, None] - np.arange(128)).astype(float)
    assert monotonicity(lag, np.arange(128)) == Monotonicity(0, 0, 1_020_096)
    assert monotonicity(-lag + 128, np.arange(128)).violation_rate == 1
    assert monotonicity(np.ones((128, 128)), np.arange(128)).tie_rate == 1


def test_round_off_breaks_no_tie() -> None:
    rng = np.random.default_rng(0)
    noisy = 1 + 1e-14 * rng.standard_normal((40, 40))
    noisy = np.maximum(noisy, noisy.T)
    assert monotonicity(noisy, np.arange(40)).tie_rate == 1


def test_without_triples_rates_are_undefined() -> None:
    result = monotonicity(np.array([[0.0, 1], [1, 0]]), np.array([0, 1]))
    assert result == Monotonicity(0, 0, 0)
    assert result.violation_rate is None
    assert result.tie_rate is None
