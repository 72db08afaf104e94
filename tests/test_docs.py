"""The documentation site: it builds strictly, names all that is public, and its commands print what it shows."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import posgeom
from posgeom.report.glossary import GLOSSARY
from tests.cli.helpers import posgeom as run_posgeom

DOCS = Path(__file__).parents[1] / "docs"
MASKED = re.compile(r"[-+<>]*\d[\d,.e%-]*")


def fenced(page: str) -> list[tuple[str, str]]:
    """Language and content of each block of code of a page."""
    return re.findall(r"^```(\w+)\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)


def masked(text: str) -> list[str]:
    """Lines without their numbers, and with single spaces: the docstrings are those of one version of Python."""
    return [" ".join(MASKED.sub("#", line).split()) for line in text.splitlines()]


def run_block(language: str, code: str, cwd: Path) -> str:
    if language == "python":
        done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=cwd, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), code
        return done.stdout
    printed = []
    for line in code.splitlines():
        program, *arguments = shlex.split(line)
        if program == "python":
            assert arguments[0] == "-c"
            printed.append(run_block("python", arguments[1], cwd))
            continue
        assert program == "posgeom", line
        done = run_posgeom(*arguments, cwd=cwd)
        assert done.returncode == 0, line
        assert all(told.startswith("note: ") for told in done.stderr.splitlines()), done.stderr
        printed.append(done.stdout)
    return "".join(printed)


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(DOCS), str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "site" / "concepts.html").read_text()
    assert "<math" in page
    assert not re.search(r'<script[^>]+src="https?:', page)


def test_the_reference_has_every_public_name_once() -> None:
    listed = re.findall(r"^\.\. (?:auto\w+|py:data):: posgeom\.(\w+)$", (DOCS / "api.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(posgeom.__all__)


def test_the_glossary_is_that_of_the_report() -> None:
    terms = "\n".join(f"**{term}**\n: {meaning}\n" for term, meaning in GLOSSARY)
    page = f"# Glossary\n\nThe terms of the report, as its page explains them.\n\n{terms}"
    if os.environ.get("POSGEOM_WRITE_DOCS"):
        (DOCS / "glossary.md").write_text(page)
    assert (DOCS / "glossary.md").read_text() == page


@pytest.mark.slow
def test_the_tutorial_word_for_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    printed, compared = "", 0
    for language, content in fenced("tutorial.md"):
        if language != "text":
            printed = run_block(language, content, tmp_path) or printed
            continue
        if printed.startswith("corpus"):
            known = printed
        for line in masked(content):
            assert any(other.startswith(line) for other in masked(known + printed)), line
            compared += 1
    assert compared > 12
    assert (tmp_path / "map.png").stat().st_size > 1000
    assert (tmp_path / "positions.safetensors").exists()


@pytest.mark.slow
def test_the_recipes_run(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    words = np.array(["one", "of", "five", "words", "here"])
    lines = [" ".join(rng.choice(words, 70)) + f" {i}" for i in range(300)]
    (tmp_path / "corpus.txt").write_text("\n".join(lines))
    (tmp_path / "reviews.jsonl").write_text("\n".join(f'{{"text": "{line}"}}' for line in lines))
    rows = "\n".join(f"{line},author{i % 40}" for i, line in enumerate(lines))
    (tmp_path / "reviews.csv").write_text(f"text,author\n{rows}\n")
    sites = ["".join(rng.choice(list("ACGT"), 60)) for _ in range(300)]
    (tmp_path / "sites.fasta").write_text("".join(f">site{i}\n{site}\n" for i, site in enumerate(sites)))
    np.save(tmp_path / "table.npy", rng.normal(size=(64, 8)))
    for language, content in fenced("recipes.md"):
        assert run_block(language, content, tmp_path)
    assert (tmp_path / "both.html").exists()
