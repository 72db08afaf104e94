"""A small corpus and a small model, and the inputs that items are computed from."""

from pathlib import Path

import numpy as np
import pytest

from posgeom.paper.inputs import Inputs, PaperFiles, open_inputs
from tests.models.raw import bert_tensors, save_bert


@pytest.fixture(scope="session")
def small_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    words = ["red", "green", "blue", "one", "two"]
    lines = [" ".join(rng.choice(words[: 2 + i % 4], 9)) + f" {i}" for i in range(400)]
    path = tmp_path_factory.mktemp("small") / "corpus.txt"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tensors = bert_tensors(n_positions=128)
    return save_bert(tmp_path_factory.mktemp("small") / "bert", tensors, max_position_embeddings=128)


@pytest.fixture(scope="session")
def synthetic_inputs() -> Inputs:
    return open_inputs(n_seeds=5)


@pytest.fixture(scope="session")
def small_inputs(small_corpus: Path, small_model: Path) -> Inputs:
    """The synthetic corpora, a small corpus in place of both, and a small model in place of both."""
    return open_inputs(
        PaperFiles(
            sst2=small_corpus, imdb=small_corpus, tokenizer="whitespace", model=small_model, scratch=small_model
        ),
        n_seeds=2,
    )
