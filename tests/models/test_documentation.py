"""docs/models.md is true: it names every family, its class works, its commands parse."""

import re
import shlex
from pathlib import Path

import pytest
import typer.testing

from posgeom.cli.main import app
from posgeom.models.config import ModelConfig
from posgeom.models.family import Family
from posgeom.models.registry import FAMILIES
from tests.models.raw import CONFIG

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text()


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_is_named(name: str) -> None:
    table = PAGE.split("## Families")[1].split("###")[0]
    assert re.search(rf"[|,] {re.escape(name)}[ ,|]", table), name
    module = type(FAMILIES[name]).__module__.rsplit(".", 1)[1]
    assert f"`{module}.py`" in table


def test_the_class_is_a_family() -> None:
    code = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
    scope: dict[str, type[Family]] = {}
    exec(code, scope)
    (stack,) = scope["Newformer"]().stacks(ModelConfig(CONFIG, "test"))
    assert (stack.n_heads, stack.head_dim, stack.n_layers) == (4, 32, 2)


def test_commands_parse() -> None:
    lines = [shlex.split(line.strip())[1:] for line in PAGE.splitlines() if line.startswith("    posgeom ")]
    assert len(lines) == 7
    for arguments in lines:
        done = typer.testing.CliRunner().invoke(app, [*arguments, "--help"])
        assert done.exit_code == 0, arguments
        known = set(re.findall(r"--?[a-z][a-z-]*", done.output))
        for argument in arguments:
            assert not argument.startswith("-") or argument in known, argument


def test_the_settings_of_the_untrained_rule() -> None:
    from posgeom.models.position_rows import LEAST_WIDTH, UNTRAINED_SIGMAS

    assert f"within {UNTRAINED_SIGMAS:g}" in " ".join(PAGE.split())
    assert f"Below width {LEAST_WIDTH}" in PAGE


def test_the_pairings_of_gguf_files() -> None:
    from posgeom.models.gguf_model import _PAIRINGS

    for pairing, names in _PAIRINGS.items():
        assert f"| {pairing} | {', '.join(names.split())} |" in PAGE
