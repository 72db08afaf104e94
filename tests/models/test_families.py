"""Every family against torch's own forward pass, on small checkpoints that transformers saved."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posgeom.models.encoding import model_encoding
from posgeom.models.family import Alibi, NoPositions, PositionTable, Rotary, Stack, T5Bias
from posgeom.models.layer_types import layer_rotations
from posgeom.models.model import Model, open_model
from posgeom.models.position_rows import read_positions
from posgeom.models.query_key import QueryKey
from posgeom.models.relative_bias import lag_terms
from posgeom.models.relative_kinds import Disentangled, RelativeSines, WindowBias
from tests.models.small import LENGTH, MODELS, attention_inputs, attentions, build, save

pytestmark = pytest.mark.models

STACKS = {"bart": ("encoder", "decoder"), "blenderbot": ("encoder", "decoder"), "t5": ("encoder", "decoder")}
STACKS |= {"whisper": ("encoder", "decoder"), "clip": ("text", "vision"), "siglip": ("text", "vision")}
STACKS |= dict.fromkeys(("marian", "m2m_100", "umt5"), ("encoder", "decoder"))
STACKS |= dict.fromkeys(("swin", "swinv2"), ("stage1", "stage2"))
UNSCALED = ("t5", "umt5", "gpt_neo")


def bias_of(model: Model, stack: Stack, n: int, layer: int) -> np.ndarray:
    """What the stack's schemes add to logits, (heads, n, n)."""
    total = np.zeros((stack.n_heads, n, n))
    for positions in (stack.positions, *stack.also):
        if isinstance(positions, Alibi | T5Bias | WindowBias):
            own: dict[str, Any] = {"layer": layer} if getattr(positions, "n_layers", None) else {}
            bias = model_encoding(model, replace(stack, positions=positions), n, **own).bias
            assert bias is not None
            total += bias.matrix(np.arange(n))
    if stack.causal:
        total[:, ~np.tri(n, dtype=bool)] = -np.inf
    return total


def lag_products(model: Model, stack: Stack, projections: QueryKey, x: np.ndarray, layer: int) -> np.ndarray:
    """Products of queries and keys with vectors of the lag, one pair of positions at a time, (heads, n, n)."""
    n = x.shape[0]
    total = np.zeros((stack.n_heads, n, n))
    for positions in (stack.positions, *stack.also):
        if isinstance(positions, Disentangled | RelativeSines):
            terms = lag_terms(positions, model.tensors, layer)
            queries = [projections.query @ row + projections.query_bias for row in x]
            keys = [projections.key @ row + projections.key_bias for row in x]
            for i in range(n):
                for j in range(n):
                    total[:, i, j] += terms(queries[i], keys[j], np.array([i - j]))[:, 0]
    return total


def normed(model: Model, x: np.ndarray, layer: int, side: str) -> np.ndarray:
    """Queries or keys through their own norm, where the model has one."""
    stored = model.tensors.find(f"layers.{layer}.self_attn.{side}_norm.weight")
    if stored is None:
        return x
    gain = model.checkpoint.read(stored) + (1 if "gemma" in str(model.model_type) else 0)
    return np.asarray(gain * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-6))


def probabilities(
    model: Model, stack: Stack, projections: QueryKey, x: np.ndarray, layer: int, *, scaled: bool
) -> np.ndarray:
    """Attention of every head from what posgeom read, one head and one position at a time."""
    n = x.shape[0]
    rotation = layer_rotations(model, stack, n)[layer] if isinstance(stack.positions, Rotary) else None
    bias = bias_of(model, stack, n, layer) + lag_products(model, stack, projections, x, layer)
    scheme = next((p for p in (stack.positions, *stack.also) if isinstance(p, Disentangled)), None)
    scale = 1 / np.sqrt(stack.head_dim) if scheme is None else scheme.scale
    sinks = model.tensors.find(f"layers.{layer}.self_attn.sinks")
    out = np.empty((stack.n_heads, n, n))
    for head in range(stack.n_heads):
        key_head = projections.key_head(head)
        q = x @ projections.query[head].T + projections.query_bias[head]
        k = x @ projections.key[key_head].T + projections.key_bias[key_head]
        q, k = normed(model, q, layer, "q"), normed(model, k, layer, "k")
        if rotation is not None:
            q, k = (np.stack([rotation.rotate(v, np.array([i]))[0] for i, v in enumerate(side)]) for side in (q, k))
        if (
            isinstance(stack.positions, WindowBias) and stack.positions.reach is not None
        ):  # cosines in place of products
            q, k = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (q, k))
            stored = f"encoder.layers.{int(stack.name[-1]) - 1}.blocks.{layer}.attention.self.logit_scale"
            scale = np.exp(np.minimum(model.checkpoint.read(stored)[head, 0, 0], np.log(100)))
        logits = q @ k.T * (scale if scaled else 1) + bias[head]
        top = logits.max(axis=1, keepdims=True)
        logits = np.exp(logits - top)
        sink = 0 if sinks is None else np.exp(model.checkpoint.read(sinks)[head] - top)
        out[head] = logits / (logits.sum(axis=1, keepdims=True) + sink)
    return out


