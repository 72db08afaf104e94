"""GGUF files written byte by byte: rotary keys, tables, and what is refused."""

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posgeom.encodings.registry import build_encoding
from posgeom.encodings.rope import rope
from posgeom.encodings.rotary_scaling import Yarn
from posgeom.errors import CheckpointError, PosgeomError
from posgeom.models.by_hand import ByHand
from posgeom.models.inspection import inspect_model
from posgeom.models.model import open_model
from tests.models.small import build

LLAMA = {
    "general.architecture": "llama",
    "llama.embedding_length": 256,
    "llama.attention.head_count": 4,
    "llama.context_length": 4096,
    "llama.rope.dimension_count": 64,
    "llama.rope.freq_base": 5e5,
    "tokenizer.ggml.tokens": ["a", "b"],
}


OLMO = {"general.architecture": "olmo2", "olmo2.attention.key_length": 64, "olmo2.rope.scaling.type": "yarn"}
GRANITE = {"general.architecture": "granite", "granite.attention.key_length": 64}


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def value_of(value: Any) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + text(value)
    if isinstance(value, list):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    return struct.pack("<II", 4, value) if isinstance(value, int) else struct.pack("<If", 6, value)


def write(path: Path, metadata: dict[str, Any], tensors: dict[str, tuple[int, np.ndarray]] | None = None) -> Path:
    tensors = tensors or {}
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    header += b"".join(text(key) + value_of(value) for key, value in metadata.items())
    data = b""
    for name, (kind, array) in tensors.items():
        axes = tuple(reversed(array.shape))
        header += text(name) + struct.pack(f"<I{len(axes)}QIQ", len(axes), *axes, kind, len(data))
        data += array.tobytes() + bytes(-array.nbytes % 32)
    path.write_bytes(header + bytes(-len(header) % 32) + data)
    return path


def test_rotary_keys(tmp_path: Path) -> None:
    path = write(tmp_path / "a.gguf", LLAMA)
    (stack,) = inspect_model(path).stacks
    assert (stack.scheme, stack.details["base"], stack.details["pairing"]) == ("rotary", 5e5, "interleaved")
    got = build_encoding(f"model:{path}", n_positions=9, n_dims=4)
    np.testing.assert_allclose(got.distances(), rope(9, 64, base=5e5).distances())


def test_a_factor_without_a_type_is_linear(tmp_path: Path) -> None:
    """As llama.cpp reads it; a factor of 0, or none at all, is no scaling."""
    for factor, scale in ((4.0, 4.0), (0.0, 1.0)):
        path = write(tmp_path / "a.gguf", LLAMA | {"llama.rope.scaling.factor": factor})
        rotation = build_encoding(f"model:{path}", n_positions=9, n_dims=4).rotation
        assert rotation is not None
        np.testing.assert_allclose(rotation.inv_freq, 5e5 ** (-np.arange(0, 64, 2) / 64) / scale, rtol=1e-6)
    (tmp_path / "b.gguf").write_bytes(path.read_bytes())
    typed = write(tmp_path / "b.gguf", LLAMA | {"llama.rope.scaling.type": "linear"})
    assert inspect_model(typed).stacks[0].details["scaling"] is None


