"""The most used model types: of a config alone, `inspect` says what the type's own code makes, or refuses clearly."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posgeom.encodings.rotary_families import FAMILIES
from posgeom.errors import CheckpointError
from posgeom.models.checkpoint import WRAPPERS, names_by_suffix
from posgeom.models.inspection import Inspection, StackReport, inspect_model
from posgeom.models.registry import find_family
from posgeom.report.inspection import inspection_document
from tests.models.rotary_reference import references
from tests.models.test_config_alone import printed

pytestmark = pytest.mark.models

TABLES = """bert roberta xlm-roberta camembert distilbert electra albert mpnet esm gpt2 gpt_neo opt bart mbart
blenderbot vit deit dinov2 clip siglip whisper deberta-v2"""
ROTARY = """llama mistral mixtral qwen2 qwen2_moe qwen2_vl qwen2_5_vl qwen3 qwen3_moe qwen3_vl gemma gemma2 gemma3
gemma3_text gemma4 phi phi3 phimoe gpt_oss deepseek_v3 llama4 smollm3 olmo2 starcoder2 cohere cohere2 granite
modernbert nomic_bert falcon gpt_neox gptj stablelm"""
BIASES = {"t5": "t5", "mt5": "t5", "umt5": "t5", "bloom": "alibi", "mpt": "alibi", "swin": "swin", "swinv2": "swin"}
BIASES |= {"xlnet": "transformer-xl"}
REFUSED = """wav2vec2 hubert longformer layoutlm deberta pegasus led funnel mamba blip dinov3_vit big_bird
sam convnext segformer"""


@pytest.fixture
def saved(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Any, Path]:
    """A type, its default config, and the directory that this is saved in, without weights."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    config = CONFIG_MAPPING[request.param](**{"esm": {"vocab_size": 33, "pad_token_id": 1}}.get(request.param, {}))
    config.save_pretrained(tmp_path)
    return request.param, config, tmp_path


def shown(path: Path) -> Inspection:
    """An inspection that can be printed and stored."""
    found = inspect_model(path)
    assert printed(found)
    json.dumps(inspection_document(found), allow_nan=False)
    return found


def meta_shapes(config: Any) -> Mapping[str, tuple[int, ...]]:
    """Shapes of the parameters that transformers makes of a config, without their numbers."""
    import torch
    from transformers import AutoModel

    with torch.device("meta"):
        made = AutoModel.from_config(config)
    return {name: tuple(parameter.shape) for name, parameter in made.named_parameters(remove_duplicate=False)}


@pytest.mark.parametrize("saved", TABLES.split(), indirect=True)
def test_tables(saved: tuple[str, Any, Path]) -> None:
    model_type, config, path = saved
    found = shown(path)
    shapes = meta_shapes(config)
    family = find_family(model_type)
    assert family is not None
    stored = names_by_suffix(shapes, WRAPPERS | family.prefixes)
    for stack in found.stacks:
        assert stack.scheme in ("learned", "sinusoidal")
        details = stack.details
        if stack.scheme == "sinusoidal":  # which transformers holds as no parameter
            assert (model_type, details["n_positions"]) == ("whisper", config.max_source_positions)
            continue
        (name,) = stored[details["tensor"]]
        assert details["n_positions"] + details["offset"] == shapes[name][-2]
        projection = details["projection"]
        if projection is None:
            assert stack.sizes["width"] == shapes[name][-1]
        else:
            (weight,) = stored[f"{projection}.weight"]
            assert shapes[weight] == (stack.sizes["width"], shapes[name][-1])
    assert "has no weights" in found.notes[0]


