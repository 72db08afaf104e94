"""Positions inside the attention as an encoding: what transformers' own modules add to logits, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posgeom.encodings.registry import build_encoding
from posgeom.errors import CheckpointError, PosgeomError
from posgeom.estimation.build import geometry
from posgeom.models.inspection import inspect_model
from posgeom.models.layers import layer_scores
from posgeom.models.model import open_model
from posgeom.models.relative_bias import mean_words
from posgeom.models.relative_kinds import Disentangled, RelativeSines
from posgeom.report.inspection import inspection_document
from tests.conftest import make_counts
from tests.models.small import VOCAB, build, save
from tests.models.test_config_alone import printed

N = 9
DEBERTA = {"model_type": "deberta-v2", "hidden_size": 16, "num_attention_heads": 4, "num_hidden_layers": 2}
ALONE = DEBERTA | {"relative_attention": True, "position_biased_input": False, "pos_att_type": "p2c|c2p"}
XLNET = {"model_type": "xlnet", "d_model": 16, "n_head": 4, "n_layer": 2}
SWIN = {"image_size": 16, "patch_size": 2, "embed_dim": 8, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4}


def probabilities(bias: np.ndarray) -> np.ndarray:
    raised = np.exp(bias - bias.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def of_same_tokens(made: Any, layer: int, words: np.ndarray) -> np.ndarray:
    """Attention of a layer of the model itself where every token is the mean of all: content is the same everywhere."""
    import torch

    x = torch.tensor(np.tile(words, (N, 1)), dtype=torch.float32)
    base = made.base_model
    with torch.no_grad():
        if base.config.model_type == "xlnet":
            sines = base.relative_positional_encoding(N, N, bsz=1)
            out = base.layer[layer].rel_attn(x[:, None], None, None, None, sines, None, output_attentions=True)[2]
            return np.asarray(out.permute(2, 3, 0, 1)[0].double().numpy())
        attention = base.encoder.layer[layer].attention.self
        vectors = base.encoder.get_rel_embedding()
        out = attention(x[None], torch.ones(1, 1, N, N), output_attentions=True, rel_embeddings=vectors)[1]
        return np.asarray(out[0].double().numpy())


@pytest.mark.models
@pytest.mark.parametrize("name", ["deberta-v2", "deberta-v2-apart", "deberta-v2-half", "xlnet"])
@pytest.mark.parametrize("layer", [0, 1])
def test_the_expected_bias_is_that_of_the_model_s_own_code(name: str, layer: int, tmp_path: Path) -> None:
    import torch

    made = build(name)
    opened = open_model(save(made, tmp_path))
    positions = opened.stacks[0].positions
    assert isinstance(positions, Disentangled | RelativeSines)
    words = mean_words(opened.tensors, positions.words, 16)
    with torch.no_grad():
        base = made.base_model
        embed = base.word_embedding if name == "xlnet" else base.embeddings
        every = embed(torch.arange(VOCAB)[:, None])
        np.testing.assert_allclose(words, every.mean(dim=(0, 1)).numpy(), atol=1e-6)
    bias = build_encoding(f"model:{tmp_path},layer={layer}", n_positions=N, n_dims=4).bias
    assert bias is not None
    matrix = bias.matrix(np.arange(N))
    assert np.ptp(matrix) > 0.1
    np.testing.assert_allclose(probabilities(matrix), of_same_tokens(made, layer, words), atol=1e-5)
    chosen = geometry(make_counts(np.random.default_rng(0).poisson(5, size=(4, N, 6)) + 1))
    analysis = layer_scores(opened, chosen, heads=False, initial=False)
    kernels = np.stack([kernel.values for kernel in analysis.kernels if kernel.layer == layer])
    last = probabilities(kernels[:, ::-1] * positions.scale)  # of the last query, whose keys are at all lags
    np.testing.assert_allclose(last, of_same_tokens(made, layer, words)[:, -1], atol=1e-5)
    assert len(analysis.rows) == 2
    one = build_encoding(f"model:{tmp_path},layer={layer},head=2", n_positions=N, n_dims=4).bias
    assert one is not None
    np.testing.assert_array_equal(one.matrix(np.arange(N)), matrix[[2]])


@pytest.mark.models
def test_swin_s_bias_of_each_stage_and_layer(tmp_path: Path) -> None:
    made = build("swin")
    save(made, tmp_path)
    for stage in (0, 1):
        for layer in (0, 1):
            spec = f"model:{tmp_path},stack=stage{stage + 1},layer={layer}"
            bias = build_encoding(spec, n_positions=16, n_dims=4).bias
            assert bias is not None
            theirs = made.encoder.layers[stage].blocks[layer].attention.relative_position_bias()[0]
            matrix = bias.matrix(np.arange(16))
            assert np.ptp(matrix) > 1
            np.testing.assert_array_equal(matrix, theirs.detach().double().numpy())
    first = inspect_model(tmp_path).stacks[0]
    assert first.measures is not None
    assert first.measures.column_lags is not None
    assert len(first.measures.column_lags.mean) == 3
    assert first.negative_mass is not None
    text = printed(inspect_model(tmp_path))
    assert "Swin's bias by offset in a window of 4 x 4, a table, 2 heads" in text
    assert "the first of 2" in text


@pytest.mark.models
def test_a_table_of_patches_beside_the_bias(tmp_path: Path) -> None:
    first, second = inspect_model(save(build("swin", use_absolute_embeddings=True), tmp_path)).stacks
    assert [other["scheme"] for other in first.also] == ["learned"]
    assert first.also[0]["n_positions"] == 64
    assert second.also == ()


@pytest.mark.models
@pytest.mark.parametrize("name", ["deberta-v2", "xlnet-past", "swinv2"])
def test_inspected(name: str, tmp_path: Path) -> None:
    found = inspect_model(save(build(name), tmp_path))
    json.dumps(inspection_document(found), allow_nan=False)
    kinds = {"deberta-v2": "deberta", "xlnet-past": "transformer-xl", "swinv2": "swin"}
    assert {stack.scheme for stack in found.stacks} == {kinds[name]}
    words = {
        "deberta-v2": "12 buckets of i - j, logarithmic up to lag 20, for queries and keys, in each layer",
        "xlnet-past": "relative sines of width 16, projected in each layer, past only, lags clipped at 4",
        "swinv2": "computed by a network",
    }
    assert words[name] in printed(found)


@pytest.mark.models
def test_a_layer_that_is_not_there(tmp_path: Path) -> None:
    shared, each = save(build("t5"), tmp_path / "t5"), save(build("umt5"), tmp_path / "umt5")
    first, second = (build_encoding(f"model:{each},layer={i}", n_positions=N, n_dims=4).distances() for i in (0, 1))
    assert not np.allclose(first, second)
    for path, layer, message in ((shared, 1, "has one bias for all layers"), (each, 2, "expected 0 to 1")):
        with pytest.raises(PosgeomError, match=message):
            build_encoding(f"model:{path},layer={layer}", n_positions=N, n_dims=4)


def config_of(tmp_path: Path, values: dict[str, Any]) -> Path:
    (tmp_path / "config.json").write_text(json.dumps(values))
    return tmp_path / "config.json"


@pytest.mark.parametrize(
    ("config", "schemes"),
    [
        (ALONE, ["deberta"]),
        (XLNET, ["transformer-xl"]),
        (SWIN | {"model_type": "swin"}, ["swin", "swin"]),
        (SWIN | {"model_type": "swinv2"}, ["swin", "swin"]),
    ],
)
def test_a_config_alone_tells_the_scheme_and_not_its_numbers(
    tmp_path: Path, config: dict[str, Any], schemes: list[str]
) -> None:
    found = inspect_model(config_of(tmp_path, config))
    assert [stack.scheme for stack in found.stacks] == schemes
    assert all(stack.lag_distances is None and stack.measures is None for stack in found.stacks)
    assert found.bytes_read == 0
    printed(found)


def test_windows_of_an_earlier_training_set_the_scale(tmp_path: Path) -> None:
    config = SWIN | {"model_type": "swinv2", "pretrained_window_sizes": [0, 3], "window_size": 6}
    stacks = open_model(config_of(tmp_path, config)).stacks
    assert [(s.positions.window, s.positions.reach) for s in stacks] == [(6, 5), (4, 2)]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (ALONE | {"pos_att_type": ["p2p"]}, "expected c2p, p2c or both"),
        (ALONE | {"type_vocab_size": 2}, "has type_vocab_size = '2' and relative positions alone"),
        (ALONE | {"relative_attention": False}, "it has no positions"),
        (XLNET | {"bi_data": True}, "half of a batch is read backwards"),
        (XLNET | {"attn_type": "both"}, "expected bi or uni"),
        (SWIN | {"model_type": "swin", "num_heads": [2]}, "has 2 depths, 1 num_heads"),
        (SWIN | {"model_type": "swin", "depths": 4}, "expected a list of whole numbers from 1"),
        (SWIN | {"model_type": "swinv2", "pretrained_window_sizes": [1, 1]}, "expected whole numbers that are not 1"),
    ],
)
def test_configs_that_are_refused(tmp_path: Path, config: dict[str, Any], message: str) -> None:
    with pytest.raises(CheckpointError, match=message) as caught:
        inspect_model(config_of(tmp_path, config))
    assert "\n" not in str(caught.value)
