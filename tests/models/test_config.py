"""Configs with anything in them: understood, or refused in one line."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posgeom.errors import CheckpointError
from posgeom.models.config import ModelConfig
from posgeom.models.registry import FAMILIES

KEYS = [
    "hidden_size",
    "dim",
    "d_model",
    "n_embd",
    "num_attention_heads",
    "n_heads",
    "n_head",
    "num_heads",
    "num_hidden_layers",
    "n_layers",
    "n_layer",
    "num_layers",
    "num_decoder_layers",
    "encoder_layers",
    "decoder_layers",
    "encoder_attention_heads",
    "decoder_attention_heads",
    "head_dim",
    "d_kv",
    "embedding_size",
    "initializer_range",
    "initializer_factor",
    "init_std",
    "pad_token_id",
    "position_embedding_type",
    "rotary_dim",
    "num_key_value_heads",
    "max_position_embeddings",
    "n_positions",
    "num_hidden_groups",
    "inner_group_num",
    "image_size",
    "patch_size",
    "text_config",
    "vision_config",
    "attn_config",
    "relative_attention_max_distance",
    "rope_theta",
    "layer_norm_eps",
    "rms_norm_eps",
    "sinusoidal_pos_embds",
    "is_decoder",
    "seq_length",
    "max_seq_len",
]
SOUND = st.sampled_from([1, 2, 8, 16, 64])
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=3),
    st.lists(st.integers(-3, 3), max_size=3),
    st.dictionaries(st.sampled_from(["alibi", "alibi_bias_max", "hidden_size"]), st.integers(-3, 3), max_size=2),
)


@pytest.mark.parametrize("name", FAMILIES)
@settings(max_examples=60, deadline=None)
@given(values=st.fixed_dictionaries({key: st.one_of(SOUND, SOUND, SOUND, JUNK) for key in KEYS}))
def test_any_config(name: str, values: dict[str, Any]) -> None:
    try:
        stacks = FAMILIES[name].stacks(ModelConfig(values | {"model_type": name}, "any"))
    except CheckpointError as error:
        message = str(error)
        assert "\n" not in message
        return
    for stack in stacks:
        assert stack.n_layers >= 1
        assert stack.width >= 1
        assert stack.head_dim >= 1
        assert stack.n_heads >= 1


def test_look_ups() -> None:
    config = ModelConfig({"a": 3, "b": None, "c": {"a": 5}, "r": 0.5}, "m")
    assert config.whole("b", "a") == 3
    assert config.whole("b", default=7) == 7
    assert config.part("c").whole("a") == 5
    assert config.part("gone") is config
    assert config.number("r") == 0.5
    assert config.head_dim(12, 4) == 3
    with pytest.raises(CheckpointError, match="width 13 and 4 heads"):
        config.head_dim(13, 4)
    for wrong in (True, 2.5, "3", 0, 2**40):
        with pytest.raises(CheckpointError, match="expected a whole number"):
            ModelConfig({"a": wrong}, "m").whole("a")
    for wrong in (True, "3", -1, float("inf"), float("nan")):
        with pytest.raises(CheckpointError, match="expected a number"):
            ModelConfig({"a": wrong}, "m").number("a")


def test_the_key_that_is_named_is_the_one_that_is_there() -> None:
    config = ModelConfig({"n_embd": "x"}, "m")
    with pytest.raises(CheckpointError, match="has n_embd = 'x': expected a whole number"):
        config.whole("hidden_size", "n_embd")
    with pytest.raises(CheckpointError, match="has no n_head or num_heads"):
        config.whole("n_head", "num_heads")