@pytest.mark.parametrize("saved", ROTARY.split(), indirect=True)
def test_rotations(saved: tuple[str, Any, Path]) -> None:
    model_type, config, path = saved
    found = shown(path)
    values = config.to_dict()
    own = model_type if model_type in FAMILIES and "text_config" not in values else values["text_config"]["model_type"]
    right = references(own, values if own == model_type else values["text_config"])
    for stack in found.stacks:
        if stack.scheme == "none":  # layers without rotation
            assert stack.layer_type in ("nope", "full_attention")
            continue
        reference = right.get(None) or right[stack.layer_type]
        lags = np.arange(1, 40)
        angles = lags[:, None] * reference.inv_freq
        expected = np.sqrt((4 * np.sin(angles / 2) ** 2).sum(axis=1))
        got = np.array(stack.lag_distances or ())[: lags.size]
        np.testing.assert_allclose(got / got[0], expected / expected[0], rtol=2e-4)
        assert stack.details["base"] == pytest.approx(stated_base(values, stack), rel=1e-6)
        width = round(stack.details["head_dim"] * stack.details["rotated_share"])
        assert width == 2 * reference.inv_freq.size or stack.details["scaling"] is not None


def stated_base(values: Mapping[str, Any], stack: StackReport) -> float:
    """The base that a default config has: of this type of layers, of all, or in the text part."""
    part = values.get("text_config", values)
    block = part.get("rope_parameters") or {}
    block = block.get(stack.layer_type, block)
    return float(block.get("rope_theta", 10000.0))


@pytest.mark.parametrize("saved", BIASES, indirect=True)
def test_biases(saved: tuple[str, Any, Path]) -> None:
    model_type, config, path = saved
    found = shown(path)
    assert {stack.scheme for stack in found.stacks} == {BIASES[model_type]}
    details = [stack.details for stack in found.stacks]
    if BIASES[model_type] == "t5":
        stated = {(d["n_buckets"], d["max_distance"], d["n_heads"]) for d in details}
        sizes = (config.relative_attention_num_buckets, config.relative_attention_max_distance, config.num_heads)
        assert stated == {sizes}
    elif model_type == "bloom":
        import torch
        from transformers.models.bloom.modeling_bloom import build_alibi_tensor

        theirs = build_alibi_tensor(torch.ones(1, 2, dtype=torch.long), config.n_head, torch.float32)
        np.testing.assert_allclose(details[0]["slopes"], theirs[:, 0, 1].numpy(), rtol=1e-6)
    elif model_type == "mpt":
        assert details[0]["n_heads"] == config.n_heads
    elif BIASES[model_type] == "swin":
        assert [d["n_heads"] for d in details] == list(config.num_heads)
        assert {d["window"] for d in details} == {config.window_size}
        assert [d["n_tables"] for d in details] == list(config.depths)
    else:
        assert (details[0]["width"], details[0]["n_heads"]) == (config.d_model, config.n_head)


@pytest.mark.parametrize("saved", ["marian", "m2m_100"], indirect=True)
def test_sines(saved: tuple[str, Any, Path]) -> None:
    from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
    from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

    model_type, config, path = saved
    if model_type == "marian":
        module = MarianSinusoidalPositionalEmbedding(40, config.d_model, config.pad_token_id)
        rows = module.create_weight().numpy()
    else:
        module = M2M100SinusoidalPositionalEmbedding(40, config.d_model, config.pad_token_id)
        rows = module.weights.numpy()[config.pad_token_id + 1 :]
    expected = np.linalg.norm(rows[1:30] - rows[0], axis=1)
    for stack in shown(path).stacks:
        assert stack.scheme == "sinusoidal"
        np.testing.assert_allclose((stack.lag_distances or ())[:29], expected, rtol=1e-4)


@pytest.mark.parametrize("saved", REFUSED.split(), indirect=True)
def test_refusals_name_the_type_and_the_way_out(saved: tuple[str, Any, Path]) -> None:
    model_type, _, path = saved
    with pytest.raises(CheckpointError) as caught:
        inspect_model(path)
    message = str(caught.value)
    assert f"model_type '{model_type}'" in message
    assert "--tensor NAME" in message or "leave model_type out" in message
    assert "\n" not in message


def test_there_are_forty() -> None:
    read = [*TABLES.split(), *ROTARY.split(), *BIASES, "marian", "m2m_100"]
    assert len(set(read)) == len(read) >= 40
