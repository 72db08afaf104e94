"""docs/training.md is true where it builds encodings and puts them into models: its code runs, its commands parse."""

import contextlib
import io
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer.testing

from posgeom.cli.main import app
from posgeom.report.files import save_counts
from posgeom.simulation.scenarios import scenarios

PAGE = (Path(__file__).parents[2] / "docs" / "training.md").read_text()
PARTS = {part.split("\n", 1)[0]: part for part in PAGE.split("\n## ")[1:]}
BUILDING = [PARTS[name] for name in ("Build an encoding", "Put it into a model", "In a model of your own")]


def test_the_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    save_counts(scenarios()["rank 3"].draw(np.random.default_rng(0)), "counts.parquet")
    scope: dict[str, Any] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for part in BUILDING:
            (code,) = re.findall(r"```python\n(.*?)```", part, re.DOTALL)
            exec(code, scope)
    lines = printed.getvalue().splitlines()
    assert lines[0].startswith("3 {'value': 0.9")
    assert lines[1].startswith("<Applied mds of a corpus, rank 3: bert.embeddings.position_embeddings.weight, 40 ")
    assert lines[2] == "torch.Size([5, 64]) torch.Size([1, 5, 64])"
    table = scope["training"].position_table(scope["same"])
    assert not table.requires_grad
    expected = torch.tensor(scope["encoding"].coordinates(), dtype=torch.float32)
    factor = float(table.norm() / expected.norm())
    torch.testing.assert_close(table, expected * factor, rtol=1e-5, atol=1e-7)
    assert scope["same"].config.posgeom["fit"]["corpus"]["documents"] == 3000
    assert not hasattr(scope["model"].config, "posgeom")


def test_the_commands_parse() -> None:
    commands = re.findall(r"^    (posgeom .*)$|`(posgeom analyze .*?)`", "".join(BUILDING), re.MULTILINE)
    assert len(commands) == 3
    for words in (shlex.split(a or b)[1:] for a, b in commands):
        done = typer.testing.CliRunner().invoke(app, [*words, "--help"])
        assert done.exit_code == 0, words
