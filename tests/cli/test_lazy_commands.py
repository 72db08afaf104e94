"""The start of the command line: a command is read when it is asked for, and listing them reads none."""

import re
import subprocess
import sys
from importlib import import_module

import typer

import posgeom
from posgeom.cli.main import COMMANDS, app
from tests.cli.helpers import Run

CHECK = """
import sys
from posgeom.cli.main import main
sys.argv = ["posgeom", *sys.argv[1:]]
try:
    main()
except SystemExit:
    print([m for m in ("numpy", "scipy", "tokenizers", "posgeom.options", "importlib.metadata") if m in sys.modules])
"""


def test_listing_the_commands_reads_none_of_them() -> None:
    done = subprocess.run([sys.executable, "-c", CHECK, "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("[]")
    assert all(name in done.stdout for name in COMMANDS)


def test_the_list_says_what_each_command_says(run: Run) -> None:
    group = typer.main.get_command(app)
    listed = " ".join(run("--help").stdout.replace("\u2502", " ").split())
    for name in COMMANDS:
        command = group.commands[name]  # type: ignore[attr-defined]
        assert command.help
        first = " ".join(command.help.split("\n\n")[0].split())
        assert f"{name} {first}" in listed
        assert command.name == name


def test_a_command_that_does_not_exist(run: Run) -> None:
    done = run("analyse")
    assert (done.returncode, "analyze" in done.stderr) == (2, True)


def test_public_names_are_read_when_they_are_asked_for() -> None:
    code = (
        "import sys, posgeom; a = 'numpy' in sys.modules; posgeom.count; b = 'numpy' in sys.modules;"
        "print(a, b, 'posgeom.inference.scorecard' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "False"]
    assert set(posgeom.__all__) <= set(dir(posgeom))
    assert posgeom.__version__


def test_the_names_of_extras_stand_in_the_help(run: Run) -> None:
    """Brackets are markup to what prints the help, which would drop them."""
    named = 0
    for name in COMMANDS:
        source = import_module(f"posgeom.cli.{COMMANDS[name].partition('.')[0]}")
        for extra in re.findall(r"posgeom\[\w+\]", getattr(source, "EPILOG", "")):
            named += 1
            assert extra in run(name, "--help").stdout, name
    assert named >= 5
    assert "posgeom[models]" in run("theory", "necessity", "--help").stdout
