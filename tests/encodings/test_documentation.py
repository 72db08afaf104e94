"""docs/encodings.md is true: its code runs, its specs build, and it names every scheme and option."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from posgeom.encodings.registry import SCHEMES, check_spec
from posgeom.encodings.rotary_scaling import Scaling

PAGE = (Path(__file__).parents[2] / "docs" / "encodings.md").read_text()


def test_the_code_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", SCHEMES)
def test_every_scheme_and_option_is_named(name: str) -> None:
    assert f"**{name}**" in PAGE or f"`{name}`" in PAGE
    for option in SCHEMES[name].options:
        assert re.search(rf"[`:,]{option}[`=]", PAGE), option


def test_every_scaling_is_named() -> None:
    for name in Scaling.choices:
        assert f"| `{name}` |" in PAGE


def test_its_exports_are_specs() -> None:
    lines = [line.strip() for line in PAGE.splitlines() if line.startswith("    posgeom export")]
    assert len(lines) == 3
    for line in lines:
        check_spec(shlex.split(line)[2], n_positions=32, n_dims=16)


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (Path(__file__).parents[2] / "docs" / target).exists(), target
