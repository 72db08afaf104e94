import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posgeom.encodings.registry import build_encoding
from posgeom.encodings.rope import rope
from posgeom.encodings.rope_config import read_rope_config, read_rope_layers, rope_from_config
from posgeom.encodings.rotary_scaling import DynamicNTK, Linear, Llama3, LongRope, Proportional, Yarn
from posgeom.encodings.rotation import Temperature
from posgeom.errors import EncodingError

HEAD = {"hidden_size": 256, "num_attention_heads": 4, "max_position_embeddings": 4096, "rope_theta": 1e4}


def scaling(parameters: dict[str, Any], **more: Any) -> object:
    return read_rope_config(HEAD | {"rope_scaling": parameters} | more).scaling


def test_each_kind_in_old_and_new_keys() -> None:
    for key in ("type", "rope_type"):
        assert scaling({key: "default"}) is None
        assert scaling({key: "linear", "factor": 4}) == Linear(4)
        assert scaling({key: "dynamic", "factor": 2.0}) == DynamicNTK(2, 4096)
        assert scaling({key: "yarn", "factor": 4, "original_max_position_embeddings": 1024}) == Yarn(4, 1024)
        llama = {key: "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4}
        assert scaling(llama | {"original_max_position_embeddings": 8192}) == Llama3(8)
        assert scaling({key: "proportional", "partial_rotary_factor": 0.25}) == Proportional(0.25)
    lists = {"short_factor": [1.0, 2.0], "long_factor": [3, 4]}
    expected = LongRope((1, 2), (3, 4), 1024, 4)
    assert scaling({"type": "su", "original_max_position_embeddings": 1024} | lists) == expected
    assert scaling({"type": "longrope"} | lists, original_max_position_embeddings=1024) == expected


def test_yarn_details() -> None:
    deepseek = {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096, "mscale": 1.0}
    assert scaling(deepseek | {"mscale_all_dim": 0.8}) == Yarn(40, 4096, mscale=1.0, mscale_all_dim=0.8)
    assert scaling(deepseek) == Yarn(40, 4096)
    more = {"beta_fast": 16, "beta_slow": 2, "truncate": False, "attention_factor": 1.1}
    assert scaling(deepseek | more) == Yarn(40, 4096, 16, 2, truncate=False, attention_factor=1.1)
    no_factor = {"rope_type": "yarn", "factor": None, "original_max_position_embeddings": 1024}
    assert scaling(no_factor) == Yarn(4, 1024)


def test_widths_and_shares() -> None:
    assert read_rope_config(HEAD).n_dims == 64
    assert read_rope_config(HEAD | {"head_dim": 96}).n_dims == 96
    assert read_rope_config(HEAD | {"head_dim": None}).n_dims == 64
    assert read_rope_config({"n_embd": 64, "n_head": 8, "rotary_pct": 0.25, "rotary_emb_base": 1e4}).partial == 0.25
    inside = HEAD | {"rope_parameters": {"partial_rotary_factor": 0.5}, "partial_rotary_factor": 0.25}
    assert read_rope_config(inside).partial == 0.5
    assert read_rope_config({"head_dim": 8, "rope_scaling": {"type": "linear", "factor": 2}}).base == 1e4


def test_the_text_part_of_a_multimodal_config() -> None:
    assert read_rope_config({"vision_config": {}, "text_config": HEAD}) == read_rope_config(HEAD)


def test_layers_without_any() -> None:
    nested = {"head_dim": 8, "rope_parameters": {"full_attention": None, "sliding_attention": {"rope_theta": 1e4}}}
    assert read_rope_config(nested, layer_type="sliding_attention").base == 1e4
    with pytest.raises(EncodingError, match="no rotary embedding on its full_attention layers"):
        read_rope_config(nested, layer_type="full_attention")


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(HEAD | {"rope_scaling": {"type": "linear", "factor": 2}}))
    expected = rope(10, 64, scaling=Linear(2), pairing="halves")
    for got in (
        rope_from_config(path, 10, pairing="halves"),
        build_encoding(f"rope-config:config={path},pairing=halves", n_positions=10, n_dims=768),
    ):
        np.testing.assert_array_equal(got.coordinates(), expected.coordinates())


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "no rotary embedding"),
        ({"rope_theta": 1e4}, "neither head_dim nor hidden_size"),
        (HEAD | {"rope_theta": "many"}, "rope_theta = 'many': expected a number"),
        (HEAD | {"rope_scaling": {"type": "spiral"}}, "rope_type 'spiral': expected one of default, linear"),
        (HEAD | {"rope_scaling": {"type": ["x"]}}, "rope_type"),
        (HEAD | {"rope_scaling": [1]}, "rope_scaling of type list"),
        (HEAD | {"rope_scaling": {"type": "linear"}}, "rope_type linear without factor"),
        (HEAD | {"rope_scaling": {"type": "longrope", "short_factor": 2}}, "expected a list of numbers"),
        (HEAD | {"head_dim": -4}, "head_dim = '-4': expected a whole number from 1"),
        ({"head_dim": 8, "rope_scaling": {"type": "dynamic", "factor": 2}}, "without max_position_embeddings"),
    ],
)
def test_bad_configs(config: dict[str, Any], message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        read_rope_config(config)


def test_a_layer_type_where_layers_are_alike() -> None:
    with pytest.raises(EncodingError, match="the same rotary options on all layers"):
        read_rope_config(HEAD, layer_type="full_attention")


@pytest.mark.parametrize("content", ["{", "[1]", "\x00", "[" * 100_000])
def test_bad_files(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(EncodingError, match=r"config\.json") as caught:
        read_rope_config(tmp_path / "config.json")
    assert "\n" not in str(caught.value)
    with pytest.raises(EncodingError, match="cannot read"):
        read_rope_config(tmp_path / "none.json")


LLAMA = {"model_type": "llama", "hidden_size": 256, "num_attention_heads": 4}
GEMMA3 = {"model_type": "gemma3_text", "num_hidden_layers": 12}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (HEAD | {"rope_theta": 1e4, "rope_flavour": 3}, "rope_flavour = '3', which is not known"),
        (HEAD | {"rope_theta": 1e4, "global_head_dim": 512}, "global_head_dim = '512'"),
        (HEAD | {"rope_theta": 1e4, "position_embedding_type": "nope"}, "position_embedding_type = 'nope'"),
        (HEAD | {"rope_scaling": {"type": "linear", "factor": 2, "stretch": 3}}, "'stretch' in its rotary options"),
        (LLAMA | {"rope_scaling": {"type": "dynamic", "factor": 1, "alpha": 1000}}, "'alpha' in its rotary options"),
        (LLAMA | {"partial_rotary_factor": 0.5}, "partial_rotary_factor = '0.5', which is not known"),
        (LLAMA | {"rotary_dim": 32}, "rotary_dim = '32'"),
        (LLAMA | {"rope_scaling": {"type": "mrope", "mrope_section": [8, 12, 12]}}, "'mrope_section'"),
        (LLAMA | {"model_type": "newformer"}, "model_type 'newformer', whose rotary defaults are not known"),
        ({"model_type": "falcon", "hidden_size": 256, "num_attention_heads": 4, "alibi": True}, "alibi = 'True'"),
        ({"model_type": "gptj", "n_embd": 256, "n_head": 4, "rope_theta": 1e6}, "rope_theta = '1000000.0'"),
        (GEMMA3 | {"rope_parameters": {"rope_type": "linear", "factor": 8}}, "rope_parameters for all layers"),
        (
            LLAMA | {"rope_scaling": {"type": "linear", "factor": 2}, "rope_parameters": {"rope_theta": 1}},
            "they differ",
        ),
        ({"model_type": "qwen2_vl", "head_dim": 128, "rope_scaling": {"mrope_section": [1, 2]}}, "sum to 64"),
    ],
)
def test_what_is_not_known_is_refused_by_name(config: dict[str, Any], message: str) -> None:
    with pytest.raises(EncodingError, match=re.escape(message)) as caught:
        read_rope_config(config, layer_type="full_attention" if "gemma3" in str(config.get("model_type")) else None)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (LLAMA, (1e4, 1.0, 64)),
        (LLAMA | {"rope_theta": None}, (1e4, 1.0, 64)),
        ({"model_type": "mixtral", "hidden_size": 256, "num_attention_heads": 4}, (1e6, 1.0, 64)),
        ({"model_type": "qwen3", "hidden_size": 256, "num_attention_heads": 4}, (1e4, 1.0, 128)),
        ({"model_type": "stablelm", "hidden_size": 256, "num_attention_heads": 4}, (1e4, 0.25, 64)),
        ({"model_type": "minimax_m2", "rotary_dim": 64, "rope_theta": 5e6}, (5e6, 0.5, 128)),
        ({"model_type": "deepseek_v3", "qk_rope_head_dim": 32, "head_dim": 32}, (1e4, 1.0, 32)),
        ({"model_type": "gptj", "n_embd": 256, "n_head": 1, "rotary_dim": 64}, (1e4, 0.25, 256)),
        ({"rotary_dim": 64, "head_dim": 128, "rope_theta": 1e4}, (1e4, 0.5, 128)),
    ],
)
def test_a_family_s_defaults(config: dict[str, Any], expected: tuple[float, float, int]) -> None:
    got = read_rope_config(config)
    assert (got.base, got.partial, got.n_dims) == expected


