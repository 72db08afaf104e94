import numpy as np
import pytest

from posgeom.encodings.rope import rope
from posgeom.encodings.xpos import xpos
from posgeom.errors import EncodingError


def test_is_the_product_of_scaled_rotations() -> None:
    """q_i' k_j with queries scaled by zeta^(i/B) and keys by zeta^(-j/B), all rotated."""
    n, d = 12, 8
    encoding = xpos(n, d, pairing="interleaved", scale_base=16)
    assert encoding.rotation is not None
    assert encoding.bias is not None
    positions = np.arange(n)
    rotated = encoding.rotation.rotate(np.tile([1.0, 0.0], d // 2), positions)
    scales = encoding.rotation.scales(positions)
    zeta = (np.arange(0, d, 2) / d + 0.4) / 1.4
    np.testing.assert_allclose(scales[:, 0::2], zeta ** (positions[:, None] / 16))
    products = (rotated * scales) @ (rotated / scales).T
    past = np.tri(n, dtype=bool)
    np.testing.assert_allclose(encoding.bias.matrix(positions)[0][past], products[past], rtol=1e-12)
    expected = np.sqrt(2 * (products[0, 0] - products[:, 0]))
    np.testing.assert_allclose(encoding.lag_distances(), expected, atol=1e-12)  # type: ignore[arg-type]


def test_without_decay_it_is_rope() -> None:
    slow = xpos(50, 16, scale_base=1e80)
    np.testing.assert_allclose(slow.distances(), rope(50, 16).distances(), rtol=1e-12)


def test_far_positions_end_up_equally_far() -> None:
    lags = xpos(20_000, 16).lag_distances()
    assert lags is not None
    assert lags[-1] == pytest.approx(np.sqrt(2 * 8), rel=0.1)
    assert xpos(9, 16).coordinates() is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_dims": 7}, "xpos needs an even width, got d = 7"),
        ({"gamma": 0.0}, "xpos gamma 0"),
        ({"scale_base": -1.0}, "xpos scale_base -1"),
        ({"form": "zscore"}, "xpos form 'zscore'"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        xpos(**({"n_positions": 7, "n_dims": 8} | options))  # type: ignore[arg-type]
