"""What `inspect` measures, on tables with known answers and on real checkpoints."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import CheckpointError, EncodingError
from posgeom.models.by_hand import ByHand
from posgeom.models.inspection import inspect_model
from posgeom.models.table_measures import lag_profile, measure
from posgeom.report.inspection import inspection_document
from posgeom.scores.effective_rank import effective_rank
from tests.models.raw import bert_tensors, save_bert


def test_a_sinusoidal_table_has_one_distance_per_lag() -> None:
    encoding = sinusoidal(40, 16)
    points, lags = encoding.coordinates(), encoding.lag_distances()
    assert points is not None
    assert lags is not None
    got = measure(points)
    np.testing.assert_allclose(got.lags.mean, lags[1:], rtol=1e-9)
    assert max(got.lags.std) < 1e-9
    assert got.norm_min == pytest.approx(got.norm_max)
    assert got.norm_median == pytest.approx(8**0.5)
    assert got.separation.distance == pytest.approx(lags[1:].min())
    values = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    assert got.effective_rank == pytest.approx(effective_rank(values))


def test_smoothness_tells_order_from_noise() -> None:
    rng = np.random.default_rng(0)
    noise = measure(rng.normal(size=(200, 64)))
    assert noise.smoothness == pytest.approx(1, abs=0.02)
    assert noise.neighbour_cosine == pytest.approx(0, abs=0.03)
    walk = measure(rng.normal(size=(200, 64)).cumsum(axis=0))
    assert walk.smoothness is not None
    assert walk.smoothness < 0.2
    assert walk.neighbour_cosine is not None
    assert walk.neighbour_cosine > 0.9


def test_points_that_coincide_are_undefined_where_they_are() -> None:
    got = measure(np.ones((4, 3)))
    assert (got.smoothness, got.neighbour_cosine, got.effective_rank) == (None, None, 0)
    assert (got.separation.distance, got.separation.pair) == (0, (0, 1))


def test_lags_along_a_grid() -> None:
    rows, columns = np.divmod(np.arange(12), 4)
    got = measure(np.stack([10.0 * rows, columns], axis=1), grid=(3, 4))
    assert got.lags.mean == pytest.approx((1, 2, 3))
    assert got.column_lags is not None
    assert got.column_lags.mean == pytest.approx((10, 20))
    assert lag_profile(np.array([[0.0, 1, 3], [1, 0, 1], [3, 1, 0]])).mean == (1, 3)


def test_reads_the_table_and_nothing_else(tmp_path: Path) -> None:
    found = inspect_model(save_bert(tmp_path / "m"))
    assert found.bytes_read == 24 * 128 * 4
    stack = found.stacks[0]
    assert (stack.scheme, stack.sizes["n_layers"], stack.sizes["head_dim"]) == ("learned", 2, 32)
    assert inspection_document(found)["stacks"][0]["table"]["untrained_from"] is None


def test_a_stored_buffer_of_positions_is_optional(tmp_path: Path) -> None:
    tensors = bert_tensors()
    without = inspect_model(save_bert(tmp_path / "m", tensors))
    tensors["embeddings.position_ids"] = np.arange(24)[None]
    assert inspect_model(save_bert(tmp_path / "m", tensors)).stacks[0].measures == without.stacks[0].measures


def test_a_parameter_that_was_not_gathered(tmp_path: Path) -> None:
    tensors = bert_tensors()
    tensors["embeddings.position_embeddings.weight"] = np.zeros((0,), np.float32)
    with pytest.raises(CheckpointError, match="save a gathered checkpoint"):
        inspect_model(save_bert(tmp_path / "m", tensors))


def test_an_untrained_tail_is_reported_and_left_out(tmp_path: Path) -> None:
    tensors = bert_tensors()
    name = "embeddings.position_embeddings.weight"
    tensors[name][20:] = np.random.default_rng(0).normal(scale=0.02, size=(4, 128))
    found = inspect_model(save_bert(tmp_path / "m", tensors))
    document = inspection_document(found)["stacks"][0]
    assert document["table"]["untrained_from"] == 20
    assert "initializer_range" in document["table"]["untrained"]["rule"]
    assert document["measures"]["last"] == 19
    assert inspect_model(tmp_path / "m", n_positions=23).stacks[0].measures == found.stacks[0].measures
    tensors[name][:] = np.random.default_rng(0).normal(scale=0.02, size=(24, 128))
    assert inspect_model(save_bert(tmp_path / "m", tensors)).stacks[0].measures is None


def test_a_first_part_of_the_table(tmp_path: Path) -> None:
    path = save_bert(tmp_path / "m")
    measures = inspect_model(path, n_positions=5).stacks[0].measures
    assert measures is not None
    assert (measures.first, measures.last, len(measures.lags.mean)) == (0, 4, 4)
    with pytest.raises(EncodingError, match="has 24 positions, n = 25 was asked for"):
        inspect_model(path, n_positions=25)
    with pytest.raises(CheckpointError, match="at least 2"):
        inspect_model(path, n_positions=1)


def test_tensors_by_hand(tmp_path: Path) -> None:
    table = np.random.default_rng(0).normal(size=(12, 6)).astype(np.float32)
    save_file({"pos": table}, tmp_path / "a.safetensors")
    with pytest.raises(CheckpointError, match=r"--tensor NAME.*posgeom.families"):
        inspect_model(tmp_path / "a.safetensors")
    found = inspect_model(tmp_path / "a.safetensors", by_hand=ByHand("pos", 2))
    rows = found.stacks[0].rows
    assert rows is not None
    np.testing.assert_array_equal(rows.points, table[2:])
    with pytest.raises(CheckpointError, match="has no tensor 'gone': it has 'pos'"):
        inspect_model(tmp_path / "a.safetensors", by_hand=ByHand("gone"))
    with pytest.raises(CheckpointError, match="come with --tensor"):
        inspect_model(tmp_path / "a.safetensors", by_hand=ByHand(offset=2))


def test_unknown_families_say_what_to_do(tmp_path: Path) -> None:
    path = save_bert(tmp_path / "m", model_type="newformer")
    with pytest.raises(CheckpointError, match=r"model_type 'newformer', which is not known .*--tensor.*entry point"):
        inspect_model(path)
    with pytest.raises(CheckpointError, match="has no hidden_size"):
        inspect_model(save_bert(tmp_path / "m", hidden_size=None))
    with pytest.raises(CheckpointError, match="num_attention_heads = '-3'"):
        inspect_model(save_bert(tmp_path / "m", num_attention_heads=-3))
    with pytest.raises(CheckpointError, match="position_embedding_type 'relative_key'"):
        inspect_model(save_bert(tmp_path / "m", position_embedding_type="relative_key"))


def test_a_real_albert(data_dir: Path) -> None:
    found = inspect_model(data_dir / "albert-rxn")
    stack = found.stacks[0]
    assert stack.rows is not None
    assert stack.measures is not None
    assert stack.rows.points.shape == (512, 128)
    assert stack.rows.untrained is not None
    assert stack.rows.untrained.initial_norm == pytest.approx(0.226, abs=5e-4)
    assert stack.measures.last == 509
    assert (stack.sizes["n_layers"], stack.sizes["n_uses"]) == (1, 12)


@pytest.mark.models
def test_a_real_bert_in_a_quarter_of_its_memory(minilm: Path) -> None:
    found = inspect_model(minilm, n_positions=128)
    measures = found.stacks[0].measures
    assert measures is not None
    assert measures.separation.distance == pytest.approx(0.1975, abs=5e-5)
    rows = found.stacks[0].rows
    assert rows is not None
    assert rows.points.shape == (512, 384)
    assert rows.untrained is None
    assert found.bytes_read == 512 * 384 * 4
    code = f"""
import resource
from posgeom.models.inspection import inspect_model
from posgeom.models.table_measures import lag_profile, measure
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
inspect_model({str(minilm)!r})
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < (minilm / "model.safetensors").stat().st_size / 4
