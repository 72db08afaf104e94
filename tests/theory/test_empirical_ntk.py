"""The empirical tangent kernel: against slow gradients, and fits of known answer."""

from typing import Any

import numpy as np
import pytest

from posgeom.errors import PosgeomError
from posgeom.theory.empirical_ntk import EmpiricalKernel, decreasing_share, empirical_kernel, kernel_drift, kernel_fit
from posgeom.theory.verdict import Verdict
from tests.models.small import build

N = 12
RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(N, 3))
DISTANCES = np.linalg.norm(POINTS[:, None] - POINTS, axis=-1)
POSITIONS = np.arange(N)


def kernel(values: np.ndarray, noise: float = 0.0) -> EmpiricalKernel:
    disturbed = [values + noise * (e + e.T) for e in np.random.default_rng(1).normal(size=(2, *values.shape))]
    return EmpiricalKernel(np.stack(disturbed))


def test_a_function_of_the_distance_is_explained_in_full() -> None:
    result = kernel_fit(kernel(np.exp(-(DISTANCES**2))), DISTANCES, POSITIONS)
    assert result.explained == pytest.approx(1)
    assert result.verdict is Verdict.HOLDS
    assert result.p_value == pytest.approx(1 / 201)
    assert result.by_chance is not None
    assert result.by_chance < 0.3


def test_a_function_of_the_lag_is_not_one_of_the_distance() -> None:
    lag = np.abs(np.subtract.outer(POSITIONS, POSITIONS))
    result = kernel_fit(kernel(np.cos(lag * 1.0)), DISTANCES, POSITIONS)
    assert result.by_lag == pytest.approx(1)
    assert result.verdict is Verdict.FALSE
    assert result.explained is not None
    assert result.explained < 0.5
    assert "no more than" in result.because


def test_an_increasing_function_is_not_explained() -> None:
    result = kernel_fit(kernel(DISTANCES), DISTANCES, POSITIONS)
    assert result.explained == pytest.approx(0, abs=1e-9)
    assert result.verdict is Verdict.FALSE


def test_noise_of_the_examples_is_a_ceiling() -> None:
    noisy = kernel_fit(kernel(np.exp(-(DISTANCES**2)), noise=0.1), DISTANCES, POSITIONS)
    assert noisy.ceiling is not None
    assert noisy.ceiling < 0.98
    assert kernel_fit(kernel(np.ones((N, N))), DISTANCES, POSITIONS).verdict is Verdict.NOT_TESTABLE


def test_level_of_the_comparison_with_random_orders() -> None:
    alarms = 0
    for seed in range(100):
        e = np.random.default_rng(seed).normal(size=(N, N))
        alarms += kernel_fit(kernel(e + e.T), DISTANCES, POSITIONS, n_orders=39, seed=seed).p_value <= 0.05
    assert alarms <= 12


def test_decreasing_share_agrees_with_pool_adjacent_violators() -> None:
    x, y = np.array([0.0, 1, 1, 2, 3]), np.array([3.0, 1, 2, 2.5, 0])
    # Levels 3, 1.5 (twice), 2.5, 0: the middle two are pooled at (1.5 * 2 + 2.5) / 3.
    pooled = (1.5 * 2 + 2.5) / 3
    fitted = np.array([3, pooled, pooled, pooled, 0])
    expected = 1 - ((y - fitted) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert decreasing_share(x, y) == pytest.approx(expected)


def test_drift() -> None:
    a, b = kernel(np.eye(N)), kernel(np.ones((N, N)))
    np.testing.assert_allclose(
        kernel_drift([a, kernel(3 * np.eye(N)), b]), [0, 0, 1 - N / (np.sqrt(N) * N)], atol=1e-12
    )


def test_sizes_are_checked() -> None:
    with pytest.raises(PosgeomError, match="expected distances of 4 positions"):
        kernel_fit(kernel(np.eye(5)), DISTANCES, POSITIONS)


def inputs(n: int, n_examples: int) -> tuple[np.ndarray, np.ndarray]:
    ids = np.random.default_rng(2).integers(5, 40, (n_examples, n))
    return ids, np.ones_like(ids)


NAME = "embeddings.position_embeddings.weight"


def slow(model: Any, ids: np.ndarray) -> np.ndarray:
    """alpha by one backward pass for each output."""
    import torch

    table = model.get_parameter(NAME)
    n = ids.shape[1]
    total = np.zeros((n, n))
    for example in ids:
        hidden = model(input_ids=torch.as_tensor(example)[None]).last_hidden_state.flatten()
        for value in hidden:
            (gradient,) = torch.autograd.grad(value, table, retain_graph=True)
            rows = gradient[:n].numpy()
            total += rows @ rows.T
    return np.asarray(total / (len(ids) * table.shape[1]))


@pytest.mark.models
def test_agrees_with_backward_passes() -> None:
    model = build("bert").double()
    ids, mask = inputs(5, 2)
    expected = slow(model, ids)
    exact = empirical_kernel(model, NAME, ids, mask, n_projections=80)
    np.testing.assert_allclose(exact.values, expected, rtol=1e-8)
    drawn = np.array([empirical_kernel(model, NAME, ids, mask, seed=s, n_projections=8).values for s in range(30)])
    error = drawn.std(axis=0) / np.sqrt(30)
    assert (np.abs(drawn.mean(axis=0) - expected) < 5 * error).all()


@pytest.mark.models
def test_training_makes_the_kernel_drift_and_one_step_less() -> None:
    import torch

    model = build("bert")
    ids, mask = inputs(6, 8)
    kernels = [empirical_kernel(model, NAME, ids, mask)]
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    target = torch.randn(8, 6, 16, generator=torch.Generator().manual_seed(0))
    for step in range(20):
        optimiser.zero_grad()
        ((model(input_ids=torch.as_tensor(ids)).last_hidden_state - target) ** 2).mean().backward()
        optimiser.step()
        if step in (0, 19):
            kernels.append(empirical_kernel(model, NAME, ids, mask))
    start, one, twenty = kernel_drift(kernels)
    assert start == pytest.approx(0, abs=1e-6)
    assert 0 < one < twenty


@pytest.mark.models
def test_model_errors() -> None:
    model = build("bert")
    ids, mask = inputs(5, 2)
    with pytest.raises(PosgeomError, match="no table 'rows'"):
        empirical_kernel(model, "rows", ids, mask)
    with pytest.raises(PosgeomError, match="with 2 examples"):
        empirical_kernel(model, NAME, ids[:1], mask[:1])
