"""Relative vectors and Swin's table, against slow forms."""

import numpy as np
import pytest

from posgeom.encodings.base import Encoding
from posgeom.encodings.relative import log_buckets, relative, swin
from posgeom.errors import EncodingError

RNG = np.random.default_rng(0)
QUERY = RNG.normal(size=6)


def biases(encoding: Encoding) -> np.ndarray:
    assert encoding.bias is not None
    return encoding.bias.matrix(np.arange(encoding.n_positions))


def test_shaw_is_clipped() -> None:
    table = RNG.normal(size=(5, 6))
    got = biases(relative(8, table=table, query=QUERY))[0]
    for i in range(8):
        for j in range(8):
            assert got[i, j] == pytest.approx(QUERY @ table[max(-2, min(2, j - i)) + 2])


def test_transformer_xl_is_a_function_of_the_lag() -> None:
    got = biases(relative(8, query=QUERY, kind="transformer-xl", causal=True))[0]
    omega = 10000.0 ** (-np.arange(0, 6, 2) / 6)
    for i in range(8):
        assert np.isneginf(got[i, i + 1 :]).all()
        for j in range(i + 1):
            expected = QUERY @ np.concatenate([np.sin((i - j) * omega), np.cos((i - j) * omega)])
            assert got[i, j] == pytest.approx(expected)


def test_deberta_s_buckets() -> None:
    lags = np.array([0, 1, -1, 127, 128, 129, 200, 511, -511, -300])
    got = log_buckets(lags, n_buckets=256, max_distance=512)
    assert got[:5].tolist() == [0, 1, -1, 127, 128]
    assert got[7] == -got[8] == 255
    assert (np.diff(log_buckets(np.arange(512), n_buckets=256, max_distance=512)) >= 0).all()
    table = RNG.normal(size=(16, 6))
    got_bias = biases(relative(20, table=table, query=QUERY, kind="deberta", max_distance=64))[0]
    bucket = log_buckets(np.arange(20)[:, None] - np.arange(20), n_buckets=8, max_distance=64)
    np.testing.assert_allclose(got_bias, (table @ QUERY)[np.clip(bucket + 8, 0, 15)])


def test_swin_by_offsets() -> None:
    table = RNG.normal(size=(3 * 5, 2))
    got = biases(swin(6, table=table, grid=(2, 3)))
    for i in range(6):
        for j in range(6):
            down, right = np.array(divmod(i, 3)) - np.array(divmod(j, 3))
            np.testing.assert_array_equal(got[:, i, j], table[(down + 1) * 5 + right + 2])
    assert biases(swin(6, table=table, grid=(2, 3), head=1)).shape == (1, 6, 6)


def test_refusals() -> None:
    for options, message in (
        ({"query": QUERY}, "kind shaw: expected table"),
        ({"query": QUERY, "table": np.ones((3, 6)), "kind": "transformer-xl"}, "it has no table"),
        ({"query": QUERY, "table": np.ones((4, 6))}, r"expected 2K \+ 1"),
        ({"query": QUERY, "table": np.ones((5, 6)), "kind": "deberta"}, "expected 2B"),
        ({"query": QUERY, "table": np.ones((5, 4))}, r"expected \(any, 6\)"),
    ):
        with pytest.raises(EncodingError, match=message):
            relative(8, **options)
    with pytest.raises(EncodingError, match=r"expected \(15, any\)"):
        swin(6, table=np.ones((9, 1)), grid=(2, 3))
