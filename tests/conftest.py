import os
from pathlib import Path

import numpy as np
import pytest

from posgeom.corpus.counting import count
from posgeom.corpus.counts import PositionCounts
from posgeom.corpus.tokenizers import TokenizerIdentity


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The directory of the public corpora, named by POSGEOM_DATA."""
    name = os.environ.get("POSGEOM_DATA")
    if not name:
        pytest.skip("POSGEOM_DATA does not name the data directory")
    path = Path(name)
    assert path.is_dir(), f"POSGEOM_DATA={name} is not a directory"
    return path


@pytest.fixture(scope="session")
def bert(data_dir: Path) -> Path:
    return data_dir / "bert-uncased" / "tokenizer.json"


def make_counts(per_fold: np.ndarray, vocab_size: int | None = None) -> PositionCounts:
    """Counts from a dense array of shape (folds, positions, tokens)."""
    array = np.asarray(per_fold)
    fold, position, token = (a.astype(np.int64) for a in np.nonzero(array))
    return PositionCounts(
        fold=fold,
        position=position,
        token=token,
        count=array[fold, position, token].astype(np.int64),
        n_positions=array.shape[1],
        tokenizer=TokenizerIdentity("tokenizers", "test", None, vocab_size or array.shape[2], 0),
        documents=array.sum(axis=2).max(axis=1).astype(np.int64),
        empty_documents=0,
    )


@pytest.fixture(scope="session")
def imdb(data_dir: Path, bert: Path) -> PositionCounts:
    """Counts of the training reviews of IMDB, which several files of tests use."""
    return count(data_dir / "imdb.parquet", bert, n_positions=256)
