"""The position kernel against queries and keys of torch's own forward pass, token by token."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posgeom.encodings.rope_config import rope_from_config
from posgeom.errors import CheckpointError
from posgeom.models.family import Rotary
from posgeom.models.layers import frequencies_of
from posgeom.models.model import open_model
from posgeom.models.rotary_kernel import TokenFrequencies, head_kernels, mean_normalised_embedding
from tests.models.small import VOCAB, build, save

pytestmark = pytest.mark.models

APPLY = {
    "llama": "transformers.models.llama.modeling_llama",
    "mistral": "transformers.models.mistral.modeling_mistral",
    "qwen2": "transformers.models.qwen2.modeling_qwen2",
}
N = 12


def rotated(made: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Queries and keys of the first layer for every token at every position, (tokens, heads, positions, head_dim)."""
    import importlib

    import torch

    module = importlib.import_module(APPLY[name])
    seen: dict[str, Any] = {}
    attention = made.model.layers[0].self_attn
    handles = [
        getattr(attention, part).register_forward_hook(lambda _, __, out, part=part: seen.update({part: out}))
        for part in ("q_proj", "k_proj")
    ]
    tokens = torch.arange(VOCAB)[:, None].repeat(1, N)  # token v at every position of sequence v
    with torch.no_grad():
        made(input_ids=tokens)
        cosines, sines = made.model.rotary_emb(torch.zeros(VOCAB, N, 1), torch.arange(N)[None])
        shape = (VOCAB, N, -1, attention.head_dim)
        q, k = (seen[part].view(shape).transpose(1, 2) for part in ("q_proj", "k_proj"))
        q, k = module.apply_rotary_pos_emb(q, k, cosines, sines)
    for handle in handles:
        handle.remove()
    return q.double().numpy(), k.double().numpy()


@pytest.mark.parametrize("name", APPLY)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_first_layer_is_exact(name: str, weighted: bool, tmp_path: Path) -> None:
    made = build(name)
    opened = open_model(save(made, tmp_path))
    stack = opened.stacks[0]
    assert isinstance(stack.positions, Rotary)
    assert stack.embedding is not None
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 50, VOCAB)
    frequencies = frequencies_of(np.arange(VOCAB), counts) if weighted else None
    content = mean_normalised_embedding(opened.tensors, stack.embedding, stack.width, frequencies)
    rotation = rope_from_config(stack.positions.config, N, pairing=stack.positions.pairing).rotation
    assert rotation is not None
    kernels = head_kernels(opened.tensors, stack.embedding, rotation, 0, opened.query_key(stack, 0), content, N)
    q, k = rotated(made, name)
    shares = counts / counts.sum() if weighted else np.full(VOCAB, 1 / VOCAB)
    groups = q.shape[1] // k.shape[1]
    for kernel in kernels:
        for i in range(N):
            for j in range(i + 1):
                products = q[:, kernel.head, i] @ k[:, kernel.head // groups, j].T  # every pair of tokens
                wanted = shares @ products @ shares
                assert kernel.values[i - j] == pytest.approx(wanted, abs=2e-5 * np.abs(products).max())


def test_partial_rotation_and_layer_norm(tmp_path: Path) -> None:
    """GPT-NeoX and GPT-J: what is not rotated adds a constant, and embeddings are centred."""
    for name in ("gpt_neox", "gptj", "esm-rotary"):
        made = build(name)
        opened = open_model(save(made, tmp_path / name))
        stack = opened.stacks[0]
        assert isinstance(stack.positions, Rotary)
        assert stack.embedding is not None
        content = mean_normalised_embedding(opened.tensors, stack.embedding, stack.width, None)
        rotation = rope_from_config(stack.positions.config, N, pairing=stack.positions.pairing).rotation
        assert rotation is not None
        projections = opened.query_key(stack, 1)
        kernels = head_kernels(opened.tensors, stack.embedding, rotation, 1, projections, content, N)
        norm = stack.embedding.norm.format(layer=1)
        module = (
            made.base_model.get_submodule(norm)
            if name != "esm-rotary"
            else made.esm.encoder.layer[1].attention.LayerNorm
        )
        table = made.get_input_embeddings().weight
        x = module(table).mean(dim=0).detach().double().numpy()
        for kernel in kernels:
            q = projections.query[kernel.head] @ x + projections.query_bias[kernel.head]
            k = projections.key[kernel.head] @ x + projections.key_bias[kernel.head]
            wanted = [rotation.rotate(q, np.array([lag]))[0] @ rotation.rotate(k, np.array([0]))[0] for lag in range(N)]
            np.testing.assert_allclose(kernel.values, wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max())


def test_tokens_beyond_the_embedding(tmp_path: Path) -> None:
    opened = open_model(save(build("llama"), tmp_path))
    stack = opened.stacks[0]
    assert stack.embedding is not None
    beyond = TokenFrequencies(np.array([1, VOCAB]), np.array([0.5, 0.5]))
    with pytest.raises(CheckpointError, match="the counts hold token 40"):
        mean_normalised_embedding(opened.tensors, stack.embedding, stack.width, beyond)
    one = TokenFrequencies(np.array([7]), np.array([1.0]))
    got = mean_normalised_embedding(opened.tensors, stack.embedding, stack.width, one)
    assert (got**2).mean() == pytest.approx(1, rel=1e-4)
