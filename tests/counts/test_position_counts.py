from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from posgeom.counts.count_entries import sum_count_entries
from posgeom.counts.counting import count_texts
from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import CountsError
from tests.conftest import make_counts


def test_depth_matrix_and_folds_agree_with_dense_sums() -> None:
    dense = np.random.default_rng(0).poisson(1.5, (3, 5, 7))
    dense[:, :, 2] = 0
    counts = make_counts(dense)
    assert counts.depth_by_fold.tolist() == dense.sum(axis=2).tolist()
    assert counts.depth.tolist() == dense.sum(axis=(0, 2)).tolist()
    seen = [0, 1, 3, 4, 5, 6]
    np.testing.assert_array_equal(counts.distinct_tokens, seen)
    np.testing.assert_array_equal(counts.matrix().toarray(), dense.sum(axis=0)[:, seen])
    for fold in range(3):
        np.testing.assert_array_equal(counts.fold_matrices[fold].toarray(), dense[fold][:, seen])
    assert counts.vocab_size == 7


def changed(**changes: object) -> PositionCounts:
    return replace(make_counts(np.ones((2, 2, 2), int)), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": np.zeros(8, np.int64)}, "a count is 0"),
        ({"token": np.full(8, 9)}, "token 9 is out of range: expected 0 to 1"),
        ({"position": np.full(8, -1)}, "out of range"),
        ({"fold": np.zeros(8, np.int64)}, "not sorted"),
        ({"fold": np.zeros(7, np.int64)}, "of one length"),
        ({"count": np.ones(8)}, "int64"),
        ({"n_positions": 0}, "at least 1"),
        ({"documents": np.array([0, 9])}, "more tokens than there are documents"),
        ({"documents": np.array([-1, 9])}, "0 empty documents of"),
        ({"empty_documents": 99}, "99 empty documents of"),
        ({"vocabulary": ("a", "b")}, "not one of a tokenizer of kind"),
    ],
)
def test_inconsistent_counts(changes: dict[str, object], message: str) -> None:
    with pytest.raises(CountsError, match=message):
        changed(**changes)


def test_repeated_entries() -> None:
    zeros = np.zeros(2, np.int64)
    with pytest.raises(CountsError, match="occurs twice"):
        changed(fold=zeros, position=zeros, token=zeros, count=zeros + 1)


def test_merging_renumbers_open_vocabularies() -> None:
    a, b = count_texts(["b a", "d"], n_positions=4), count_texts(["c a a"], n_positions=4)
    merged = a.merge(b)
    assert merged.vocabulary == ("a", "b", "c", "d")
    both = count_texts(["b a", "d", "c a a"], n_positions=4)
    for name in ("fold", "position", "token", "count", "documents"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(both, name))
    assert merged.sources == ("texts", "texts")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_positions": 5}, "context length n 4 and 5"),
        ({"n_folds": 3}, "number of folds 10 and 3"),
        ({"groups": ["x"]}, "folds by 'text' and 'groups'"),
        ({"fold_by": "row"}, "folds by 'text' and 'row'"),
        ({"tokenizer": "chars"}, "different tokenizers"),
    ],
)
def test_counts_that_do_not_belong_together(settings: dict[str, object], message: str) -> None:
    a = count_texts(["a"], n_positions=4)
    with pytest.raises(CountsError, match=message):
        a.merge(count_texts(["a"], **({"n_positions": 4} | settings)))  # type: ignore[arg-type]


def test_counts_beyond_32_bits_add_up() -> None:
    big = changed(count=np.full(8, 2**40), documents=np.full(2, 2**42))
    assert big.merge(big).n_tokens == 2**44


def test_null_corpora_are_merged_replicate_by_replicate() -> None:
    texts = [f"a{i % 5} b{i % 3} c" for i in range(60)]
    settings: dict[str, Any] = {"n_positions": 4, "n_folds": 3, "null_replicates": 2}
    whole = count_texts(texts, **settings)
    merged = count_texts(texts[:20], **settings).merge(count_texts(texts[20:], **settings))
    assert merged.checksum == whole.checksum
    for other, message in (
        ({"null_replicates": 1}, "number of null replicates 2 and 1"),
        ({"null_kind": "permute"}, "kind of the null replicates 'rotate' and 'permute'"),
        ({"seed": 1}, "seed of the null replicates 0 and 1"),
    ):
        with pytest.raises(CountsError, match=message):
            whole.merge(count_texts(texts, **(settings | other)))


def test_entries_add_up_where_keys_do_not_fit_in_64_bits() -> None:
    rng = np.random.default_rng(0)
    fold, position, token = (rng.integers(0, 3, 200) for _ in range(3))
    count = rng.integers(1, 9, 200)
    small = sum_count_entries(fold, position, token, count)
    large = sum_count_entries(fold, position * 2**40, token * 2**40, count)
    assert [small[0].tolist(), small[3].tolist()] == [large[0].tolist(), large[3].tolist()]
    assert (small[1] * 2**40).tolist() == large[1].tolist()
    assert (small[2] * 2**40).tolist() == large[2].tolist()
    totals = {
        (f, p, t): int(count[(fold == f) & (position == p) & (token == t)].sum())
        for f, p, t in zip(*small[:3], strict=True)
    }
    assert list(totals) == sorted(totals)
    assert list(totals.values()) == small[3].tolist()


@pytest.mark.parametrize("n_folds", [1, 2, 3, 7])
def test_counts_of_all_folds_are_summed_whatever_their_number(n_folds: int) -> None:
    dense = np.random.default_rng(n_folds).poisson(0.7, (n_folds, 6, 9))
    dense[:, :, 0] += 1
    counts = make_counts(dense)
    np.testing.assert_array_equal(counts.matrix().toarray(), dense.sum(axis=0)[:, dense.any(axis=(0, 1))])
