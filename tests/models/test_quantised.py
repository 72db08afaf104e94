"""Integer weights: dequantised where a scale by row is stored, refused by name otherwise."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from posgeom.errors import CheckpointError
from posgeom.models.checkpoint import Checkpoint, open_checkpoint
from posgeom.models.model import open_model
from tests.models.raw import bert_tensors, save_bert

INTEGERS = np.array([[1, -2, 3], [4, 5, -127]], np.int8)
SCALE = np.array([0.5, 0.25], np.float32)


def saved(tmp_path: Path, **tensors: np.ndarray) -> Checkpoint:
    save_file({name.replace("__", "."): value for name, value in tensors.items()}, tmp_path / "a.safetensors")
    return open_checkpoint(tmp_path / "a.safetensors")


def test_a_scale_for_each_row(tmp_path: Path) -> None:
    expected = INTEGERS * SCALE[:, None]
    by_row = saved(tmp_path, q__weight=INTEGERS, q__weight_scale=SCALE[:, None])
    np.testing.assert_array_equal(by_row.read("q.weight"), expected)
    np.testing.assert_array_equal(by_row.read("q.weight", slice(1, 2)), expected[1:])
    bits_and_bytes = saved(tmp_path, q__weight=INTEGERS, q__SCB=127 * SCALE)
    np.testing.assert_allclose(bits_and_bytes.read("q.weight"), expected)
    one = saved(tmp_path, q__weight=INTEGERS, q__weight_scale=np.array(2, np.float32))
    np.testing.assert_array_equal(one.read("q.weight"), 2.0 * INTEGERS)


@pytest.mark.parametrize(
    "tensors",
    [
        {"q__weight": INTEGERS},
        {"q__weight": INTEGERS.astype(np.int64)},
        {"q__weight": INTEGERS.astype(np.uint8), "q__weight.absmax": SCALE},
        {"q__weight": INTEGERS, "q__weight_scale": SCALE, "q__weight_zero_point": INTEGERS[:, :1]},
    ],
)
def test_integers_without_a_known_scale(tmp_path: Path, tensors: dict[str, np.ndarray]) -> None:
    with pytest.raises(CheckpointError, match=r"'q.weight' holds [IU]\d+ values, quantised without a scale"):
        saved(tmp_path, **tensors).read("q.weight")


def test_scales_of_groups(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"has 6 scales for 'q.weight': expected one, or one for each row"):
        saved(tmp_path, q__weight=INTEGERS, q__weight_scale=np.ones((2, 3), np.float32)).read("q.weight")


def test_packed_weights_are_refused_by_name(tmp_path: Path) -> None:
    tensors = bert_tensors()
    name = "encoder.layer.0.attention.self.query"
    tensors[f"{name}.qweight"] = tensors.pop(f"{name}.weight").astype(np.int32)
    opened = open_model(save_bert(tmp_path / "m", tensors))
    with pytest.raises(CheckpointError, match=r"query.qweight' for .*query.weight', packed integers"):
        opened.query_key(opened.stacks[0], 0)
