"""Alignment without distances, against the alignment with all of them."""

from typing import Any

import numpy as np
import pytest

import posgeom as pg
from posgeom.encodings.base import Encoding, LagEncoding, PointEncoding
from posgeom.encodings.registry import build_encoding
from posgeom.errors import EncodingError
from posgeom.estimation.leading_axes import leading_axes
from posgeom.inference import large_alignment as module
from posgeom.inference.alignment import Norm
from posgeom.inference.large_alignment import large_alignment, squared_norm
from tests.conftest import make_counts
from tests.estimation.test_leading_axes import CASES, counts_of


@pytest.mark.parametrize("options", CASES)
@pytest.mark.parametrize("spec", ["sinusoidal", "rope", "alibi:heads=4", "random"])
def test_it_is_that_with_all_distances(spec: str, options: dict[str, Any]) -> None:
    counts = counts_of()
    shape, axes = pg.geometry(counts, **options), leading_axes(counts, 5, **options)
    encoding = build_encoding(spec, n_positions=counts.n_positions, n_dims=16, geometry=shape, seed=1)
    assert pg.alignment(encoding, axes) == pytest.approx(pg.alignment(encoding, shape), rel=1e-9)


def test_lags_and_vectors_say_the_same() -> None:
    counts = counts_of()
    axes = leading_axes(counts, 5)
    sinusoidal = build_encoding("sinusoidal", n_positions=40, n_dims=32)
    assert sinusoidal.lag_distances() is not None
    vectors = PointEncoding("vectors", np.asarray(sinusoidal.coordinates()))
    assert pg.alignment(vectors, axes) == pytest.approx(pg.alignment(sinusoidal, axes), rel=1e-9)


def test_sums_by_lag_are_those_of_the_matrix() -> None:
    axes = leading_axes(counts_of(), 3)
    lag = np.abs(axes.positions[:, None] - axes.positions)
    slow = [axes.gram.dense()[lag == k].sum() for k in range(axes.lag_sums.size)]
    np.testing.assert_allclose(axes.lag_sums, slow, atol=1e-12)


@pytest.mark.parametrize("estimator", ["plugin", "crossval"])
def test_beyond_the_exact_sizes_the_norm_is_sampled_without_bias(
    estimator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    axes = leading_axes(counts_of(m=60), 2, estimator=estimator)
    exact, error, _ = squared_norm(axes)
    assert error is None
    monkeypatch.setattr(module, "MAX_EXACT", 10)
    sampled = [squared_norm.__wrapped__(axes, seed) for seed in range(60)]
    values, errors = np.array([s[0] for s in sampled]), np.array([s[1] for s in sampled])
    assert abs(values.mean() - exact) < 4 * values.std() / 60**0.5
    assert values.std() == pytest.approx(errors.mean(), rel=0.3)
    assert sampled[0][2] == module.N_PROBES
    if axes.gram.products is not None:
        assert exact == pytest.approx(Norm(axes.gram.products).squared(range(6)))


def test_the_error_of_a_sampled_norm_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    axes = leading_axes(counts_of(m=50), 3)
    exact = large_alignment(build_encoding("sinusoidal", n_positions=50, n_dims=8), axes)
    assert (exact.error, exact.n_probes) == (None, 0)
    monkeypatch.setattr(module, "MAX_EXACT", 10)
    squared_norm.cache_clear()
    sampled = large_alignment(build_encoding("sinusoidal", n_positions=50, n_dims=8), axes)
    assert sampled.error is not None
    assert sampled.value == pytest.approx(exact.value, abs=5 * sampled.error)
    squared_norm.cache_clear()


def test_an_encoding_in_one_point_is_not_aligned() -> None:
    axes = leading_axes(counts_of(), 3)
    assert pg.alignment(np.ones((40, 4)), axes) is None
    assert pg.alignment(LagEncoding("none", 40, None, lambda lags: np.zeros(lags.size)), axes) is None


@pytest.mark.parametrize("method", ["dense", "lanczos"])
@pytest.mark.parametrize("estimator", ["plugin", "crossval"])
def test_positions_that_are_one_point_have_no_axis_and_no_alignment(estimator: Any, method: Any) -> None:
    axes = leading_axes(make_counts(np.full((6, 20, 5), 3)), 3, estimator=estimator, method=method)
    assert axes.coordinates.shape == (20, 0)
    assert axes.mean_squared == pytest.approx(0, abs=1e-12)
    assert pg.alignment(build_encoding("sinusoidal", n_positions=20, n_dims=8), axes) is None


def test_bins_have_the_axes_of_their_centres() -> None:
    counts = counts_of(m=64, empty=False).binned("geometric:16")
    shape, axes = pg.geometry(counts), leading_axes(counts, 4, method="lanczos")
    np.testing.assert_allclose(axes.eigenvalues, shape.spectrum.eigenvalues[:4], rtol=1e-6)
    encoding = build_encoding("sinusoidal", n_positions=64, n_dims=8)
    assert pg.alignment(encoding, axes) == pytest.approx(pg.alignment(encoding, shape))


def test_refusals() -> None:
    axes = leading_axes(counts_of(), 3)

    class Distances(Encoding):
        def distances(self, positions: np.ndarray | None = None) -> np.ndarray:
            return np.zeros((40, 40))

    with pytest.raises(EncodingError, match="neither vectors nor distances that depend on the lag"):
        pg.alignment(Distances("odd", 40, None), axes)
    with pytest.raises(EncodingError, match="asked for 39"):
        pg.alignment(build_encoding("alibi", n_positions=20, n_dims=8), axes)
    with pytest.raises(EncodingError, match="rescale it"):
        pg.alignment(LagEncoding("huge", 40, None, lambda lags: np.full(lags.size, 1e200)), axes)
