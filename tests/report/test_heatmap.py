import re
from pathlib import Path

import numpy as np
import pytest

from posgeom.errors import PosgeomError
from posgeom.report import heatmap
from posgeom.report.heatmap import draw, layer_head_heatmap

VALUES = np.array([[0.0, 0.5, np.nan], [1.0, 0.25, 0.75]])


def test_cells_carry_their_numbers_and_undefined_ones_no_colour(tmp_path: Path) -> None:
    draw(layer_head_heatmap(VALUES, name="scaled stress", title="a & <b>"), tmp_path / "h.svg")
    svg = (tmp_path / "h.svg").read_text()
    found = re.findall(r'aria-label="head: (\d); layer: (\d); scaled stress: ([^"]+)"[^>]*fill="([^"]+)"', svg)
    numbers = {(int(layer), int(head)): float(value) for head, layer, value, _ in found if value != "null"}
    assert numbers == {cell: value for cell, value in np.ndenumerate(VALUES) if np.isfinite(value)}
    colours = {(int(layer), int(head)): fill for head, layer, _, fill in found}  # the last drawn is on top
    assert colours[0, 2] == heatmap._UNDEFINED
    assert colours[0, 0] == "rgb(68, 1, 84)"  # the two ends of viridis
    assert colours[1, 0] == "rgb(253, 231, 37)"
    assert "a &amp; &lt;b&gt;" in svg


def test_other_forms(tmp_path: Path) -> None:
    chart = layer_head_heatmap(VALUES, name="x", title="t")
    for suffix, magic in ((".png", b"\x89PNG"), (".pdf", b"%PDF")):
        draw(chart, tmp_path / f"h{suffix}")
        assert (tmp_path / f"h{suffix}").read_bytes().startswith(magic)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heatmap, "find_spec", lambda _: None)
    with pytest.raises(PosgeomError, match=r"pip install 'posgeom\[report\]'"):
        layer_head_heatmap(VALUES, name="x", title="t")
