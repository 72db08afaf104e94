import numpy as np
import pytest

from posgeom.encodings.alibi import alibi, alibi_slopes
from posgeom.encodings.base import Encoding
from posgeom.errors import EncodingError
from posgeom.estimation.euclidean import euclidean_distances


def by_lag(encoding: Encoding) -> np.ndarray:
    lags = encoding.lag_distances()
    assert lags is not None
    return lags


def test_slopes() -> None:
    np.testing.assert_allclose(np.log2(alibi_slopes(12)), [-1, -2, -3, -4, -5, -6, -7, -8, -0.5, -1.5, -2.5, -3.5])
    assert alibi_slopes(8)[0] == 0.5
    np.testing.assert_allclose(np.log2(alibi_slopes(16)), -np.arange(1, 17) / 2)
    assert alibi_slopes(1).tolist() == [2**-8]
    for n in range(1, 40):
        assert alibi_slopes(n).size == n


def test_zscore_is_the_papers_encoding() -> None:
    points = alibi(5).coordinates()
    assert points is not None
    np.testing.assert_allclose(points[:, 0], (np.arange(5) - 2) / np.sqrt(2))
    np.testing.assert_allclose(alibi(5).distances(), euclidean_distances(points), rtol=1e-12)


def test_linear_side_by_side_and_by_head() -> None:
    encoding = alibi(6, form="linear", heads=8)
    points = encoding.coordinates()
    assert points is not None
    assert points.shape == (6, 8)
    np.testing.assert_allclose(encoding.distances(), euclidean_distances(points), rtol=1e-12)
    np.testing.assert_allclose(by_lag(alibi(6, form="linear", heads=8, head=2)), np.arange(6) / 8)


def test_kernel_grows_with_the_root_of_the_lag() -> None:
    encoding = alibi(10, form="kernel", heads=8, head=0)
    np.testing.assert_allclose(by_lag(encoding), np.sqrt(2 * 0.5 * np.arange(10)))
    assert encoding.coordinates() is None
    assert encoding.n_dims is None
    all_heads = alibi(10, form="kernel", heads=8)
    np.testing.assert_allclose(by_lag(all_heads), np.sqrt(2 * alibi_slopes(8).sum() * np.arange(10)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "cubic"}, "form 'cubic'"),
        ({"heads": 0}, "heads 0"),
        ({"heads": 10**20}, "heads 100000000000000000000"),
        ({"n_positions": 1}, "at least 2 positions"),
        ({"form": "linear", "head": 12}, "head 12: expected 0 to 11"),
        ({"form": "linear", "head": -1}, "head -1"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        alibi(**({"n_positions": 4} | options))  # type: ignore[arg-type]
