"""What a person could hand over by mistake: each is told in one line what it is, and none is misread without a word."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from posgeom.encodings.registry import build_encoding
from posgeom.errors import CheckpointError
from posgeom.models.by_hand import ByHand
from posgeom.models.inspection import inspect_model
from posgeom.models.model import open_model
from tests.models.raw import CONFIG, bert_tensors, entry, file_of, save_bert
from tests.models.test_gguf import LLAMA as GGUF
from tests.models.test_gguf import write

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"
LLAMA = {"model_type": "llama", "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1}
ADAPTER = {"peft_type": "LORA", "base_model_name_or_path": "owner/base"}
QUERY = "model.layers.0.self_attn.q_proj."


def directory(tmp_path: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif name.endswith(".safetensors"):
            save_file(content, path)
        else:
            path.write_text(json.dumps(content))
    return tmp_path


def refusal(path: Path, by_hand: ByHand | None = None) -> str:
    with pytest.raises(CheckpointError) as caught:
        inspect_model(path, by_hand=by_hand)
    assert "\n" not in str(caught.value)
    return str(caught.value)


A_WEIGHT = {"lora_A.weight": np.zeros((2, 4), np.float32)}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"adapter_config.json": ADAPTER, "adapter_model.safetensors": A_WEIGHT}, "it is an adapter to 'owner/base'"),
        ({"tokenizer.json": {}, "tokenizer_config.json": {}}, "it is a tokenizer alone; name the model's directory"),
        ({"checkpoint-5/config.json": CONFIG, "runs/x.json": {}}, "name one of 'checkpoint-5'"),
        (
            {"0_Transformer/config.json": CONFIG, "1_Pooling/config.json": {}},
            "name one of '0_Transformer', '1_Pooling'",
        ),
        ({"a-Q4_K_M.gguf": b"GGUF", "b.gguf": b"GGUF"}, "name one of 'a-Q4_K_M.gguf', 'b.gguf'"),
        ({"notes.txt": b"hello"}, "has no config.json and none of model.safetensors"),
        ({"config.json": {"model_type": ["bert"]}}, "has model_type \"['bert']\": expected a name"),
        ({"config.json": CONFIG, "model.safetensors": POINTER}, "model.safetensors' is a pointer of Git LFS"),
        ({"config.json": CONFIG, "pytorch_model.bin": POINTER}, "pytorch_model.bin' is a pointer of Git LFS"),
        ({"config.json": POINTER}, "config.json' is a pointer of Git LFS in place of the file: run `git lfs pull`"),
        ({"config.json": CONFIG, "model.safetensors": b"<!DOCTYPE html><html>404</html>"}, "of another format"),
        ({"modules.json": [{"path": "", "type": "x.StaticEmbedding"}]}, "has 0 transformers"),
    ],
)
def test_directories_of_another_kind(tmp_path: Path, files: dict[str, Any], message: str) -> None:
    assert message in refusal(directory(tmp_path, files))


def test_a_gguf_file_that_is_a_pointer_or_one_of_several(tmp_path: Path) -> None:
    assert "is a pointer of Git LFS" in refusal(directory(tmp_path, {"a.gguf": POINTER}) / "a.gguf")
    assert "is one of 3 parts" in refusal(write(tmp_path / "b.gguf", GGUF | {"split.count": 3}))


def test_an_index_without_its_shards(tmp_path: Path) -> None:
    places = dict.fromkeys(bert_tensors(), "model-1.safetensors")
    path = directory(tmp_path, {"config.json": CONFIG, "model.safetensors.index.json": {"weight_map": places}})
    assert "names the file 'model-1.safetensors', which is missing" in refusal(path)


def test_an_adapter_beside_a_config_has_no_weights(tmp_path: Path) -> None:
    files = {"config.json": CONFIG, "adapter_config.json": ADAPTER, "adapter_model.safetensors": A_WEIGHT}
    path = directory(tmp_path, files)
    assert "has no weights: what is learned is told by its config alone" in inspect_model(path).notes[0]
    with pytest.raises(CheckpointError, match="has no weights: expected one of"):
        build_encoding(f"model:{path}", n_positions=8, n_dims=4)


PACKED = [
    ({QUERY + "qweight": np.zeros((2, 16), np.int32), QUERY + "qzeros": np.zeros((1, 2), np.int32)}, "packed integers"),
    (
        {QUERY + "weight": np.zeros((128, 1), np.uint8), QUERY + "weight.absmax": np.zeros(4, np.uint8)},
        "packed integers",
    ),
    (file_of({QUERY + "weight": entry("F8_E4M3", [16, 16], 0, 256)}, bytes(256)), "type F8_E4M3, which is not read"),
]


@pytest.mark.parametrize(("weights", "message"), PACKED, ids=["gptq", "bitsandbytes", "fp8"])
def test_quantised_weights_are_no_weights(tmp_path: Path, weights: Any, message: str) -> None:
    config = LLAMA | {"quantization_config": {"quant_method": "x", "bits": 4}}
    path = directory(tmp_path, {"config.json": config, "model.safetensors": weights})
    found = inspect_model(path)
    assert "its config says that weights are quantised" in found.notes[0]
    assert found.stacks[0].scheme == "rotary"
    opened = open_model(path)
    with pytest.raises(CheckpointError, match=message):
        opened.query_key(opened.stacks[0], 0)


TIMM = {"architecture": "vit_tiny", "num_classes": 10, "pretrained_cfg": {}}


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("pos_embed", (1, 10, 6)),
        ("encoder.embed_positions.weight", (10, 6)),
        ("wpe.weight", (10, 6)),
        ("pos_encoder.pe", (10, 1, 6)),
        ("positional_embedding", (10, 6)),
        ("absolute_pos_embed", (1, 10, 6)),
    ],
)
def test_a_table_of_another_library_is_offered_and_read(tmp_path: Path, name: str, shape: tuple[int, ...]) -> None:
    table = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    others = {
        "blocks.0.attn.relative_position_bias_table": np.zeros((9, 2), np.float32),
        "rel_pos_embed": np.zeros((9, 2), np.float32),
        "head.weight": np.zeros((10, 6), np.float32),
    }
    path = directory(tmp_path, {"config.json": TIMM, "model.safetensors": {name: table} | others})
    message = refusal(path)
    assert f"It could be --tensor '{name}' (10 x 6). The" in message
    rows = inspect_model(path, by_hand=ByHand(tensor=name, offset=1)).stacks[0].rows
    assert rows is not None
    np.testing.assert_array_equal(rows.points, table.reshape(10, 6)[1:])


def test_weights_without_a_config(tmp_path: Path) -> None:
    save_bert(tmp_path / "m")
    (tmp_path / "m" / "config.json").unlink()
    for path in (tmp_path / "m", tmp_path / "m" / "model.safetensors"):
        message = refusal(path)
        assert "has no config.json with a model_type" in message
        assert "--tensor 'embeddings.position_embeddings.weight' (24 x 128)" in message


WRONG: tuple[Any, ...] = ("x", -1, 0, 3, [], [1], {}, {"a": 1}, True, None, 10**30, float("nan"), float("inf"), 0.5)


@pytest.mark.slow
@pytest.mark.models
def test_wrong_values_in_every_key_of_every_family(tmp_path: Path) -> None:
    """Each key in turn, with two wrong values of the list, the next two for the next key."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    from posgeom.models.registry import FAMILIES

    path, tried = tmp_path / "config.json", 0
    for name in FAMILIES:
        values = json.loads(json.dumps(CONFIG_MAPPING[name]().to_dict(), default=str))
        for key in (*values, "rope_theta", "rope_scaling", "head_dim", "alibi", "embedding_size"):
            for wrong in (WRONG[tried % len(WRONG)], WRONG[(tried + 7) % len(WRONG)]):
                path.write_text(json.dumps(values | {key: wrong}))
                with suppress(CheckpointError):
                    inspect_model(path, n_positions=4)
            tried += 1
    assert tried > 1000
