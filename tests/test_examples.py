"""The notebooks run from top to bottom, and what they hold was made by running them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))


def cells(notebook: Path) -> list[str]:
    return [
        "".join(cell["source"]) for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(notebook: Path, tmp_path: Path) -> None:
    code = "\n".join(cells(notebook))
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_its_outputs_are_there(notebook: Path) -> None:
    document = json.loads(notebook.read_text())
    code = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    kinds = {kind for cell in code for output in cell["outputs"] for kind in output.get("data", {})}
    assert {"text/html", "image/svg+xml"} <= kinds
    text = notebook.read_text()
    assert '"output_type": "error"' not in text
    assert os.fspath(Path.home()) not in text
    assert len(text) < 2_000_000