def test_layer_types_have_each_their_own() -> None:
    with pytest.raises(EncodingError, match=r"by layer: say layer_type, one of 'sliding_attention', 'full_attention'"):
        read_rope_config(GEMMA3)
    scaled = GEMMA3 | {"rope_scaling": {"rope_type": "linear", "factor": 8.0}}
    local, whole = read_rope_layers(scaled)
    assert local.settings is not None
    assert whole.settings is not None
    assert (local.settings.base, local.settings.scaling) == (1e4, None)
    assert (whole.settings.base, whole.settings.scaling) == (1e6, Linear(8.0))
    assert whole.layers == (5, 11)
    wide = read_rope_config({"model_type": "gemma4_text", "global_head_dim": 512}, layer_type="full_attention")
    assert (wide.n_dims, wide.scaling) == (512, Proportional(0.25))


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            {"model_type": "smollm3", "head_dim": 64, "num_hidden_layers": 8},
            {"rope": (0, 1, 2, 4, 5, 6), "nope": (3, 7)},
        ),
        (
            {"model_type": "llama4_text", "no_rope_layers": [1, 0, 1], "head_dim": 64},
            {"rope": (0, 2), "nope": (1,)},
        ),
        (
            {"model_type": "cohere2", "head_dim": 64, "num_hidden_layers": 4},
            {"sliding_attention": (0, 1, 2), "full_attention": (3,)},
        ),
        ({"model_type": "exaone4", "head_dim": 64, "sliding_window": None}, {None: None}),
        (
            {"model_type": "granite_swa", "head_dim": 64, "layer_rope_theta": [1e4, 0, 1e6]},
            {"rope_10000": (0,), "nope": (1,), "rope_1e+06": (2,)},
        ),
    ],
)
def test_layers_without_rotation(config: dict[str, Any], expected: dict[str | None, tuple[int, ...] | None]) -> None:
    got = read_rope_layers(config)
    assert {positions.layer_type: positions.layers for positions in got} == expected
    for positions in got:
        assert (positions.settings is None) == (positions.layer_type in ("nope", "full_attention"))


