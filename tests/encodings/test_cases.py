"""Thirteen inputs that trip naive implementations of positional encodings, each with its right answer."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from posgeom.encodings.alibi import alibi, alibi_slopes
from posgeom.encodings.base import Encoding
from posgeom.encodings.rope import rope
from posgeom.encodings.rope_config import read_rope_config, rope_from_config
from posgeom.encodings.rotary_scaling import DynamicNTK, Llama3, Yarn
from posgeom.encodings.rotation import Pairing
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.encodings.t5 import t5_buckets
from posgeom.encodings.tensors import tensors_of
from posgeom.errors import EncodingError
from posgeom.report.tensors import to_bfloat16


def points_of(encoding: Encoding) -> np.ndarray:
    points = encoding.coordinates()
    assert points is not None
    return points


def test_1_odd_width() -> None:
    np.testing.assert_allclose(
        points_of(sinusoidal(2, 5))[1], [0.841471, 0.540302, 0.025116, 0.999685, 0.000631], atol=5e-7
    )
    with pytest.raises(EncodingError, match="even width, got d = 5"):
        rope(2, 5)
    with pytest.raises(EncodingError, match="rotates 3 channels: expected an even number"):
        rope(2, 12, partial=0.25)


def test_2_two_sinusoid_formulas() -> None:
    for frequencies, expected in (("paper", [1, 0.01]), ("tensor2tensor", [1, 0.0001])):
        points = points_of(sinusoidal(2, 4, frequencies=frequencies))  # type: ignore[arg-type]
        np.testing.assert_allclose(np.arcsin(points[1, 0::2]), expected, rtol=1e-12)
    halves = sinusoidal(9, 4, layout="halves")
    np.testing.assert_array_equal(points_of(halves), points_of(sinusoidal(9, 4))[:, [0, 2, 1, 3]])
    np.testing.assert_array_equal(halves.distances(), sinusoidal(9, 4).distances())


def test_3_angles_in_double_precision_whatever_the_type() -> None:
    encoding = rope(1858, 32, pairing="halves")
    assert encoding.rotation is not None
    angle = encoding.rotation.angles(np.array([1857]))[0, 1]
    assert angle == pytest.approx(1044.2678, abs=5e-5)
    assert np.cos(angle) == pytest.approx(0.30669, abs=5e-6)
    half = tensors_of(encoding).arrays["cos"][1857, 1].astype(np.float16)
    assert float(half) == pytest.approx(0.30669, abs=2e-4)  # cast last
    in_half = float(np.float16(1857) * np.float16(encoding.rotation.inv_freq[1]))
    assert in_half == 1045
    assert np.cos(in_half) == pytest.approx(-0.40816, abs=5e-6)
    # 257 is no bfloat16 number: positions in that type would collide, distances here do not.
    assert to_bfloat16(np.array([256.0, 257.0])).tolist() == [0x4380, 0x4380]
    assert encoding.distances(np.array([256, 257]))[0, 1] > 0.5


@pytest.mark.parametrize(
    ("pairing", "expected"),
    [("interleaved", [-1.14264, 1.92208, 2.95985, 4.02980]), ("halves", [-1.98411, 1.95990, 2.46238, 4.01980])],
)
def test_4_pairing(pairing: Pairing, expected: list[float]) -> None:
    rotation = rope(2, 4, pairing=pairing).rotation
    assert rotation is not None
    np.testing.assert_allclose(rotation.rotate([1, 2, 3, 4], np.array([1]))[0], expected, atol=5e-6)
    given = rope(2, 4, pairing=pairing, reference=np.array([1, 2, 3, 4]))
    np.testing.assert_allclose(points_of(given)[1], expected, atol=5e-6)
    with pytest.raises(EncodingError, match=r"say pairing=interleaved .* or pairing=halves"):
        rope(2, 4).coordinates()
    with pytest.raises(EncodingError, match="say pairing"):
        rope(2, 4, reference=np.array([1, 2, 3, 4]))


def test_5_dynamic_ntk() -> None:
    scaling = DynamicNTK(factor=2, original_length=2048)
    for length in (1, 512, 2048):
        assert scaling.base(64, 1e4, length) == 10000
    assert scaling.base(64, 1e4, 4096) == pytest.approx(31082.24, abs=5e-3)
    short, long = (rope(n, 64, scaling=scaling).rotation for n in (2048, 4096))
    assert short is not None
    assert long is not None
    np.testing.assert_array_equal(short.inv_freq, 1e4 ** (-np.arange(0, 64, 2) / 64))
    np.testing.assert_allclose(long.inv_freq, 31082.24 ** (-np.arange(0, 64, 2) / 64), rtol=1e-6)
    np.testing.assert_array_equal(long.angles(np.array([5])), 5 * long.inv_freq[None])  # positions are not scaled


def test_6_yarn() -> None:
    scaling = Yarn(factor=4, original_length=2048)
    assert scaling.ramp(64, 1e4) == (8, 21)
    assert Yarn(factor=4, original_length=8192).ramp(64, 1e4) == (12, 25)  # what the extended length would give
    omega, attention = scaling.frequencies(64, 1e4, 8192)
    assert attention == pytest.approx(1.138629, abs=5e-7)
    plain = 1e4 ** (-np.arange(0, 64, 2) / 64)
    np.testing.assert_allclose(omega[:9], plain[:9], rtol=1e-15)
    np.testing.assert_allclose(omega[21:], plain[21:] / 4, rtol=1e-15)


def test_7_llama3() -> None:
    omega, attention = Llama3(factor=32).frequencies(64, 5e5, 131072)
    ratio = omega / 5e5 ** (-np.arange(0, 64, 2) / 64)
    np.testing.assert_array_equal(ratio[:15], 1)
    np.testing.assert_allclose(ratio[15:18], [0.605573, 0.303743, 0.103448], atol=5e-7)
    np.testing.assert_allclose(ratio[18:], 1 / 32, rtol=1e-15)
    assert attention == 1


BASE_PLACES: list[Mapping[str, Any]] = [
    {"rope_theta": 5e5},
    {"rope_parameters": {"rope_theta": 5e5, "rope_type": "default"}},
    {"rope_scaling": {"rope_theta": 5e5, "type": "default"}},
    {"rope_theta": 1e4, "rope_parameters": {"rope_theta": 5e5}},
]


@pytest.mark.parametrize("places", BASE_PLACES)
def test_8_where_the_base_is_written(places: Mapping[str, Any]) -> None:
    config = {"hidden_size": 128, "num_attention_heads": 2} | dict(places)
    expected = rope(20, 64, base=5e5)
    np.testing.assert_array_equal(rope_from_config(config, 20).distances(), expected.distances())


def test_8_another_base_on_some_layers() -> None:
    nested = {
        "head_dim": 64,
        "rope_parameters": {
            "full_attention": {"rope_theta": 1e6, "rope_type": "linear", "factor": 8.0},
            "sliding_attention": {"rope_theta": 1e4, "rope_type": "default"},
        },
    }
    old = {
        "head_dim": 64,
        "rope_theta": 1e6,
        "rope_local_base_freq": 1e4,
        "rope_scaling": {"type": "linear", "factor": 8},
    }
    for config in (nested, old):
        full, sliding = (read_rope_config(config, layer_type=t) for t in ("full_attention", "sliding_attention"))
        assert (full.base, sliding.base) == (1e6, 1e4)
        assert full.scaling is not None
        assert sliding.scaling is None
        with pytest.raises(EncodingError, match="say layer_type"):
            read_rope_config(config)
        with pytest.raises(EncodingError, match="no layer type 'other'"):
            read_rope_config(config, layer_type="other")


@pytest.mark.parametrize("pairing", ["interleaved", "halves"])
def test_9_partial_rotary(pairing: Pairing) -> None:
    config = {"head_dim": 16, "rope_theta": 1e4, "partial_rotary_factor": 0.25}
    x = np.random.default_rng(0).normal(size=16)
    points = points_of(rope_from_config(config, 6, pairing=pairing, reference=x))
    np.testing.assert_array_equal(points[:, 4:], np.tile(x[4:], (6, 1)))
    assert (points[1:, :4] != x[:4]).all()
    np.testing.assert_allclose((points[:, :4] ** 2).sum(axis=1), (x[:4] ** 2).sum())


def test_10_offsets_of_one_length() -> None:
    for make in (sinusoidal, lambda n, d, offset: rope(n, d, offset=offset, pairing="halves")):
        first, second = (points_of(make(7, 8, offset=offset)) for offset in (0, 5))
        assert not np.allclose(first, second)
        np.testing.assert_array_equal(points_of(make(7, 8, offset=0)), first)


def test_11_alibi_slopes() -> None:
    expected = [-1, -2, -3, -4, -5, -6, -7, -8, -0.5, -1.5, -2.5, -3.5]
    np.testing.assert_allclose(np.log2(alibi_slopes(12)), expected, rtol=1e-15)
    assert alibi_slopes(8)[0] == 0.5


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def test_12_alibi_of_an_encoder_is_symmetric() -> None:
    n, slopes, positions = 9, alibi_slopes(4), np.arange(9)
    symmetric, causal = (alibi(n, heads=4, causal=causal).bias for causal in (False, True))
    assert symmetric is not None
    assert causal is not None
    lags = np.abs(positions[:, None] - positions)
    np.testing.assert_array_equal(symmetric.matrix(positions), -slopes[:, None, None] * lags)
    key_only = np.broadcast_to(slopes[:, None, None] * positions, (4, n, n))
    masked = np.where(positions > positions[:, None], -np.inf, key_only)
    np.testing.assert_allclose(softmax(causal.matrix(positions)), softmax(masked), atol=1e-15)
    assert np.abs(softmax(symmetric.matrix(positions)) - softmax(key_only)).max() > 0.1


@pytest.mark.parametrize(
    ("relative", "bidirectional", "bucket"),
    [
        *[(-1, True, 1), (1, True, 17), (-16, True, 10), (64, True, 30), (-200, True, 15), (200, True, 31)],
        *[(1, False, 0), (200, False, 0), (0, False, 0), (-1, False, 1)],
    ],
)
def test_13_t5_buckets(relative: int, bidirectional: bool, bucket: int) -> None:
    got = t5_buckets(np.array([relative]), n_buckets=32, max_distance=128, bidirectional=bidirectional)
    assert got.tolist() == [bucket]
