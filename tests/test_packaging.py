"""What users of the package meet: its types from outside, its lowest dependencies, its links."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAGES = [path for folder in (ROOT, ROOT / "docs") for path in sorted(folder.glob("*.md"))]


def pinned(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w-]+)==(\S+)$", (ROOT / "constraints" / name).read_text(), re.MULTILINE))


@pytest.mark.slow
def test_its_types_are_seen_from_outside(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(
        "import posgeom as pg\n"
        "reveal_type(pg.count_texts(['a b'], n_positions=2))\n"
        "pg.count_texts(3)  # type: ignore[arg-type]\n"
    )
    environment = {name: value for name, value in os.environ.items() if name not in ("MYPYPATH", "PYTHONPATH")}
    command = [sys.executable, "-m", "mypy", "--strict", "user.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'Revealed type is "posgeom.counts.position_counts.PositionCounts"' in done.stdout


def test_the_lowest_versions_are_tested() -> None:
    """The constraints say what `test-lowest` installs: the bounds of all that is not for development or for torch."""
    extras = PROJECT["optional-dependencies"]
    bounds = [
        *PROJECT["dependencies"],
        *(one for name in ("bio", "conllu", "dask", "datasets", "fast", "report") for one in extras[name]),
    ]
    lowest = pinned("lowest.txt")
    assert {bound.split(">=")[0] for bound in bounds} == set(lowest)
    for bound in bounds:
        name, version = bound.split(">=")
        assert re.fullmatch(rf"{re.escape(version)}(\.0)*", lowest[name]), bound


def test_the_hook_has_the_version_that_is_tested() -> None:
    (version,) = re.findall(r"ruff-pre-commit\n +rev: v(\S+)", (ROOT / ".pre-commit-config.yaml").read_text())
    assert version == pinned("test.txt")["ruff"]


def anchors(page: Path) -> set[str]:
    """What may follow # in a link to a page: its headings, as forges name them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" not in target:
            name, _, anchor = target.partition("#")
            other = page.parent / name if name else page
            assert other.exists(), target
            assert not anchor or anchor in anchors(other), target
