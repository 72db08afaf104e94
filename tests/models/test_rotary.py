"""Rotary frequencies, pairings and configs against the functions of transformers, over grids of parameters."""

import itertools
from typing import Any

import numpy as np
import pytest

from posgeom.encodings.rope import rope
from posgeom.encodings.rope_config import read_rope_config, rope_from_config
from posgeom.encodings.rotation import Pairing

pytestmark = pytest.mark.models

SIZES = [
    {"hidden_size": 256, "num_attention_heads": 4},
    {"hidden_size": 64, "num_attention_heads": 4, "head_dim": 32},
    {"hidden_size": 512, "num_attention_heads": 4, "partial_rotary_factor": 0.5},
]
BASES = (1e4, 5e5)


def grid(**choices: list[Any]) -> list[dict[str, Any]]:
    return [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]


def factors(n: int) -> dict[str, list[float]]:
    rng = np.random.default_rng(0)
    return {"short_factor": rng.uniform(1, 2, n).tolist(), "long_factor": rng.uniform(1, 40, n).tolist()}


SCALINGS = [
    *grid(rope_type=["linear"], factor=[1.0, 2.0, 7.5]),
    *grid(rope_type=["dynamic"], factor=[1.0, 2.0, 8.0]),
    *grid(rope_type=["yarn"], factor=[2.0, 40.0], original_max_position_embeddings=[512, 2048]),
    *grid(rope_type=["yarn"], factor=[4.0], beta_fast=[16.0, 32.0], beta_slow=[1.0, 2.0], truncate=[True, False]),
    *grid(
        rope_type=["yarn"], factor=[4.0], attention_factor=[None, 1.25], mscale=[None, 0.7], mscale_all_dim=[None, 1.0]
    ),
    *grid(rope_type=["longrope"], factor=[None, 4.0], attention_factor=[None, 1.25]),
    *grid(rope_type=["llama3"], factor=[8.0, 32.0], low_freq_factor=[1.0], high_freq_factor=[4.0, 8.0]),
    *grid(rope_type=["proportional"], factor=[1.0, 4.0]),
]


@pytest.mark.parametrize("size", SIZES, ids=lambda s: "-".join(map(str, s.values())))
@pytest.mark.parametrize("base", BASES)
def test_rope_init_functions(size: dict[str, Any], base: float) -> None:
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    share = size.get("partial_rotary_factor", 1.0)
    head_dim = size.get("head_dim", size["hidden_size"] // size["num_attention_heads"])
    seen = set()
    for scaling, length in itertools.product(SCALINGS, (100, 2048, 2049, 16384)):
        parameters = dict(scaling)
        if parameters["rope_type"] == "longrope":
            parameters |= factors(int(head_dim * share) // 2) | {"original_max_position_embeddings": 2048}
        elif parameters["rope_type"] in ("yarn", "llama3"):
            parameters.setdefault("original_max_position_embeddings", 1024)
        if parameters["rope_type"] == "proportional" and share != 1:
            parameters["partial_rotary_factor"] = share
        plain = {"max_position_embeddings": 8192, "rope_theta": base, **size}
        config = LlamaConfig(rope_parameters=dict(parameters), **plain)
        expected, attention = ROPE_INIT_FUNCTIONS[parameters["rope_type"]](config, "cpu", seq_len=length)
        for given in (
            plain | {"rope_scaling": parameters},
            plain | {"rope_parameters": parameters | {"rope_theta": base}, "rope_theta": None},
            {key: value for key, value in config.to_dict().items() if key != "model_type"},  # whose code reads no share
        ):
            rotation = rope_from_config(given, length).rotation
            assert rotation is not None
            np.testing.assert_allclose(rotation.inv_freq, expected.double().numpy(), rtol=2e-5, atol=1e-12)
            assert rotation.attention_factor == pytest.approx(attention, rel=1e-12)
            assert rotation.n_dims == head_dim
        seen.add(parameters["rope_type"])
    assert seen == set(ROPE_INIT_FUNCTIONS)


def test_default_frequencies_and_angles_of_llama() -> None:
    import torch
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    config = LlamaConfig(hidden_size=64, num_attention_heads=2, rope_theta=5e5, max_position_embeddings=64)
    cosines, sines = LlamaRotaryEmbedding(config)(torch.zeros(1, dtype=torch.float64), torch.arange(64)[None])
    rotation = rope_from_config(config.to_dict(), 64, pairing="halves").rotation
    assert rotation is not None
    for ours, theirs in zip(rotation.cos_sin(np.arange(64)), (cosines, sines), strict=True):
        np.testing.assert_allclose(ours, theirs[0].numpy(), atol=5e-6)


def test_bases_by_layer_of_gemma() -> None:
    from transformers import Gemma3TextConfig
    from transformers.models.gemma3.modeling_gemma3 import Gemma3RotaryEmbedding

    config = Gemma3TextConfig(num_hidden_layers=6, hidden_size=64, num_attention_heads=2, head_dim=32)
    embedding = Gemma3RotaryEmbedding(config)
    for layer_type in ("full_attention", "sliding_attention"):
        rotation = rope_from_config(config.to_dict(), 16, layer_type=layer_type).rotation
        assert rotation is not None
        expected = getattr(embedding, f"{layer_type}_inv_freq").double().numpy()
        np.testing.assert_allclose(rotation.inv_freq, expected, rtol=2e-6)
    bases = [read_rope_config(config.to_dict(), layer_type=t).base for t in ("full_attention", "sliding_attention")]
    assert bases == [1e6, 1e4]


def rotated_by(family: str, x: Any, cosines: Any, sines: Any) -> Any:
    """A vector at every position, rotated as a family of models does it."""
    import torch
    from transformers.models.cohere import modeling_cohere
    from transformers.models.gptj import modeling_gptj
    from transformers.models.llama import modeling_llama

    if family == "gptj":
        return modeling_gptj.apply_rotary_pos_emb(x[None, :, None], sines[None], cosines[None])[0, :, 0]
    if family == "cohere":
        repeated = [torch.repeat_interleave(t, 2, dim=-1)[None] for t in (cosines, sines)]
        return modeling_cohere.apply_rotary_pos_emb(x[None, None], x[None, None], *repeated)[0][0, 0]
    doubled = [torch.cat([t, t], dim=-1)[None] for t in (cosines, sines)]
    return modeling_llama.apply_rotary_pos_emb(x[None, None], x[None, None], *doubled)[0][0, 0]


@pytest.mark.parametrize(
    ("family", "pairing"), [("llama", "halves"), ("gptj", "interleaved"), ("cohere", "interleaved")]
)
def test_pairings_of_families(family: str, pairing: Pairing) -> None:
    import torch

    n, d = 20, 16
    x = np.random.default_rng(0).normal(size=d)
    points = rope(n, d, pairing=pairing, reference=x).coordinates()
    angles = torch.arange(n, dtype=torch.float64)[:, None] * torch.tensor(10000.0 ** (-np.arange(0, d, 2) / d))
    got = rotated_by(family, torch.tensor(x).expand(n, d), angles.cos(), angles.sin())
    tolerance = 1e-6 if family == "cohere" else 1e-12  # which computes in single precision
    np.testing.assert_allclose(points, got.double().numpy(), atol=tolerance)  # type: ignore[arg-type]
