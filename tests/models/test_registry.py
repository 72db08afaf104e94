"""Families of other packages, and of this process."""

import sys
from pathlib import Path

import pytest

from posgeom.errors import CheckpointError
from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import BERT_LAYOUT, encoder_stack
from posgeom.models.family import Family, PositionTable, Stack
from posgeom.models.inspection import inspect_model
from posgeom.models.registry import FAMILIES, find_family, model_types, register_family
from tests.models.raw import save_bert

MODULE = """
from posgeom.models.families.bert import Bert

class New(Bert):
    model_types = ("newformer",)

class Broken:
    def __init__(self):
        raise RuntimeError("no luck\\nat all")

NUMBER = 3
"""


def install(directory: Path, name: str, entries: str) -> None:
    """What `pip install --target` leaves of a package."""
    (directory / f"{name}.py").write_text(MODULE)
    info = directory / f"{name}-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text(f"[posgeom.families]\n{entries}\n")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / "packages"
    directory.mkdir()
    entries = ["newformer = newfamily:New", "broken = newfamily:Broken", "number = newfamily:NUMBER"]
    install(directory, "newfamily", "\n".join([*entries, "gone = newfamily:Gone", "bert = newfamily:NUMBER"]))
    install(directory, "otherfamily", "number = otherfamily:NUMBER")
    monkeypatch.syspath_prepend(str(directory))
    for name in ("newfamily", "otherfamily"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.mark.usefixtures("packages")
def test_a_family_of_another_package(tmp_path: Path) -> None:
    found = inspect_model(save_bert(tmp_path / "m", model_type="newformer"))
    assert found.stacks[0].scheme == "learned"
    assert "newformer" in model_types()
    assert find_family("bert") is FAMILIES["bert"]


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("broken", "newfamily 1.5.*cannot be loaded: RuntimeError: no luck at all"),
        ("gone", "cannot be loaded: AttributeError"),
        ("number", "offered by .* and by .*: uninstall one"),
    ],
)
def test_what_is_wrong_with_a_package_is_one_line(name: str, message: str) -> None:
    with pytest.raises(CheckpointError, match=message) as refusal:
        find_family(name)
    assert "\n" not in str(refusal.value)


def test_a_family_of_this_process(tmp_path: Path) -> None:
    class Mine(Family):
        model_types = ("mine",)

        def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
            return (
                encoder_stack(config, PositionTable("embeddings.position_embeddings.weight", offset=4), BERT_LAYOUT),
            )

    register_family(Mine())
    rows = inspect_model(save_bert(tmp_path / "m", model_type="mine")).stacks[0].rows
    assert rows is not None
    assert rows.points.shape[0] == 20

    class Taken(Mine):
        model_types = ("bert",)

    with pytest.raises(CheckpointError, match="posgeom's own"):
        register_family(Taken())
    with pytest.raises(CheckpointError, match="expected a Family"):
        register_family(3)  # type: ignore[arg-type]
    assert find_family("nobody") is None
