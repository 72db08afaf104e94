"""docs/theory-models.md is true: its numbers are measured, its tables are what the checks say."""

from pathlib import Path

import numpy as np
import pytest

from posgeom.counts.counting import count
from posgeom.models.model import open_model
from posgeom.theory import collapse_checks, mean_embedding_test

pytestmark = pytest.mark.models
PAGE = (Path(__file__).parents[2] / "docs" / "theory-models.md").read_text()


def test_positions_of_imdb_that_h1_tells_apart(data_dir: Path, bert: Path, minilm: Path) -> None:
    counts = count(data_dir / "imdb.parquet", bert, n_positions=256)
    table = open_model(minilm).checkpoint.read("embeddings.word_embeddings.weight")
    result = mean_embedding_test(counts, table)
    assert f"{result.n_told_apart:,} of {result.n_pairs:,} pairs are told apart" in PAGE
    far = np.flatnonzero(result.positions >= 128)
    assert not result.told_apart[np.ix_(far, far)].any()


@pytest.mark.slow
def test_problems_in_which_a_hypothesis_fails() -> None:
    for problem, fails, _, _, rows in collapse_checks().rows():
        assert f"| {problem} | {fails} | {rows} |" in PAGE