@pytest.mark.parametrize("name", [name for name in MODELS if name != "falcon-alibi"])
def test_attention_of_the_forward_pass(name: str, tmp_path: Path) -> None:
    made = build(name)
    opened = open_model(save(made, tmp_path))
    assert tuple(s.name for s in opened.stacks) == STACKS.get(name, (opened.stacks[0].name,))
    for stack in opened.stacks:
        with attention_inputs(made) as seen:
            theirs = attentions(name, made, stack.name)
        given = seen(stack.name)
        assert len(theirs) == len(given) == (stack.n_uses or stack.n_layers)
        for layer, (x, wanted) in enumerate(zip(given, theirs, strict=True)):
            projections = opened.query_key(stack, 0 if stack.n_uses else layer)
            got = probabilities(opened, stack, projections, x[0], layer, scaled=name not in UNSCALED)
            assert np.ptp(wanted[np.isfinite(wanted)]) > 0.05  # a test of something
            np.testing.assert_allclose(got, wanted, atol=3e-5)


def test_falcon_with_alibi(tmp_path: Path) -> None:
    """Its eager code adds the bias twice, so what its other code passes on is compared."""
    import torch

    made = build("falcon-alibi", attn_implementation="sdpa")
    opened = open_model(save(made, tmp_path))
    (stack,) = opened.stacks
    assert isinstance(stack.positions, Alibi)
    attention = made.transformer.h[1].self_attention
    kept: dict[str, np.ndarray] = {}
    for name, module in (("x", attention.query_key_value), ("context", attention.dense)):
        module.register_forward_pre_hook(lambda _, given, name=name: kept.update({name: given[0][0].double().numpy()}))
    with torch.no_grad():
        made(input_ids=torch.arange(5, 14)[None])
    x, n, d = kept["x"], 9, stack.head_dim
    got = probabilities(opened, stack, opened.query_key(stack, 1), x, 1, scaled=True)
    fused = opened.tensors.read("h.1.self_attention.query_key_value.weight", ((stack.n_heads + 2) * d, stack.width))
    values = x @ fused[-d:].T
    context = np.concatenate([got[head] @ values for head in range(stack.n_heads)], axis=1)
    assert context.shape == (n, stack.width)
    np.testing.assert_allclose(context, kept["context"], atol=1e-5)
    without = probabilities(
        opened, replace(stack, positions=NoPositions()), opened.query_key(stack, 1), x, 1, scaled=True
    )
    assert np.abs(without - got).max() > 0.05


WITHOUT_TABLE = {"t5", "umt5", "bloom", "mpt", "llama", "mistral", "qwen2", "gpt_neox", "gptj", "esm-rotary", "qwen3"}
WITHOUT_TABLE |= {"qwen3_moe", "gemma", "gemma2", "gemma3_text", "phi3", "gpt_oss", "starcoder2", "smollm3", "cohere"}
WITHOUT_TABLE |= {"modernbert", "nomic_bert", "falcon", "falcon-groups", "falcon-heads", "m2m_100", "marian"}
WITHOUT_TABLE |= {"deberta-v2", "deberta-v2-apart", "deberta-v2-half", "xlnet", "xlnet-past", "swin", "swinv2"}
WITHOUT_TABLE |= {"falcon-alibi"}
TABLES = [name for name in MODELS if name not in WITHOUT_TABLE]


@pytest.mark.parametrize("name", TABLES)
def test_rows_of_the_forward_pass(name: str, tmp_path: Path) -> None:
    """A change of row offset + i changes the model's output at position i, and rows before the offset change none."""
    import torch

    made = build(name)
    opened = open_model(save(made, tmp_path))
    for stack in opened.stacks:
        assert isinstance(stack.positions, PositionTable)
        rows = read_positions(opened.tensors, stack.positions)
        stored = opened.checkpoint.read(rows.tensor).astype(np.float32)
        parameter = next(p for p in made.parameters() if np.array_equal(p.detach().numpy(), stored))
        table = parameter.data if parameter.ndim == 2 else parameter.data[0]
        with attention_inputs(made) as seen:
            attentions(name, made, stack.name)
            before = seen(stack.name)[0][0]
        length = before.shape[0]
        for row in range(min(table.shape[0], length + rows.offset)):
            kept = table[row].clone()
            table[row] += torch.linspace(1, 2, table.shape[1])
            with attention_inputs(made) as seen:
                attentions(name, made, stack.name)
                after = seen(stack.name)[0][0]
            table[row] = kept
            changed = np.flatnonzero(np.abs(after - before).max(axis=1) > 1e-6)
            assert changed.tolist() == ([row - rows.offset] if row >= rows.offset else [])


