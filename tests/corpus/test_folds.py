import numpy as np
import pytest

from posgeom.corpus.folds import assign_folds


def test_known_values() -> None:
    # The first 8 bytes of BLAKE2b with that digest size: a change would make stored counts incomparable.
    assert assign_folds(["", "a", "position", "\u4e2d"], 2**62).tolist() == [
        3797230976420062948,
        3405396810240292928,
        3595851653350799022,
        793768890439022425,
    ]


def test_folds_are_balanced_and_repeatable() -> None:
    folds = assign_folds([f"document {i}" for i in range(20_000)], 10)
    assert folds.min() == 0
    assert folds.max() == 9
    sizes = np.bincount(folds)
    assert (np.abs(sizes - 2000) < 5 * np.sqrt(2000 * 0.9)).all()
    assert assign_folds(["x", "y", "x"], 7)[0] == assign_folds(["x", "y", "x"], 7)[2]


def test_lone_surrogates_are_no_text() -> None:
    with pytest.raises(UnicodeEncodeError):
        assign_folds(["\ud800"], 2)
