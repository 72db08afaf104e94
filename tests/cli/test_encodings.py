"""``posgeom encodings``."""

import json

import pytest

from posgeom.encodings.registry import SCHEMES
from tests.cli.helpers import Run, refused


def test_the_list(run: Run) -> None:
    done = run("encodings")
    assert (done.returncode, done.stderr) == (0, "")
    for name, scheme in SCHEMES.items():
        assert f"\n{name} " in done.stdout
        assert scheme.source.split(";")[0].split(",")[0] in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.parametrize("name", ["rope", "nope", "mds", "learned"])
def test_one_scheme(run: Run, name: str) -> None:
    done = run("encodings", name)
    assert (done.returncode, done.stderr) == (0, "")
    for option in SCHEMES[name].options:
        assert f"\n{option} " in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "`" not in done.stdout


def test_json(run: Run) -> None:
    entries = json.loads(run("encodings", "--json").stdout)
    assert [entry["name"] for entry in entries] == [*SCHEMES, "model"]
    assert json.loads(run("encodings", "rope", "--json").stdout) == entries[1]


def test_help_and_unknown_names(run: Run) -> None:
    assert "Examples" in run("encodings", "--help").stdout
    refused(run("encodings", "spiral\x1b[31m"), "no encoding 'spiral\\x1b[31m'", "sinusoidal, rope")
