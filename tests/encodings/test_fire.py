from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from posgeom.encodings.fire import fire, fire_bias
from posgeom.encodings.networks import Network
from posgeom.encodings.registry import build_encoding
from posgeom.errors import EncodingError

LINE = Network(np.array([[1.0]]), np.zeros(1), np.array([[-2.0]]), np.zeros(1), "relu")
"""f(x) = -2 x for x >= 0."""


def slow(n: int, c: float, threshold: float) -> np.ndarray:
    out = np.full((n, n), -np.inf)
    for i in range(n):
        for j in range(i + 1):
            out[i, j] = -2 * np.log(c * (i - j) + 1) / (np.log(c * max(i, threshold) + 1) + 1e-6)
    return out


def test_is_the_formula() -> None:
    bias = fire_bias(LINE, 0.1, 4.0, causal=True)
    np.testing.assert_allclose(bias.matrix(np.arange(12))[0], slow(12, 0.1, 4.0), rtol=1e-12)
    assert not bias.relative


def test_is_no_function_of_the_lag() -> None:
    encoding = fire(64, threshold=8, seed=1)
    assert encoding.lag_distances() is None
    distances = encoding.distances()
    assert not np.isclose(distances[5, 3], distances[60, 58], rtol=1e-3)
    assert encoding.negative_mass is not None
    flat = fire(16, threshold=1e6, seed=1)  # one normaliser for all queries: a function of the lag
    steps = np.diagonal(flat.bias.matrix(np.arange(16)), -2, 1, 2) if flat.bias else np.empty(0)
    np.testing.assert_allclose(steps, np.broadcast_to(steps[:, :1], steps.shape))


def test_directions() -> None:
    for causal in (True, False):
        bias = fire_bias(LINE, 0.1, 4.0, causal=causal)
        drops = bias.drops_between(np.arange(9), lambda d: d.sum(axis=0))
        matrix = fire_bias(LINE, 0.1, 4.0, causal=False).matrix(np.arange(9))[0]
        expected = np.where(np.tri(9, dtype=bool), matrix, matrix.T) if causal else (matrix + matrix.T) / 2
        np.testing.assert_allclose(drops, -expected, atol=1e-14)


def test_learned_weights(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    tensors = {"mlp.0.weight": rng.normal(size=(5, 1)), "mlp.0.bias": rng.normal(size=5)}
    tensors |= {"mlp.2.weight": rng.normal(size=(3, 5)), "mlp.2.bias": rng.normal(size=3)}
    scalars = {"c": np.array(0.3), "init_L": np.array(10.0), "L_multiplier": np.array(-2.0)}
    save_file(tensors | scalars, tmp_path / "f.safetensors")
    encoding = build_encoding(f"fire:weights={tmp_path / 'f.safetensors'}", n_positions=30, n_dims=8)
    assert encoding.bias is not None
    i, j = 25, 11
    x = np.log(0.3 * (i - j) + 1) / (np.log(0.3 * max(i, 20) + 1) + 1e-6)
    hidden = np.maximum(tensors["mlp.0.weight"][:, 0] * x + tensors["mlp.0.bias"], 0)
    expected = tensors["mlp.2.weight"] @ hidden + tensors["mlp.2.bias"]
    np.testing.assert_allclose(encoding.bias.matrix(np.arange(30))[:, i, j], expected)
    one = fire(30, weights=tmp_path / "f.safetensors", head=1)
    assert one.bias is not None
    assert one.bias.n_heads == 1
    del tensors["mlp.2.bias"]
    save_file(tensors, tmp_path / "cut.safetensors")
    with pytest.raises(EncodingError, match=r"cut\.safetensors' has no tensor mlp\.2\.bias: expected mlp\.0\.weight"):
        fire(30, weights=tmp_path / "cut.safetensors")
    save_file(tensors | {"mlp.2.bias": np.ones(4)}, tmp_path / "odd.safetensors")
    with pytest.raises(EncodingError, match=r"mlp\.2\.bias has shape \(4,\): expected \(3\)"):
        fire(30, weights=tmp_path / "odd.safetensors")


def test_seeds() -> None:
    a, b, c = (fire(16, seed=s).distances() for s in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.allclose(a, c)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heads": 0}, "fire heads 0"),
        ({"c": 0.0}, "fire c 0"),
        ({"threshold": -1.0}, "fire threshold -1"),
        ({"head": 12}, "fire head 12"),
        ({"hidden": 0}, "fire hidden 0: expected 1 to 65,536"),
        ({"weights": Path("w.npy")}, r"w\.npy': expected a \.safetensors file"),
        ({"weights": Path("w.safetensors")}, r"cannot read 'w\.safetensors'"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        fire(7, **options)  # type: ignore[arg-type]
