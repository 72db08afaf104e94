"""The notebooks run, what they claim holds, and what is stored in them is what they show."""

import json
from pathlib import Path

import pytest

from tests.examples import EXAMPLES, read, run

NAMES = ("researcher.ipynb", "engineer.ipynb")
_VEGA_LITE = "application/vnd.vegalite.v"


def kinds(types: set[str]) -> set[str]:
    """Types without their versions."""
    return {_VEGA_LITE if kind.startswith(_VEGA_LITE) else kind for kind in types}


@pytest.mark.slow
def test_the_researchers_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names, outputs = run(NAMES[0], lambda: capsys.readouterr().out)
    alignments = [
        {name: analysis.scorecard[name].alignment for name in ("random", "sinusoidal", "alibi")}
        for analysis in (names["plain"], names["sound"])
    ]
    assert max(alignments[0], key=alignments[0].__getitem__) == "random"
    assert min(alignments[1], key=alignments[1].__getitem__) == "random"
    assert names["sound"].significance.rank > 1  # further axes beside the line
    latex = outputs[-1][0]
    assert latex.count(r"\verb|") == len(names["sound"].scorecard)
    assert "% crossval estimate, " in latex
    stored = [cell["outputs"] for cell in read(NAMES[0])]
    for (text, types), kept in zip(outputs, stored, strict=True):
        assert bool(text) == any(output["output_type"] == "stream" for output in kept)
        shown = {kind for output in kept for kind in output.get("data", {})}
        assert kinds(shown) == kinds(types)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_engineers_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names, _ = run(NAMES[1], lambda: capsys.readouterr().out)
    card = names["card"]
    fitted = card["fitted"]
    assert all(fitted.intervals["alignment"].low > card[name].intervals["alignment"].high for name in names["rivals"])
    assert names["again"]["fitted"].alignment == pytest.approx(fitted.alignment, abs=1e-6)
    assert not names["path"].parent.exists()


@pytest.mark.parametrize("name", NAMES)
def test_what_is_stored_in_a_notebook(name: str) -> None:
    """Every cell was run, in order, without an error; charts are pictures too; nothing names a machine or is large."""
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    assert len(text) < 500_000
    assert not [place for place in ("/home/", "/root/", "/tmp/", "/work/", "/Users/") if place in text]
    cells = read(name)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} <= {"stream", "execute_result", "display_data"}
    assert not [output for output in outputs if output.get("name") == "stderr"]
    for output in outputs:
        data = output.get("data", {})
        if _VEGA_LITE in json.dumps(sorted(data)):
            assert {"image/svg+xml", "image/png"} & data.keys()
            assert "text/html" not in data
