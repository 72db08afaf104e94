"""Heads taken apart, however queries and keys are stored, on numbers written by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from posgeom.errors import CheckpointError
from posgeom.models.checkpoint import open_checkpoint
from posgeom.models.query_key import Fused, HeadShape, Layout, QueryKey, Separate, Tensors


def read(path: Path, layout: Layout, shape: HeadShape, **arrays: Any) -> QueryKey:
    names = {k.replace("_", "."): np.asarray(v, np.float32) for k, v in arrays.items()}
    save_file(names, path / "a.safetensors")
    return layout.read(Tensors(open_checkpoint(path / "a.safetensors"), frozenset()), 0, shape)


def test_fused_head_by_head_as_in_gpt_neox(tmp_path: Path) -> None:
    rows = np.arange(6)[:, None] * np.ones((1, 2))
    got = read(
        tmp_path, Fused("l{layer}.qkv", "heads"), HeadShape(2, 2, 1, 2), l0_qkv_weight=rows, l0_qkv_bias=range(6)
    )
    assert got.query[:, 0, 0].tolist() == [0, 3]
    assert got.key[:, 0, 0].tolist() == [1, 4]
    assert got.query_bias[:, 0].tolist() == [0, 3]
    assert got.key_bias[:, 0].tolist() == [1, 4]


def test_fused_in_blocks_as_in_mpt(tmp_path: Path) -> None:
    rows = np.arange(6)[:, None] * np.ones((1, 2))
    got = read(tmp_path, Fused("l{layer}.qkv", "blocks"), HeadShape(2, 2, 1, 2), l0_qkv_weight=rows)
    assert got.query[:, 0, 0].tolist() == [0, 1]
    assert got.key[:, 0, 0].tolist() == [2, 3]
    assert not got.query_bias.any()


def test_conv1d_of_gpt2_is_stored_in_x_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    weight, x = rng.normal(size=(4, 12)).astype(np.float32), rng.normal(size=4)
    got = read(tmp_path, Fused("h{layer}.c", "blocks", transposed=True), HeadShape(2, 2, 2, 4), h0_c_weight=weight)
    by_conv = x @ weight
    np.testing.assert_allclose((got.query @ x).ravel(), by_conv[:4])
    np.testing.assert_allclose((got.key @ x).ravel(), by_conv[4:8])


def test_groups_of_14_and_2_heads(tmp_path: Path) -> None:
    query, key = np.zeros((14, 1, 1)), np.zeros((2, 1, 1))
    made = QueryKey(query, key, query[..., 0], key[..., 0])
    assert [made.key_head(h) for h in range(14)] == [0] * 7 + [1] * 7


def test_shapes_that_do_not_fit_the_config(tmp_path: Path) -> None:
    layout = Separate("l{layer}.q", "l{layer}.k")
    with pytest.raises(CheckpointError, match=r"'l0.k.weight' has shape \(3, 2\), by its config it has \(2, 2\)"):
        read(tmp_path, layout, HeadShape(2, 2, 1, 2), l0_q_weight=np.ones((2, 2)), l0_k_weight=np.ones((3, 2)))
    with pytest.raises(CheckpointError, match=r"no tensor 'l0.k.weight'"):
        read(tmp_path, layout, HeadShape(2, 2, 1, 2), l0_q_weight=np.ones((2, 2)))
    with pytest.raises(CheckpointError, match=r"'l0.q.bias' has shape \(3,\)"):
        read(
            tmp_path,
            layout,
            HeadShape(2, 2, 1, 2),
            l0_q_weight=np.ones((2, 2)),
            l0_q_bias=np.ones(3),
            l0_k_weight=np.ones((2, 2)),
        )
