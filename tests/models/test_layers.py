"""Layers against a geometry: every row equals the slow form, and real models give what they give."""

import json
from pathlib import Path

import numpy as np
import pytest

from posgeom.encodings.registry import build_encoding
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import CheckpointError, EncodingError
from posgeom.estimation.build import Geometry, geometry
from posgeom.inference.scoring import stress
from posgeom.models.by_hand import ByHand
from posgeom.models.layers import frequencies_of, layer_scores
from posgeom.models.model import open_model
from posgeom.report.layers import heat_map, layers_document
from tests.conftest import make_counts
from tests.models.raw import bert_tensors, save_bert


@pytest.fixture
def shape() -> Geometry:
    rng = np.random.default_rng(0)
    means = 200 * (1 + np.sin(np.add.outer(np.arange(12) / 3, np.arange(9))))
    return geometry(make_counts(rng.poisson(means, size=(10, 12, 9)) + 1))


def slow(tensors: dict[str, np.ndarray], layer: int, head: int | None, points: np.ndarray, shape: Geometry) -> float:
    query, key = (
        tensors[f"encoder.layer.{layer}.attention.self.{name}.weight"].astype(float) for name in ("query", "key")
    )
    rows = slice(None) if head is None else slice(32 * head, 32 * head + 32)
    value = stress(points @ (query[rows].T @ key[rows]), shape.distances, "scaled")
    assert value is not None
    return value


def test_rows_are_what_they_say(tmp_path: Path, shape: Geometry) -> None:
    tensors = bert_tensors()
    model = open_model(save_bert(tmp_path / "m", tensors))
    own = tensors["embeddings.position_embeddings.weight"][shape.distances.positions].astype(float)
    sines = sinusoidal(12, 128).coordinates(shape.distances.positions)
    assert sines is not None
    for name, points in ((None, own), ("own", own), ("sinusoidal", sines)):
        analysis = layer_scores(model, shape, input=name)
        assert len(analysis.rows) == 2 * 5 * 2
        for layer in range(2):
            for head in (None, 0, 1, 2, 3):
                wanted = slow(tensors, layer, head, points, shape)
                assert analysis.row(layer, head).stress_scaled == pytest.approx(wanted)
    assert [len(row) for row in heat_map(analysis)] == [4, 4]
    assert heat_map(analysis)[1][2] == analysis.row(1, 2).alignment
    assert heat_map(analysis, "stress_scaled")[1][2] == analysis.row(1, 2).stress_scaled
    document = layers_document(analysis)
    assert (document["kernels"], document["kernel_content"], len(document["rows"])) == ([], None, 20)
    with pytest.raises(KeyError):
        analysis.row(9)


def test_the_fresh_copy_shows_the_effect_of_scale(tmp_path: Path, shape: Geometry) -> None:
    model = open_model(save_bert(tmp_path / "m"))
    analysis = layer_scores(model, shape, input="sinusoidal", seed=3)
    again = layer_scores(model, shape, input="sinusoidal", seed=3)
    assert analysis.to_dicts() == again.to_dicts()
    assert layer_scores(model, shape, input="sinusoidal", seed=4).row(0, None, "initial") != analysis.row(
        0, None, "initial"
    )
    fresh = analysis.row(0, None, "initial")
    assert fresh.norm == pytest.approx(0.02**2 * 128 * 128**0.5, rel=0.05)  # E |M|^2 = s^4 d^2 r
    assert fresh.norm < analysis.row(0).norm / 20
    assert fresh.symmetric_share == pytest.approx(0.5, abs=0.05)
    assert not any(row.weights == "initial" for row in layer_scores(model, shape, initial=False).rows)


def test_inputs_that_do_not_fit(tmp_path: Path, shape: Geometry) -> None:
    model = open_model(save_bert(tmp_path / "m"))
    np.save(tmp_path / "narrow.npy", np.random.default_rng(0).normal(size=(12, 5)))
    for name, message in (
        (str(tmp_path / "narrow.npy"), "has 5 dimensions, the layers of .* take 128"),
        ("alibi:form=kernel", "has no coordinates"),
        ("nonsense", "no encoding 'nonsense'"),
    ):
        with pytest.raises(EncodingError, match=message):
            layer_scores(model, shape, input=name)
    with pytest.raises(CheckpointError, match="has no stack 'decoder'"):
        layer_scores(model, shape, stack="decoder")


def test_untrained_positions_are_not_averaged_over(tmp_path: Path, shape: Geometry) -> None:
    tensors = bert_tensors()
    tensors["embeddings.position_embeddings.weight"][10:] = np.random.default_rng(0).normal(scale=0.02, size=(14, 128))
    model = open_model(save_bert(tmp_path / "m", tensors))
    with pytest.raises(CheckpointError, match=r"from 10 on are untrained .* has position 11: count with -n 10"):
        layer_scores(model, shape)
    assert layer_scores(model, shape, input="sinusoidal").rows


