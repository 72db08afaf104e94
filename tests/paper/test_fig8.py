"""Rows of Figure 8 for a model with the paper's twelve layers."""

from posgeom.paper.fig8 import _rows, _Scored, _Stresses
from posgeom.paper.result import Verdict


def scored(raw: list[float], *, is_the_papers: bool = True) -> _Scored:
    stresses = _Stresses(raw, [1.0] * len(raw), [0.2] * len(raw), [0.3] * len(raw))
    return _Scored(stresses, stresses, None, is_the_papers)


RAW = [900.0, 2000.0, 4900.0, *([1100.0, 1900.0] * 4), 2490.0]


def test_a_model_as_the_paper_has_it() -> None:
    rows = {row.quantity: row for row in _rows({"pretrained": scored(RAW), "scratch": scored([2.0] * 12)})}
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
    rows = _rows({"pretrained": scored(RAW, is_the_papers=False)})
    assert {row.verdict for row in rows if row.paper} == {Verdict.OTHER_INPUT, Verdict.NOT_RUN}


def test_without_a_model() -> None:
    assert {row.verdict for row in _rows({})} == {Verdict.NOT_RUN}
