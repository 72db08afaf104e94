"""Models as a whole: stacks by name, and sizes that contradict each other."""

from dataclasses import replace
from pathlib import Path

import pytest

from posgeom.errors import CheckpointError
from posgeom.models.model import open_model
from tests.models.raw import save_bert


def test_stacks_by_name(tmp_path: Path) -> None:
    model = open_model(save_bert(tmp_path / "m"))
    assert model.stack() is model.stack("encoder")
    assert repr(model).endswith("bert, encoder>")
    with pytest.raises(CheckpointError, match="has no stack 'vision': it has encoder"):
        model.stack("vision")


def test_key_heads_that_no_groups_can_share(tmp_path: Path) -> None:
    model = open_model(save_bert(tmp_path / "m"))
    with pytest.raises(CheckpointError, match="4 query heads cannot share 3 key heads"):
        model.query_key(replace(model.stack(), n_key_heads=3), 0)


def test_weights_that_contradict_the_config(tmp_path: Path) -> None:
    model = open_model(save_bert(tmp_path / "m", hidden_size=64))
    with pytest.raises(CheckpointError, match=r"has shape \(128, 128\), by its config it has \(64, 64\)"):
        model.query_key(model.stack(), 0)
