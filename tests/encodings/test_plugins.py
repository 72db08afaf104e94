"""Schemes of other packages, from a real package that is on the path."""

import subprocess
import sys
from pathlib import Path

import pytest

from posgeom.encodings.catalog import catalog
from posgeom.encodings.plugins import load_plugin, plugin_names
from posgeom.encodings.registry import build_encoding
from posgeom.errors import EncodingError

MODULE = '''
"""An encoding of another package."""
import numpy as np
from posgeom import Encoding, PointEncoding


class Clock(PointEncoding):
    """Positions on a circle.

    Parameters
    ----------
    period : float
        Positions around the circle.
    """

    def __init__(self, n_positions: int, *, period: float = 12.0) -> None:
        angles = 2 * np.pi * np.arange(n_positions) / period
        super().__init__("clock", np.stack([np.cos(angles), np.sin(angles)], axis=1))


def matrix(n_positions: int, n_dims: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n_positions, n_dims))


def failing(n_positions: int) -> Encoding:
    raise RuntimeError("no luck\\nat all")


NUMBER = 3
'''


def install(directory: Path, name: str, module: str, entries: str) -> None:
    """What `pip install --target` leaves of a package."""
    (directory / f"{name}.py").write_text(module)
    info = directory / f"{name}-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text(f"[posgeom.encodings]\n{entries}\n")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    entries = ["clock = clocks:Clock", "noise = clocks:matrix", "failing = clocks:failing", "number = clocks:NUMBER"]
    install(tmp_path, "clocks", MODULE, "\n".join([*entries, "gone = clocks:Gone", "sinusoidal = clocks:Clock"]))
    install(
        tmp_path,
        "broken_pack",
        "import no_such_module_of_anybody\n",
        "broken = broken_pack:build\nnoise = broken_pack:x",
    )
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def build(spec: str) -> object:
    return build_encoding(spec, n_positions=24, n_dims=6)


def test_a_class_and_a_function_of_another_package(packages: Path) -> None:
    assert repr(build("clock:period=24")) == "<Encoding clock:period=24: n = 24, d = 2>"
    encoding = build_encoding("clock:period=24", n_positions=24, n_dims=6)
    assert encoding.distances()[0, 12] == pytest.approx(2)
    assert (encoding.scheme, dict(encoding.options)) == ("clock", {"period": 24.0})
    entry = next(e for e in catalog() if e["name"] == "clock")
    assert entry["source"] == "package 'clocks 1.5'"
    assert entry["options"][0]["help"] == "Positions around the circle."


def test_a_broken_package_is_named_when_asked_for_and_harms_no_other(packages: Path) -> None:
    assert plugin_names() == ["broken", "clock", "failing", "gone", "model", "noise", "number", "sinusoidal"]
    assert build("clock")
    cause = "ModuleNotFoundError: No module named 'no_such_module_of_anybody'"
    message = f"encoding 'broken' of package 'broken_pack 1.5' cannot be loaded: {cause}"
    with pytest.raises(EncodingError, match=message):
        build("broken:x=1")
    errors = {entry["name"]: entry.get("error") for entry in catalog()}
    assert errors["broken"] == message
    assert errors["clock"] is None
    assert errors["rope"] is None


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gone", "package 'clocks 1.5' cannot be loaded: AttributeError"),
        ("number", "package 'clocks 1.5' is no function or class"),
        ("noise", "offered by 'broken_pack 1.5' and by 'clocks 1.5'|offered by 'clocks 1.5' and by 'broken_pack 1.5'"),
        ("failing", r"failing \(package 'clocks 1.5'\) failed: RuntimeError: no luck at all$"),
        ("clock:hours=3", "no option 'hours' here; known: period"),
    ],
)
def test_what_other_packages_do_wrong(packages: Path, spec: str, message: str) -> None:
    with pytest.raises(EncodingError, match=message) as caught:
        build(spec)
    assert "\n" not in str(caught.value)


def test_posgeoms_own_names_stay_its_own(packages: Path) -> None:
    assert build_encoding("sinusoidal", n_positions=24, n_dims=6).n_dims == 6
    assert load_plugin("no-such-scheme") is None


@pytest.mark.slow
def test_the_command_line_sees_them(packages: Path, tmp_path: Path) -> None:
    code = "from posgeom.cli.main import main; main()"

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=tmp_path,
            env={"PYTHONPATH": str(packages)},
            capture_output=True,
            text=True,
            check=False,
        )

    listed = run("encodings")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "broken_pack 1.5" in listed.stdout
    done = run("export", "clock", "-n", "24", "-o", "clock.npy")
    assert (done.returncode, done.stderr) == (0, "")
    failed = run("export", "broken", "-o", "broken.npy")
    assert failed.returncode == 2
    assert failed.stderr.startswith("posgeom: error: encoding 'broken' of package 'broken_pack 1.5' cannot be loaded")
    assert failed.stderr.count("\n") == 1