@pytest.mark.parametrize("size", [9e29, 1e-36])
def test_extreme_weights_give_numbers(tmp_path: Path, shape: Geometry, size: float) -> None:
    tensors = {name: (np.clip(array, -1, 1) * size).astype(np.float32) for name, array in bert_tensors().items()}
    analysis = layer_scores(open_model(save_bert(tmp_path / "m", tensors)), shape, initial=False)
    json.dumps(layers_document(analysis), allow_nan=False)
    ordinary = {name: np.clip(array, -1, 1) for name, array in bert_tensors().items()}
    wanted = layer_scores(open_model(save_bert(tmp_path / "n", ordinary)), shape, initial=False)
    for row, other in zip(analysis.rows, wanted.rows, strict=True):
        assert row.scores.stress_scaled == pytest.approx(other.scores.stress_scaled, rel=1e-5)
        assert row.scores.symmetric_share == pytest.approx(other.scores.symmetric_share, rel=1e-5)


def test_projections_by_hand(tmp_path: Path, shape: Geometry) -> None:
    path = save_bert(tmp_path / "m", model_type="newformer")
    pattern = "encoder.layer.{layer}.attention.self."
    names = ByHand(query=pattern + "query", key=pattern + "key.weight", n_heads=4)
    analysis = layer_scores(open_model(path, names), shape)
    known = layer_scores(open_model(save_bert(tmp_path / "n")), shape, input="sinusoidal", initial=False)
    trained = [row for row in analysis.rows if row.weights == "trained"]
    assert tuple(trained) == known.rows
    for wrong, message in (
        (ByHand(query=pattern + "query"), "come together"),
        (ByHand(query="a", key="b"), "expected {layer} where"),
        (ByHand(query=pattern + "query", key=pattern + "key", n_heads=4, n_key_heads=3), "4 and 3 heads do not divide"),
        (ByHand(query=pattern + "query", key=pattern + "key", n_heads=3), "3 and 3 heads do not divide"),
        (ByHand(query="{layer}.x", key="{layer}.y"), "has no tensor '0.x.weight'"),
        (ByHand(tensor="embeddings.position_embeddings.weight"), "with --query and --key"),
    ):
        with pytest.raises(CheckpointError, match=message):
            layer_scores(open_model(path, wrong), shape)


def test_frequencies() -> None:
    got = frequencies_of(np.array([5, 2, 5]), np.array([1, 2, 1]))
    assert got is not None
    assert got.tokens.tolist() == [2, 5]
    assert got.shares.tolist() == [0.5, 0.5]
    assert frequencies_of(np.array([], np.int64), np.array([], np.int64)) is None


def test_a_real_albert(data_dir: Path, shape: Geometry) -> None:
    """Its narrow table goes through the map to the width of the layers."""
    model = open_model(data_dir / "albert-rxn")
    analysis = layer_scores(model, shape)
    table = model.checkpoint.read("albert.embeddings.position_embeddings.weight")[shape.distances.positions]
    group = "albert.encoder.albert_layer_groups.0.albert_layers.0.attention."
    points = table @ model.checkpoint.read("albert.encoder.embedding_hidden_mapping_in.weight").T
    product = model.checkpoint.read(group + "query.weight").T @ model.checkpoint.read(group + "key.weight")
    assert analysis.row(0).stress_raw == pytest.approx(stress(points @ product, shape.distances, "raw"))
    assert "12 layers" in " ".join(analysis.notes)


@pytest.mark.models
def test_against_the_projections_of_torch(tmp_path: Path, shape: Geometry) -> None:
    """P M per head, through the model's own linear layers: q.k of one head is x M y."""
    import torch

    from tests.models.small import build, save

    made = build("llama")
    model = open_model(save(made, tmp_path))
    analysis = layer_scores(model, shape)
    points = build_encoding("sinusoidal", n_positions=12, n_dims=16).coordinates(shape.distances.positions)
    x = torch.tensor(points, dtype=torch.float64)
    made = made.double()
    for layer in range(2):
        attention = made.model.layers[layer].self_attn
        with torch.no_grad():
            q = attention.q_proj(x).view(-1, 4, 4)
            k = attention.k_proj(torch.eye(16, dtype=torch.float64)).view(-1, 2, 4)
        for head in range(4):
            moved = (q[:, head] @ k[:, head // 2].T).numpy()
            wanted = stress(moved, shape.distances, "raw")
            assert analysis.row(layer, head).stress_raw == pytest.approx(wanted, rel=1e-5)
    assert len(analysis.kernels) == 8
    assert analysis.kernels[0].values.shape == (12,)
    with pytest.raises(EncodingError, match="no table of its own"):
        layer_scores(model, shape, input="own")
