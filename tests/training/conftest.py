"""What needs torch is imported when a test asks for it, so that the tests can be collected without."""

from pathlib import Path
from typing import Any

import pytest

from posgeom.counts.counting import count
from posgeom.estimation.build import Geometry, geometry
from tests.training.corpora import write_corpus, write_tokenizer


@pytest.fixture
def torch() -> Any:
    import torch

    return torch


@pytest.fixture
def training() -> Any:
    import posgeom.training

    return posgeom.training


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tokenizer(tmp_path_factory.mktemp("tokenizer"))


@pytest.fixture(scope="session")
def shape(corpus: Path, tokenizer: Path) -> Geometry:
    """The geometry of the corpus over the first 10 positions."""
    return geometry(count(corpus, tokenizer, n_positions=10, column="text"))
