"""`posgeom demo`."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.helpers import Run


@pytest.mark.slow
def test_demo(run: Run, tmp_path: Path) -> None:
    done = run("demo", "--out", "demo")
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert re.search(r"Of the squared distance .* (\d+) % \(.*\) is sampling noise", text)
    assert "By these plain distances the encoding that has most of the geometry is random" in text
    assert re.search(r"and random has least \(0\.\d\d, ", text)
    assert "Indentation makes the first columns unlike each other" in text
    assert text.index("report: 'demo/docstrings/report.html'") < text.index("encoding ment of it")  # tables come behind
    assert run("demo", "--out", "demo", "--quiet").returncode == 0  # again, into the same place
    for name in ("docstrings", "source-lines"):
        assert json.loads((tmp_path / "demo" / name / "scores.json").read_text())["schema_version"] == 2
    words = json.loads((tmp_path / "demo" / "docstrings" / "scores.json").read_text())
    assert words["corpus"]["documents"] > 5_000
    assert words["noise_share"]["value"] > 0.6
    source = json.loads((tmp_path / "demo" / "source-lines" / "scores.json").read_text())
    assert source["corpus"]["documents"] > 50_000
    assert source["tokenizer"]["kind"] == "chars"
