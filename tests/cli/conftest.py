"""A small corpus, and the command line to run on it."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.helpers import ENTRY, Run, posgeom


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    words = ["red", "green", "blue", "one", "two"]
    lines = [" ".join(rng.choice(words[: 2 + i % 4], 9)) + f" {i}" for i in range(300)]
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the command line in this process, which is quick."""

    def call(*arguments: object, **settings: Any) -> subprocess.CompletedProcess[str]:
        return posgeom(*arguments, cwd=tmp_path, **settings)

    return call


@pytest.fixture
def run_process(tmp_path: Path) -> Run:
    """Run the command line as a process of its own, for what such a process alone has: an environment, limits."""

    def call(*arguments: object, **settings: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*ENTRY, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True, check=False, **settings
        )

    return call
