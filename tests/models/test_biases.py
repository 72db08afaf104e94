"""Biases, interpolation, networks and written types against the functions of transformers and torch."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from posgeom.encodings.alibi import alibi, alibi_slopes
from posgeom.encodings.interpolation import stretch_rows
from posgeom.encodings.networks import draw_network
from posgeom.encodings.random import random
from posgeom.encodings.registry import build_encoding
from posgeom.encodings.t5 import t5, t5_buckets
from posgeom.report.tensors import DTYPES, export, to_bfloat16

pytestmark = pytest.mark.models


@pytest.mark.parametrize("bidirectional", [True, False])
def test_t5_buckets(bidirectional: bool) -> None:
    import torch
    from transformers.models.t5.modeling_t5 import T5Attention

    relative = np.arange(-3000, 3001)
    for n_buckets, max_distance in itertools.product((8, 16, 32, 64, 128), (128, 200, 256, 512, 1000)):
        theirs = T5Attention._relative_position_bucket(
            torch.tensor(relative), bidirectional=bidirectional, num_buckets=n_buckets, max_distance=max_distance
        )
        ours = t5_buckets(relative, n_buckets=n_buckets, max_distance=max_distance, bidirectional=bidirectional)
        np.testing.assert_array_equal(ours, theirs.numpy(), str((n_buckets, max_distance)))


@pytest.mark.parametrize("causal", [True, False])
def test_t5_bias_of_a_model(causal: bool, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    torch.manual_seed(0)
    config = T5Config(d_model=32, num_heads=4, is_decoder=causal)
    attention = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    torch.nn.init.normal_(attention.relative_attention_bias.weight)
    theirs = attention.compute_bias(40, 40)[0].detach().numpy()
    weight = attention.relative_attention_bias.weight.detach()
    save_file({"w": weight.to(torch.bfloat16).contiguous()}, tmp_path / "t.safetensors")
    ours = t5(40, table=weight.numpy(), causal=causal).bias
    assert ours is not None
    past = np.tri(40, dtype=bool) if causal else np.ones((40, 40), bool)
    np.testing.assert_array_equal(ours.matrix(np.arange(40))[:, past], theirs[:, past])
    spec = f"t5:table={tmp_path / 't.safetensors'}:tensor=w"
    assert build_encoding(spec, n_positions=40, n_dims=8).distances() == pytest.approx(
        t5(40, table=weight.to(torch.bfloat16).float().numpy()).distances()
    )


@pytest.mark.parametrize("n_heads", [1, 2, 3, 7, 8, 12, 16, 20, 71])
def test_alibi_of_mpt_bloom_and_falcon(n_heads: int) -> None:
    import torch
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor as bloom
    from transformers.models.falcon.modeling_falcon import build_alibi_tensor as falcon
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor as mpt

    n, slopes = 32, alibi_slopes(n_heads)
    mask = torch.ones(1, n, dtype=torch.long)
    by_key = slopes[:, None] * np.arange(n)
    np.testing.assert_allclose(bloom(mask, n_heads, torch.float32)[:, 0].numpy(), by_key, rtol=1e-6)
    # Falcon multiplies in bfloat16.
    np.testing.assert_allclose(falcon(mask, n_heads, torch.float32)[:, 0].numpy(), by_key, rtol=2**-7)
    for max_bias in (8, 4, 16):
        bias = alibi(n, heads=n_heads, causal=True, max_bias=max_bias).bias
        assert bias is not None
        last_row = bias.matrix(np.arange(n))[:, -1]
        theirs = mpt(n_heads, n, alibi_bias_max=max_bias)
        np.testing.assert_allclose(theirs.reshape(n_heads, n).numpy(), last_row, rtol=1e-6)


def test_linear_interpolation_is_torchs() -> None:
    import torch

    rows = np.random.default_rng(0).normal(size=(10, 3))
    columns = torch.tensor(rows.T[None])
    for length in (7, 10, 25):
        for align, corners in (("corners", True), ("centers", False)):
            theirs = torch.nn.functional.interpolate(columns, size=length, mode="linear", align_corners=corners)
            got = stretch_rows(rows, length, "linear", align)  # type: ignore[arg-type]
            np.testing.assert_allclose(got, theirs[0].numpy().T, atol=1e-12)


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_networks_are_torchs(activation: str) -> None:
    import torch

    ours = draw_network(3, 7, 2, np.random.default_rng(0), activation=activation)  # type: ignore[arg-type]
    middle = torch.nn.ReLU() if activation == "relu" else torch.nn.GELU()
    theirs = torch.nn.Sequential(torch.nn.Linear(3, 7), middle, torch.nn.Linear(7, 2)).double()
    for name, value in (("0.weight", ours.w1), ("0.bias", ours.b1), ("2.weight", ours.w2), ("2.bias", ours.b2)):
        theirs.get_parameter(name).data = torch.tensor(value)
    inputs = np.random.default_rng(1).normal(size=(5, 3))
    np.testing.assert_allclose(ours(inputs), theirs(torch.tensor(inputs)).detach().numpy(), rtol=1e-12)


def test_bfloat16_is_torchs() -> None:
    import torch

    rng = np.random.default_rng(0)
    single = rng.integers(0, 2**32, 200_000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    values = single[np.isfinite(single)].astype(np.float64)
    ours = torch.tensor(to_bfloat16(values).view(np.int16)).view(torch.bfloat16)
    assert torch.equal(ours, torch.tensor(values).float().to(torch.bfloat16))


@pytest.mark.parametrize("dtype", DTYPES)
def test_written_files_open_in_torch(tmp_path: Path, dtype: str) -> None:
    import torch
    from safetensors.torch import load_file

    encoding = random(20, 8, std=1.0)
    export(encoding, tmp_path / "t.safetensors", dtype=dtype)  # type: ignore[arg-type]
    table = load_file(tmp_path / "t.safetensors")["table"]
    assert table.dtype == getattr(torch, dtype)
    expected = torch.tensor(encoding.coordinates()).to(table.dtype)
    assert torch.equal(table, expected)
