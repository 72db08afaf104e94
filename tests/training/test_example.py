"""The notebook for engineers, with torch: the encoding goes into a model and comes back frozen."""

from pathlib import Path

import pytest

from tests.examples import read, run


@pytest.mark.slow
def test_the_engineers_notebook_puts_the_encoding_into_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names, outputs = run("engineer.ipynb", lambda: capsys.readouterr().out)
    (text,) = (text for text, _ in outputs if text.startswith("fresh"))
    fresh, applied = (float(line.split()[-1]) for line in text.splitlines()[:2])
    assert fresh < applied == pytest.approx(names["card"]["fitted"].alignment, abs=1e-3)
    assert text.splitlines()[2] == "frozen after loading: True"
    stored = [line for cell in read("engineer.ipynb") for output in cell["outputs"] for line in output.get("text", [])]
    assert "frozen after loading: True" in "".join(stored)
