"""Leading axes from sparse factors, against the matrix of all distances."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posgeom.errors import GeometryError
from posgeom.estimation import distance_matrix
from posgeom.estimation.build import geometry
from posgeom.estimation.leading_axes import leading_axes
from posgeom.estimation.mds import classical_mds, double_centre
from tests.conftest import make_counts

CASES: list[dict[str, Any]] = [
    {},
    {"depth": "full"},
    {"metric": "hellinger-normalized"},
    {"estimator": "plugin"},
    {"estimator": "plugin", "empty": "uniform", "min_depth": 1},
    {"empty": "uniform", "min_depth": 1},
]


def counts_of(seed: int = 0, m: int = 40, n_tokens: int = 60, *, empty: bool = True) -> Any:
    """Distributions that drift along the sequence, with noise."""
    rng = np.random.default_rng(seed)
    place = np.linspace(0, 1, m)[:, None]
    centre = np.linspace(-0.3, 1.3, n_tokens)
    dense = rng.poisson(30 * np.exp(-(((place - centre) / 0.4) ** 2)) + 0.2, (6, m, n_tokens))
    if empty:
        dense[:, [7, 21]] = 0
    return make_counts(dense, vocab_size=n_tokens + 5)


@pytest.mark.parametrize("method", ["dense", "lanczos"])
@pytest.mark.parametrize("options", CASES)
def test_they_are_those_of_the_matrix_of_distances(options: dict[str, Any], method: Any) -> None:
    counts = counts_of()
    shape = geometry(counts, **options)
    got = leading_axes(counts, 8, method=method, **options)
    known = classical_mds(shape.distances)
    assert got.method == method
    np.testing.assert_array_equal(got.positions, shape.positions)
    assert got.depth == shape.depth
    np.testing.assert_allclose(got.eigenvalues, known.spectrum.eigenvalues[:8], rtol=1e-6, atol=1e-12)
    assert (got.error_bounds < 1e-6 * got.eigenvalues[0]).all()
    products = double_centre(shape.distances.squared)
    assert got.total == pytest.approx(np.trace(products), rel=1e-9)
    assert got.mean_squared == pytest.approx(shape.distances.mean_squared, rel=1e-9)
    np.testing.assert_allclose(got.coordinates[:, :3], known.coordinates[:, :3], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(got.gram.dense(), products, atol=1e-10)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.booleans())
def test_an_eigenvalue_lies_within_the_bound_of_each(seed: int, n_axes: int, plugin: bool) -> None:
    counts = counts_of(seed, m=25)
    got = leading_axes(counts, n_axes, estimator="plugin" if plugin else None, method="lanczos", seed=seed)
    known = np.linalg.eigvalsh(got.gram.dense())
    gaps = np.abs(got.eigenvalues[:, None] - known).min(axis=1)
    assert (gaps <= got.error_bounds + 1e-12 * np.abs(known).max()).all()


def test_the_product_is_that_of_the_matrix_and_knows_no_constant() -> None:
    gram = leading_axes(counts_of(), 3).gram
    vectors = np.random.default_rng(1).standard_normal((gram.m, 5))
    np.testing.assert_allclose(gram.apply(vectors), gram.dense() @ vectors, atol=1e-11)
    np.testing.assert_allclose(gram.apply(vectors + 3.0), gram.apply(vectors), atol=1e-10)
    np.testing.assert_allclose(gram.apply(vectors).sum(axis=0), 0, atol=1e-11)


def test_the_order_of_tokens_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    dense = rng.poisson(3.0, (6, 20, 30))
    one, other = (leading_axes(make_counts(d), 5, method="lanczos") for d in (dense, dense[:, :, rng.permutation(30)]))
    np.testing.assert_allclose(one.eigenvalues, other.eigenvalues, rtol=1e-8)


def test_the_choice_of_the_method_is_named() -> None:
    counts = counts_of()
    assert leading_axes(counts, 2).method == "dense"
    assert "dense" in repr(leading_axes(counts, 2))
    assert leading_axes(counts, 500).eigenvalues.size == 38


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_axes": 0}, "got 0 axes"),
        ({"method": "qr"}, "expected 1 or more, by dense or lanczos"),
        ({"metric": "fisher-rao"}, "use hellinger"),
        ({"method": "lanczos", "n_axes": 38}, "expected fewer axes than positions"),
        ({"memory": 1000}, "ask for fewer axes, put positions in --bins"),
        ({"estimator": "other"}, "estimator 'other'"),
        ({"depth": "none"}, "depth 'none'"),
    ],
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        leading_axes(counts_of(), **options)


def test_a_matrix_that_does_not_fit_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = counts_of()
    monkeypatch.setattr(distance_matrix, "physical_memory", lambda: 1000)
    with pytest.raises(GeometryError, match=r"posgeom axes.*leading_axes"):
        geometry(counts)
    assert leading_axes(counts, 3, method="lanczos").eigenvalues.size == 3
