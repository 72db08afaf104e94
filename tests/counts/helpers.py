"""Comparisons that the tests of counting share."""

from posgeom.counts.key_sample import KeySample
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.shingles import Shingles


def check_same_shingles(a: Shingles, b: Shingles) -> None:
    """Two samples are the same."""
    assert a.length == b.length
    for name in ("hashes", "documents", "folds"):
        assert getattr(a, name).tolist() == getattr(b, name).tolist(), name


def check_same_keys(a: KeySample | None, b: KeySample | None) -> None:
    """Two samples are the same, or neither was taken."""
    assert (a is None) == (b is None)
    if a is not None and b is not None:
        assert a.digests.tolist() == b.digests.tolist()
        assert a.documents.tolist() == b.documents.tolist()


def check_same_counts(a: PositionCounts, b: PositionCounts) -> None:
    """All but the names of the sources agrees."""
    for name in ("fold", "position", "token", "count", "documents"):
        assert getattr(a, name).tolist() == getattr(b, name).tolist(), name
    for name in ("vocabulary", "columns", "n_positions", "empty_documents", "tokenizer", "grouped_by"):
        assert getattr(a, name) == getattr(b, name), name
