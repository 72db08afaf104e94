"""What a config alone tells, what a checkpoint contradicts, and where a model is hidden inside a directory."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from safetensors.numpy import save_file

from posgeom.encodings.registry import build_encoding
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import CheckpointError, PosgeomError
from posgeom.models.inspection import Inspection, inspect_model
from posgeom.report.inspection import inspection_document, print_inspection
from tests.models.raw import CONFIG, bert_tensors, save_bert

GEMMA = {"model_type": "gemma3_text", "hidden_size": 64, "num_attention_heads": 2, "num_hidden_layers": 6}


def of_config(tmp_path: Path, config: dict[str, Any]) -> Inspection:
    (tmp_path / "config.json").write_text(json.dumps(config))
    return inspect_model(tmp_path)


def printed(found: Inspection) -> str:
    console = Console(width=100, record=True)
    with console.capture() as capture:
        print_inspection(found, console)
    return " ".join(capture.get().split())


def test_rotary_positions_need_no_weights(tmp_path: Path) -> None:
    config = {"model_type": "deepseek_v3", "hidden_size": 64, "rope_theta": 1e5, "qk_rope_head_dim": 32}
    found = of_config(tmp_path, config)
    (stack,) = found.stacks
    assert (stack.scheme, stack.details["base"], stack.details["head_dim"]) == ("rotary", 1e5, 32)
    assert found.bytes_read == 0
    assert inspect_model(tmp_path / "config.json").stacks[0].lag_distances == stack.lag_distances
    assert build_encoding(f"model:{tmp_path}", n_positions=8, n_dims=4).n_dims == 32


def test_one_block_for_each_type_of_layers(tmp_path: Path) -> None:
    found = of_config(tmp_path, GEMMA)
    assert [(s.layer_type, s.layers, s.details["base"]) for s in found.stacks] == [
        ("sliding_attention", (0, 1, 2, 3, 4), 1e4),
        ("full_attention", (5,), 1e6),
    ]
    text = printed(found)
    assert "layers of type full_attention (1)" in text
    document = inspection_document(found)
    assert [stack["layer_type"] for stack in document["stacks"]] == ["sliding_attention", "full_attention"]
    json.dumps(document, allow_nan=False)


def test_layers_that_do_not_rotate(tmp_path: Path) -> None:
    config = {"model_type": "llama4_text", "hidden_size": 64, "num_hidden_layers": 4, "head_dim": 16}
    rope, still = of_config(tmp_path, config).stacks
    assert (rope.scheme, rope.layers, still.scheme, still.layers) == ("rotary", (0, 1, 2), "none", (3,))
    assert still.details["temperature"] == {"beta": 0.1, "length": 8192.0, "shift": 1}
    assert "queries times 1 + 0.1 log(1 + floor((i + 1) / 8192))" in printed(inspect_model(tmp_path))


def test_positions_of_time_height_and_width(tmp_path: Path) -> None:
    config = {
        "model_type": "qwen2_vl",
        "head_dim": 128,
        "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
    }
    sizes = {"hidden_size": 1536, "num_attention_heads": 12, "num_hidden_layers": 2}
    found = of_config(tmp_path, config | sizes)
    assert "chunked pairs of time, height and width: 16, 24, 24" in printed(found)


def test_t5_s_buckets_are_known_and_its_numbers_are_not(tmp_path: Path) -> None:
    found = of_config(tmp_path, {"model_type": "t5", "d_model": 64, "num_heads": 2, "d_kv": 8, "num_layers": 1})
    assert [(s.scheme, s.details["n_buckets"], s.lag_distances) for s in found.stacks] == [("t5", 32, None)] * 2
    assert "T5's relative bias, 32 buckets up to lag 128, past only, 2 heads" in printed(found)


def test_falcon_s_alibi_is_divided_by_the_root_of_a_head_s_width(tmp_path: Path) -> None:
    config = {
        "model_type": "falcon",
        "alibi": True,
        "hidden_size": 64,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
    }
    (stack,) = of_config(tmp_path, config).stacks
    assert (stack.scheme, stack.details["slopes"]) == (
        "alibi",
        [slope / 4 for slope in (1 / 4, 1 / 16, 1 / 64, 1 / 256)],
    )
    bias = build_encoding(f"model:{tmp_path}", n_positions=8, n_dims=4).bias
    assert bias is not None
    np.testing.assert_allclose(bias.at_lags(np.array([2]))[:, 0], [-1 / 8, -1 / 32, -1 / 128, -1 / 512])
    (stack,) = of_config(tmp_path, config | {"alibi": False}).stacks
    assert stack.scheme == "rotary"


def test_a_table_is_promised_by_its_config_and_read_from_its_weights(tmp_path: Path) -> None:
    found = of_config(tmp_path, CONFIG)
    (stack,) = found.stacks
    assert (stack.scheme, stack.details["n_positions"], stack.rows, stack.measures) == ("learned", 24, None, None)
    assert "has no weights: what is learned is told by its config alone" in found.notes[0]
    assert "24 positions from row 0, by its config; embeddings.position_embeddings.weight" in printed(found)
    json.dumps(inspection_document(found), allow_nan=False)
    with pytest.raises(CheckpointError, match=r"has no weights: expected one of model\.safetensors"):
        build_encoding(f"model:{tmp_path}", n_positions=8, n_dims=4)


@pytest.mark.parametrize("config", [{"model_type": "newformer", "rope_theta": 1e4, "head_dim": 8}, {"rope_theta": "x"}])
def test_configs_that_are_refused(tmp_path: Path, config: dict[str, Any]) -> None:
    with pytest.raises(PosgeomError, match=r"rotary defaults are not known|expected a number|no width") as caught:
        of_config(tmp_path, config)
    assert "\n" not in str(caught.value)


def test_tables_that_could_be_positions_are_offered(tmp_path: Path) -> None:
    tensors = {"enc.pos_embed": np.zeros((1, 12, 6), np.float32), "enc.other": np.zeros((12, 6), np.float32)}
    save_file(tensors, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text('{"model_type": "newformer"}')
    with pytest.raises(CheckpointError, match=r"It could be --tensor 'enc.pos_embed' \(12 x 6\)\."):
        inspect_model(tmp_path)


def test_code_of_its_own_is_noted(tmp_path: Path) -> None:
    found = inspect_model(save_bert(tmp_path / "m", auto_map={"AutoModel": "modeling.Own"}))
    assert "auto_map" in found.notes[0]
    assert "note" in printed(found)
    assert inspect_model(save_bert(tmp_path / "m")).notes == ()
    quantised = inspect_model(save_bert(tmp_path / "m", quantization_config={"quant_method": "x"}))
    assert "quantised" in quantised.notes[0]


def test_rows_and_widths_that_contradict_the_config(tmp_path: Path) -> None:
    found = inspect_model(save_bert(tmp_path / "m", max_position_embeddings=30))
    assert "has 24 rows, by its config it has 30" in found.notes[0]
    with pytest.raises(CheckpointError, match="has width 128, by its config it has 64"):
        inspect_model(save_bert(tmp_path / "m", hidden_size=64))


DISTILBERT = {"model_type": "distilbert", "dim": 64, "n_heads": 2, "n_layers": 1, "sinusoidal_pos_embds": True}


@pytest.mark.parametrize("half", [False, True])
def test_sinusoidal_is_checked(tmp_path: Path, half: bool) -> None:
    table = sinusoidal(40, 64).coordinates()
    assert table is not None
    (tmp_path / "config.json").write_text(json.dumps(DISTILBERT))
    name = "embeddings.position_embeddings.weight"
    stored = table.astype(np.float16 if half else np.float32)
    save_file({name: stored}, tmp_path / "model.safetensors")
    found = inspect_model(tmp_path)
    assert (found.stacks[0].scheme, found.notes) == ("sinusoidal", ())
    stored[7] += 0.05
    save_file({name: stored}, tmp_path / "model.safetensors")
    found = inspect_model(tmp_path)
    assert found.stacks[0].scheme == "learned"
    assert "should hold sines and cosines by its config" in found.notes[0]


def test_the_transformer_inside_sentence_transformers(tmp_path: Path) -> None:
    save_bert(tmp_path / "0_Transformer")
    modules = [
        {"idx": 0, "path": "0_Transformer", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    rows = inspect_model(tmp_path).stacks[0].rows
    assert rows is not None
    np.testing.assert_array_equal(rows.points, bert_tensors()["embeddings.position_embeddings.weight"])
    modules[0]["path"] = "../elsewhere"
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(CheckpointError, match="expected one inside its directory"):
        inspect_model(tmp_path)
    (tmp_path / "modules.json").write_text("[]")
    with pytest.raises(CheckpointError, match="has 0 transformers"):
        inspect_model(tmp_path)