@pytest.mark.models
@pytest.mark.parametrize(("name", "architecture"), [("mistral", "llama"), ("qwen2", "qwen2")])
def test_rows_of_queries_and_keys_are_paired_as_stored(name: str, architecture: str, tmp_path: Path) -> None:
    """llama.cpp's converter makes neighbours of the pairs of a Llama or Mistral, and leaves Qwen's as halves."""
    import torch
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    made = build(name)
    config, attention = made.config, made.model.layers[0].self_attn
    heads, keys, d = config.num_attention_heads, config.num_key_value_heads, attention.head_dim
    tensors = {}
    for side, count in (("q", heads), ("k", keys)):
        weight = getattr(attention, f"{side}_proj").weight.detach().numpy()
        if architecture == "llama":
            weight = weight.reshape(count, 2, d // 2, -1).swapaxes(1, 2).reshape(weight.shape)
        tensors[f"blk.0.attn_{side}.weight"] = (0, np.ascontiguousarray(weight))
    metadata = {
        "general.architecture": architecture,
        f"{architecture}.attention.key_length": d,
        f"{architecture}.rope.freq_base": float(config.rope_parameters["rope_theta"]),
    }
    path = write(tmp_path / "a.gguf", metadata, tensors)
    rotation = build_encoding(f"model:{path}", n_positions=9, n_dims=4).rotation
    by_hand = ByHand(query="blk.{layer}.attn_q", key="blk.{layer}.attn_k", n_heads=heads, n_key_heads=keys)
    opened = open_model(path, by_hand)
    projections = opened.query_key(opened.stacks[0], 0)
    x = torch.randn(1, 9, config.hidden_size, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        projected = [x @ getattr(attention, f"{side}_proj").weight.T for side in ("q", "k")]
        rows = [side.view(1, 9, -1, d).transpose(1, 2) for side in projected]
        query, key = apply_rotary_pos_emb(*rows, *made.model.rotary_emb(x, torch.arange(9)[None]))
        theirs = query @ key.repeat_interleave(heads // keys, dim=1).transpose(2, 3)
    assert rotation is not None
    assert rotation.pairing == ("interleaved" if architecture == "llama" else "halves")
    other = replace(rotation, pairing="halves" if architecture == "llama" else "interleaved")
    for turned, same in ((rotation, True), (other, False)):
        for head in range(heads):
            sides = (projections.query[head], projections.key[projections.key_head(head)])
            q, k = (
                np.stack([turned.rotate(weight @ row, np.array([i]))[0] for i, row in enumerate(x[0].double().numpy())])
                for weight in sides
            )
            assert np.allclose(q @ k.T, theirs[0, head].numpy(), atol=1e-4) is same


def test_scalings(tmp_path: Path) -> None:
    scaled = LLAMA | {"llama.rope.scaling.type": "yarn", "llama.rope.scaling.factor": 4.0}
    scaled |= {"llama.rope.scaling.original_context_length": 1024}
    got = build_encoding(f"model:{write(tmp_path / 'a.gguf', scaled)}", n_positions=9, n_dims=4)
    expected = rope(9, 64, base=5e5, scaling=Yarn(4.0, 1024))
    np.testing.assert_allclose(got.distances(), expected.distances())
    factors = np.linspace(1, 8, 32).astype(np.float32)
    path = write(tmp_path / "b.gguf", LLAMA, {"rope_freqs.weight": (0, factors)})
    rotation = build_encoding(f"model:{path}", n_positions=9, n_dims=4).rotation
    assert rotation is not None
    np.testing.assert_allclose(rotation.inv_freq, 5e5 ** (-np.arange(0, 64, 2) / 64) / factors, rtol=1e-6)
    assert rotation.attention_factor == 1


@pytest.mark.parametrize(("kind", "dtype"), [(0, np.float32), (1, np.float16)])
def test_tables(tmp_path: Path, kind: int, dtype: type) -> None:
    table: np.ndarray = np.random.default_rng(0).normal(size=(12, 6)).astype(dtype)
    path = write(tmp_path / "a.gguf", {"general.architecture": "gpt2"}, {"position_embd.weight": (kind, table)})
    rows = inspect_model(path).stacks[0].rows
    assert rows is not None
    np.testing.assert_array_equal(rows.points, table)


def test_bfloat16(tmp_path: Path) -> None:
    halves = np.array([[0x3F80, 0x4000], [0xBF80, 0]], np.uint16)
    path = write(tmp_path / "a.gguf", {"general.architecture": "bert"}, {"position_embd.weight": (30, halves)})
    rows = inspect_model(path).stacks[0].rows
    assert rows is not None
    assert rows.points.tolist() == [[1, 2], [-1, 0]]


@pytest.mark.parametrize(
    ("metadata", "tensors", "message"),
    [
        (LLAMA | {"llama.rope.freq_base_swa": 1e4}, {}, r"'llama.rope.freq_base_swa', which is not known"),
        ({"general.architecture": "gemma3"}, {}, "architecture 'gemma3', whose rotary conventions are not known"),
        (
            {"general.architecture": "gpt2"},
            {"position_embd.weight": (12, np.zeros((2, 256), np.uint8))},
            "quantised type Q4_K, which is not read",
        ),
        ({"general.architecture": "llama"}, {}, "no width of a head"),
        ({"general.architecture": "baichuan"}, {}, "architecture 'baichuan', whose rotary conventions are not known"),
        (OLMO | {"olmo2.attention.sliding_window": 64}, {}, "scaling 'yarn' of some layers only"),
        (GRANITE | {"granite.rope.scaling.finetuned": False}, {}, "without which granite has no positions"),
    ],
)
def test_refusals(tmp_path: Path, metadata: dict[str, Any], tensors: dict[str, Any], message: str) -> None:
    with pytest.raises(PosgeomError, match=message) as caught:
        inspect_model(write(tmp_path / "a.gguf", metadata, tensors))
    assert "\n" not in str(caught.value)


def test_damaged_files(tmp_path: Path) -> None:
    whole = write(tmp_path / "a.gguf", LLAMA).read_bytes()
    for end in range(0, 200, 7):
        (tmp_path / "b.gguf").write_bytes(whole[:end])
        with pytest.raises(CheckpointError, match="is no readable"):
            inspect_model(tmp_path / "b.gguf")
    (tmp_path / "b.gguf").write_bytes(whole[:8] + b"\xff" * 16 + whole[24:])
    with pytest.raises(CheckpointError, match="is no readable"):
        inspect_model(tmp_path / "b.gguf")