EXPECTED_ROWS = {
    "roberta": (2, LENGTH, 1),
    "xlm-roberta": (2, LENGTH, 1),
    "mpnet": (2, LENGTH, 1),
    "esm": (2, LENGTH, 1),
    "opt": (2, LENGTH, None),
    "bart": (2, LENGTH, None),
    "blenderbot": (0, LENGTH, None),
    "bert": (0, LENGTH, None),
    "gpt2": (0, LENGTH, None),
}


@pytest.mark.parametrize("name", EXPECTED_ROWS)
def test_offsets_are_the_architectures(name: str, tmp_path: Path) -> None:
    opened = open_model(save(build(name), tmp_path))
    table = opened.stacks[0].positions
    assert isinstance(table, PositionTable)
    rows = read_positions(opened.tensors, table)
    assert (rows.offset, rows.points.shape[0], rows.padding_row) == EXPECTED_ROWS[name]


@pytest.mark.parametrize("name", ["roberta", "xlm-roberta", "mpnet", "esm"])
def test_514_rows_are_512_positions(name: str, tmp_path: Path) -> None:
    opened = open_model(save(build(name, max_position_embeddings=514), tmp_path))
    table = opened.stacks[0].positions
    assert isinstance(table, PositionTable)
    rows = read_positions(opened.tensors, table)
    assert (rows.shape, rows.offset, rows.points.shape[0]) == ((514, 16), 2, 512)
    whole = opened.checkpoint.read(rows.tensor)
    np.testing.assert_array_equal(rows.points, whole[2:514])
    if name != "esm":
        assert not whole[1].any()  # the padding's, which is no position


def test_grids(tmp_path: Path) -> None:
    for name, special in (("vit", 1), ("deit", 2), ("clip", 1)):
        opened = open_model(save(build(name), tmp_path / name))
        table = opened.stack("vision" if name == "clip" else None).positions
        assert isinstance(table, PositionTable)
        rows = read_positions(opened.tensors, table)
        assert (rows.grid, rows.n_special, rows.points.shape) == ((3, 3), special, (9 + special, 16))


def test_a_left_padded_mask_starts_at_position_0() -> None:
    import torch

    from posgeom.models.position_rows import positions_of_mask

    mask = [[0, 0, 1, 1, 1]]
    assert positions_of_mask(mask).tolist() == [[-1, -1, 0, 1, 2]]
    made = build("opt")
    tokens = torch.tensor([[1, 1, 7, 8, 9]])
    with torch.no_grad(), attention_inputs(made) as seen:
        made(input_ids=tokens, attention_mask=torch.tensor(mask))
        padded = seen("decoder")[0][0, 2:]
    with torch.no_grad(), attention_inputs(made) as seen:
        made(input_ids=tokens[:, 2:])
        plain = seen("decoder")[0][0]
    np.testing.assert_allclose(padded, plain, atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_fresh_copies_are_drawn_as_transformers_draws_them(name: str, tmp_path: Path) -> None:
    import torch
    import transformers

    config, kind, values = MODELS[name]
    torch.manual_seed(0)
    wide = {
        key: 256 if key in ("hidden_size", "dim", "n_embd", "d_model") else value
        for key, value in values.items()
        if not isinstance(value, dict)
    }
    wide |= {key: value | {"hidden_size": 256} for key, value in values.items() if key.endswith("_config")}
    wide |= {key: value for key, value in values.items() if key == "rope_parameters"}
    if name == "qwen2":
        wide |= {"num_attention_heads": 16}
    if name == "bloom":
        wide |= {"n_head": 4}
    made = getattr(transformers, kind)(getattr(transformers, config)(**wide))
    opened = open_model(save(made, tmp_path))
    for stack in opened.stacks:
        projections = opened.query_key(stack, 0)
        for weights, std in zip((projections.query, projections.key), stack.initial_std, strict=True):
            assert weights.std() == pytest.approx(std, rel=6 / np.sqrt(2 * weights.size))
            assert abs(weights.mean()) < 6 * std / np.sqrt(weights.size)
        table = stack.positions
        if isinstance(table, PositionTable) and table.initial_std is not None:
            points = read_positions(opened.tensors, table).points
            assert points.std() == pytest.approx(table.initial_std, rel=6 / np.sqrt(2 * points.size))
