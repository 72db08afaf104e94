from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from posgeom.encodings.fourier import fourier
from posgeom.errors import EncodingError
from posgeom.estimation.euclidean import euclidean_distances


def test_features_alone_are_a_function_of_the_lag() -> None:
    encoding = fourier(30, 99, features=64, network="none", seed=3)
    points = encoding.coordinates()
    assert points is not None
    assert points.shape == (30, 64)
    np.testing.assert_allclose((points**2).sum(axis=1), 0.5)
    np.testing.assert_allclose(encoding.distances(), euclidean_distances(points), rtol=1e-10)


def test_features_approximate_a_gaussian_kernel() -> None:
    points = fourier(40, 1, features=40_000, gamma=10, network="none").coordinates()
    assert points is not None
    np.testing.assert_allclose(2 * points @ points[0], np.exp(-((np.arange(40) / 10) ** 2) / 2), atol=0.02)


def test_learned_weights(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    tensors = {"Wr.weight": rng.normal(size=(3, 1)), "mlp.0.weight": rng.normal(size=(4, 6)), "mlp.0.bias": np.ones(4)}
    tensors |= {"mlp.2.weight": rng.normal(size=(2, 4)), "mlp.2.bias": np.ones(2)}
    save_file(tensors, tmp_path / "f.safetensors")
    encoding = fourier(9, 99, weights=tmp_path / "f.safetensors")
    points = encoding.coordinates()
    assert points is not None
    assert points.shape == (9, 2)
    assert encoding.n_dims == 2
    angles = 5 * tensors["Wr.weight"][:, 0]
    features = np.concatenate([np.cos(angles), np.sin(angles)]) / np.sqrt(6)
    hidden = tensors["mlp.0.weight"] @ features + 1
    from math import erf

    hidden = hidden * np.array([(1 + erf(h / np.sqrt(2))) / 2 for h in hidden])
    np.testing.assert_allclose(points[5], tensors["mlp.2.weight"] @ hidden + 1)
    alone = fourier(9, 99, weights=tmp_path / "f.safetensors", network="none").coordinates()
    assert alone is not None
    np.testing.assert_allclose(alone[5], features)
    save_file({"x": np.ones(2)}, tmp_path / "none.safetensors")
    with pytest.raises(EncodingError, match=r"has no tensor Wr\.weight"):
        fourier(9, 99, weights=tmp_path / "none.safetensors")


def test_before_training() -> None:
    a, b, c = (fourier(9, 12, seed=s).coordinates() for s in (0, 0, 1))
    assert a is not None
    assert c is not None
    assert a.shape == (9, 12)
    np.testing.assert_array_equal(a, b)
    assert not np.allclose(a, c)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": 7}, "fourier features 7: expected an even number"),
        ({"gamma": 0.0}, "fourier gamma 0"),
        ({"network": "deep"}, "fourier network 'deep'"),
        ({"hidden": 0}, "fourier hidden 0: expected 1 to 65,536"),
        ({"n_dims": 0}, "d = 0"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        fourier(**({"n_positions": 7, "n_dims": 8} | options))  # type: ignore[arg-type]


@pytest.mark.parametrize("grid", [(3, 5), (2, 3, 4)])
def test_on_a_grid(grid: tuple[int, ...], tmp_path: Path) -> None:
    n = int(np.prod(grid))
    alone = fourier(n, 1, features=20_000, gamma=3, network="none", grid=grid).coordinates()
    assert alone is not None
    cells = np.array(list(np.ndindex(grid)))
    squared = ((cells[:, None] - cells) ** 2).sum(axis=2)
    # Random features of a Gaussian kernel, which sees the Euclidean distance of cells.
    np.testing.assert_allclose(2 * alone @ alone.T, np.exp(-squared / 18), atol=0.04)
    points = fourier(n, 8, grid=grid, features=16).coordinates()
    assert points is not None
    assert points.shape == (n, 8)
    save_file({"Wr.weight": np.ones((4, len(grid) + 1))}, tmp_path / "w.safetensors")
    with pytest.raises(EncodingError, match=r"Wr\.weight"):
        fourier(n, 8, grid=grid, network="none", weights=tmp_path / "w.safetensors")
    with pytest.raises(EncodingError, match=r"fourier grid .* has fewer cells than n = "):
        fourier(n + 1, 8, grid=grid)
