"""`posgeom demo`."""

import json
from pathlib import Path

import pytest

from tests.cli.helpers import Run


@pytest.mark.slow
def test_demo(run: Run, tmp_path: Path) -> None:
    done = run("demo", "--out", "demo")
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert "Three regimes make a geometry of few dimensions" in text
    assert "Indentation makes the first columns unlike each other" in text
    assert run("demo", "--out", "demo", "--quiet").returncode == 0  # again, into the same place
    for name in ("synthetic", "source-lines"):
        assert json.loads((tmp_path / "demo" / name / "scores.json").read_text())["schema_version"] == 2
    source = json.loads((tmp_path / "demo" / "source-lines" / "scores.json").read_text())
    assert source["corpus"]["documents"] > 50_000
    assert source["tokenizer"]["kind"] == "chars"
