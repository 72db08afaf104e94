"""A stored run to draw, with hostile names, and a browser to look at its page with."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posgeom.analysis import analyze
from posgeom.encodings.base import PointEncoding
from posgeom.report.files import save
from posgeom.report.run import Run, read_run
from posgeom.results import Analysis
from posgeom.simulation.synthetic import synthetic

HOSTILE_CORPUS = "<img src=x onerror=document.title='owned'>"
HOSTILE_ENCODING = "</script><script>document.title='owned'</script>"
HOSTILE_COLUMN = "\"><svg onload=document.title='owned'>"
CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def analysis() -> Analysis:
    counts = replace(synthetic().counts, sources=(HOSTILE_CORPUS,), columns=(HOSTILE_COLUMN,))
    rng = np.random.default_rng(0)
    own = [PointEncoding(HOSTILE_ENCODING, rng.normal(size=(32, 3))), PointEncoding("zero", np.zeros((32, 4)))]
    return analyze(counts, n_dims=16, encodings=own)


@pytest.fixture(scope="session")
def run_dir(analysis: Analysis, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "run"
    save(analysis, path)
    return path


@pytest.fixture(scope="session")
def run(run_dir: Path) -> Run:
    return read_run(run_dir, "run")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no chromium is installed: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()
