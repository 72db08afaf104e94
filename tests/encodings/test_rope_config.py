import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posgeom.encodings.registry import build_encoding
from posgeom.encodings.rope import rope
from posgeom.encodings.rope_config import read_rope_config, rope_from_config
from posgeom.encodings.rotary_scaling import DynamicNTK, Linear, Llama3, LongRope, Proportional, Yarn
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
        (HEAD | {"rope_scaling": [1]}, "rope_parameters of type list"),
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
