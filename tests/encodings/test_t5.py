from math import log
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from posgeom.encodings.registry import build_encoding
from posgeom.encodings.t5 import t5, t5_buckets
from posgeom.errors import EncodingError

TABLE = np.random.default_rng(0).normal(size=(32, 4))


def slow_bucket(relative: int, n_buckets: int, max_distance: int, *, bidirectional: bool) -> int:
    """The definition in floating point, one number at a time."""
    start = 0
    if bidirectional:
        n_buckets //= 2
        start = n_buckets if relative > 0 else 0
    lag = abs(relative) if bidirectional else max(-relative, 0)
    exact = n_buckets // 2
    if lag < exact:
        return start + lag
    grown = log(lag / exact) / log(max_distance / exact) * (n_buckets - exact)
    return start + min(exact + int(grown + 1e-9), n_buckets - 1)


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("n_buckets", "max_distance"), [(32, 128), (32, 512), (64, 256), (8, 20), (4, 3), (128, 1000)])
def test_buckets(n_buckets: int, max_distance: int, bidirectional: bool) -> None:
    relative = np.arange(-1200, 1201)
    if not bidirectional and max_distance <= n_buckets // 2:
        max_distance = n_buckets
    got = t5_buckets(relative, n_buckets=n_buckets, max_distance=max_distance, bidirectional=bidirectional)
    expected = [slow_bucket(r, n_buckets, max_distance, bidirectional=bidirectional) for r in relative.tolist()]
    np.testing.assert_array_equal(got, expected)


def test_the_bias_looks_buckets_up() -> None:
    for causal in (True, False):
        bias = t5(30, table=TABLE, causal=causal).bias
        assert bias is not None
        matrix = bias.matrix(np.arange(30))
        assert matrix.shape == (4, 30, 30)
        for i, j in ((9, 2), (2, 9), (4, 4)):
            bucket = slow_bucket(j - i, 32, 128, bidirectional=not causal)
            expected = np.full(4, -np.inf) if causal and j > i else TABLE[bucket]
            np.testing.assert_array_equal(matrix[:, i, j], expected)


def test_distances_of_a_learned_bias() -> None:
    encoding = t5(60, table=TABLE)
    assert encoding.negative_mass is not None
    assert 0 < encoding.negative_mass < 0.6
    falling = -np.arange(32.0)[:, None]
    causal = t5(10, table=falling, causal=True, form="linear").lag_distances()
    assert causal is not None
    np.testing.assert_array_equal(causal, np.arange(10))
    with pytest.raises(EncodingError, match="use form=mds"):
        t5(60, table=TABLE, form="linear").distances()


def test_one_head_and_files(tmp_path: Path) -> None:
    save_file({"a.weight": TABLE, "b.weight": TABLE + 1}, tmp_path / "t.safetensors")
    spec = f"t5:table={tmp_path / 't.safetensors'}:tensor=a.weight,head=2"
    encoding = build_encoding(spec, n_positions=20, n_dims=64)
    np.testing.assert_allclose(encoding.distances(), t5(20, table=TABLE[:, [2]]).distances())
    np.save(tmp_path / "t.npy", TABLE)
    from_npy = build_encoding(f"t5:table={tmp_path / 't.npy'},head=2", n_positions=20, n_dims=64)
    np.testing.assert_array_equal(from_npy.distances(), encoding.distances())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table": TABLE[:, 0]}, r"t5 table the given array has shape \(32,\): expected \(any, any\)"),
        ({"table": TABLE[:31]}, "t5 buckets 31: expected an even number, 4 to"),
        ({"table": TABLE[:2]}, "t5 buckets 2: expected an even number, 4 to"),
        ({"table": TABLE[:1], "causal": True}, "t5 buckets 1: expected 2 to"),
        ({"table": TABLE * np.nan}, "not finite"),
        ({"table": TABLE, "max_distance": 8}, "max_distance 8: expected more than 8"),
        ({"table": TABLE, "head": 4}, "t5 head 4: expected 0 to 3"),
        ({"table": TABLE.astype(str)}, "expected real numbers"),
        ({"table": Path("none.npy")}, r"cannot read 'none\.npy'"),
        ({"table": TABLE, "form": "zscore"}, "t5 form 'zscore'"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        t5(10, **options)  # type: ignore[arg-type]
