"""Checkpoints in torch's own format: its weights-only loader or nothing."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posgeom.errors import CheckpointError
from posgeom.models.checkpoint import open_checkpoint
from posgeom.models.model import open_model
from tests.models.small import build

pytestmark = pytest.mark.models


@pytest.mark.parametrize("new", [True, False])
def test_state_dicts(tmp_path: Path, new: bool) -> None:
    import torch

    values = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.ones(2, 2, dtype=torch.bfloat16), "step": 3}
    for nested in (values, {"state_dict": values}, {"model": values}):
        torch.save(nested, tmp_path / "a.pt", _use_new_zipfile_serialization=new)
        checkpoint = open_checkpoint(tmp_path / "a.pt")
        assert sorted(checkpoint.names) == ["a", "b"]
        assert checkpoint.read("a", slice(1, 2)).tolist() == [[3, 4, 5]]
        assert checkpoint.entry("b").dtype == "BF16"
        np.testing.assert_array_equal(checkpoint.read("b"), np.ones((2, 2)))


def test_a_pickle_that_would_run_code(tmp_path: Path) -> None:
    import torch

    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (tmp_path / "sprung",)

    torch.save({"x": Trap()}, tmp_path / "a.bin")
    with pytest.raises(CheckpointError, match="weights-only loader refuses it") as refusal:
        open_checkpoint(tmp_path / "a.bin")
    assert "\n" not in str(refusal.value)
    assert not (tmp_path / "sprung").exists()


def test_no_tensors(tmp_path: Path) -> None:
    import torch

    torch.save([1, 2], tmp_path / "a.pt")
    with pytest.raises(CheckpointError, match="holds no tensors by name"):
        open_checkpoint(tmp_path / "a.pt")
    (tmp_path / "b.pt").write_bytes(b"nonsense")
    with pytest.raises(CheckpointError, match=r"b.pt"):
        open_checkpoint(tmp_path / "b.pt")


def test_a_model_saved_as_a_pickle(tmp_path: Path) -> None:
    import torch

    made = build("bert")
    made.config.save_pretrained(tmp_path)
    torch.save(made.state_dict(), tmp_path / "pytorch_model.bin")
    opened = open_model(tmp_path)
    weight = made.encoder.layer[1].attention.self.query.weight.detach().numpy()
    np.testing.assert_array_equal(opened.query_key(opened.stacks[0], 1).query.reshape(16, 16), weight)


def test_sharded_by_transformers_and_half_precision(tmp_path: Path) -> None:
    import torch

    for kind in (torch.bfloat16, torch.float16):
        made = build("llama").to(kind)
        made.save_pretrained(tmp_path / str(kind), max_shard_size="2KB")
        assert len(list((tmp_path / str(kind)).glob("model-*.safetensors"))) > 2
        opened = open_model(tmp_path / str(kind))
        stack = opened.stacks[0]
        got = opened.query_key(stack, 1)
        attention = made.model.layers[1].self_attn
        np.testing.assert_array_equal(got.query.reshape(16, 16), attention.q_proj.weight.float().detach().numpy())
        np.testing.assert_array_equal(got.key.reshape(8, 16), attention.k_proj.weight.float().detach().numpy())
