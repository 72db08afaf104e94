"""Rows of Figure 8 for a model with the paper's twelve layers."""

from posgeom.paper.inputs import SST2, Given, Inputs
from posgeom.paper.items import ITEMS
from posgeom.paper.layers import Layers, LayerStresses
from posgeom.paper.result import Row, Verdict


def rows_of(models: dict[str, list[float]], *, is_the_papers: bool = True) -> dict[str, Row]:
    """The rows for models with these raw stresses by layer."""
    inputs = Inputs()
    inputs.given_already[SST2] = Given((None,))
    for name, raw in models.items():
        stresses = LayerStresses(raw, [1.0] * len(raw), {})
        inputs.given_already[Layers(name)] = Given((stresses,), is_the_papers=is_the_papers)
    return {row.quantity: row for row in (quantity.row(inputs) for quantity in ITEMS["fig8"].rows)}


RAW = [900.0, 2000.0, 4900.0, *([1100.0, 1900.0] * 4), 2490.0]


def test_a_model_as_the_paper_has_it() -> None:
    rows = rows_of({"pretrained": RAW, "scratch": [2.0] * 12})
    for quantity, value in (
        ("raw stress, pretrained, layer 3", 4900),
        ("layers 4 to 11, smallest", 1100),
        ("layers 4 to 11, largest", 1900),
        ("layer 12", 2490),
    ):
        ours = rows[quantity].ours
        assert ours is not None
        assert (ours.value, rows[quantity].verdict) == (value, Verdict.AGREES)
    assert rows["scratch, largest, share of the model's mean"].verdict == Verdict.AGREES


def test_a_model_of_another_kind() -> None:
    rows = rows_of({"pretrained": RAW}, is_the_papers=False).values()
    assert {row.verdict for row in rows if row.paper} == {Verdict.OTHER_INPUT, Verdict.NOT_RUN}


def test_without_a_model() -> None:
    assert {row.verdict for row in rows_of({}).values()} == {Verdict.NOT_RUN}