def test_alpha_changes_the_base_once() -> None:
    scaling = {"type": "dynamic", "factor": 1.0, "alpha": 1000.0}
    got = rope_from_config({"head_dim": 128, "rope_theta": 1e4, "rope_scaling": scaling}, 8)
    assert got.rotation is not None
    base = 1e4 * 1000 ** (128 / 126)
    np.testing.assert_allclose(got.rotation.inv_freq, base ** (-np.arange(0, 128, 2) / 128))


def test_queries_that_grow_with_their_position() -> None:
    config = {"model_type": "llama4_text", "head_dim": 64, "no_rope_layers": [1, 0], "floor_scale": 4}
    rope, still = read_rope_layers(config)
    assert rope.temperature is None
    assert still.temperature is not None
    np.testing.assert_allclose(still.temperature.at(np.array([0, 2, 3, 7])), 1 + 0.1 * np.log([1, 1, 2, 3]))
    got = rope_from_config({"model_type": "ministral3", "max_position_embeddings": 262144}, 4)
    assert got.rotation is not None
    assert got.rotation.temperature == Temperature(0.1, 16384)


def test_sections_of_time_height_and_width() -> None:
    old = read_rope_config({"model_type": "qwen2_vl", "head_dim": 128})
    new = read_rope_config({"model_type": "qwen3_vl_text", "rope_scaling": {"mrope_section": [24, 20, 20]}})
    assert (old.mrope, old.mrope_order) == ((16, 24, 24), "chunked")
    assert (new.mrope, new.mrope_order) == ((24, 20, 20), "interleaved")
