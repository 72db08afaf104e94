import numpy as np
import pytest

from posgeom.encodings.sandwich import sandwich
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import EncodingError


def test_is_the_inner_product_of_sinusoids() -> None:
    table = sinusoidal(50, 32).coordinates()
    assert table is not None
    products = table @ table.T - 16
    bias = sandwich(50, heads=4, width=32, first="0").bias
    assert bias is not None
    matrix = bias.matrix(np.arange(50))
    past = np.tri(50, dtype=bool)
    for h in range(4):
        np.testing.assert_allclose(matrix[h][past], (products / (8 * (h + 1) / 4))[past], atol=1e-12)


def test_distances_are_those_of_the_sinusoids() -> None:
    ours = sandwich(50, heads=8, width=32, first="0", head=0)  # whose scale is 1
    np.testing.assert_allclose(ours.distances(), sinusoidal(50, 32).distances(), rtol=1e-12)


def test_the_formulas_first_frequency_is_one_step_lower() -> None:
    encoding = sandwich(50, heads=8, width=4, head=0)
    lags = np.arange(50)
    expected = 2 * sum(1 - np.cos(lags * 10000.0 ** (-2 * k / 4)) for k in (1, 2))
    np.testing.assert_allclose(encoding.lag_distances() ** 2, expected, atol=1e-12)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 5}, "sandwich width 5: expected an even number"),
        ({"heads": 0}, "sandwich heads 0"),
        ({"head": 12}, "sandwich head 12"),
        ({"first": "2"}, "sandwich first '2'"),
        ({"base": -1.0}, "base -1"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        sandwich(7, **options)  # type: ignore[arg-type]
