import numpy as np
import pytest

from posgeom.corpus.texts import Texts
from posgeom.counts.folds import folds_of, group_digests, row_digests, text_digests


def test_known_values() -> None:
    # XXH3 with 64 bits and seed 2: a change would make stored counts incomparable.
    assert text_digests(Texts.from_strings(["", "a", "position", "\u4e2d"])).tolist() == [
        17540667245208599968,
        12281825131740780327,
        1099295366733659130,
        771704070097457354,
    ]
    assert assign(["", "a"], 1000) == [968, 327]


def assign(keys: list[str], n_folds: int) -> list[int]:
    folds = folds_of(group_digests(keys), n_folds).tolist()
    assert folds == folds_of(text_digests(Texts.from_strings(keys)), n_folds).tolist()
    return list(folds)


def test_folds_are_balanced_and_repeatable() -> None:
    folds = np.array(assign([f"document {i}" for i in range(20_000)], 10))
    assert folds.min() == 0
    assert folds.max() == 9
    sizes = np.bincount(folds)
    assert (np.abs(sizes - 2000) < 5 * np.sqrt(2000 * 0.9)).all()
    assert assign(["x", "y", "x"], 7)[0] == assign(["x", "y", "x"], 7)[2]


def test_rows_are_spread_over_the_folds_and_known_by_their_number() -> None:
    folds = folds_of(row_digests(0, 20_000), 10)
    assert (np.abs(np.bincount(folds) - 2000) < 5 * np.sqrt(2000 * 0.9)).all()
    # A change would make stored counts incomparable.
    assert row_digests(0, 3).tolist() == [0, 16294208416658607535, 7960286522194355700]
    assert row_digests(2, 5).tolist() == row_digests(0, 7)[2:].tolist()
    assert np.unique(row_digests(0, 20_000)).size == 20_000


def test_lone_surrogates_are_no_text() -> None:
    with pytest.raises(UnicodeEncodeError):
        group_digests(["\ud800"])
    with pytest.raises(UnicodeEncodeError):
        text_digests(Texts.from_strings(["\ud800"]))
