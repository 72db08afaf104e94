from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from posgeom.corpus import permutation
from posgeom.corpus.counting import count_texts
from posgeom.corpus.permutation import permute_in_documents

SMALL, LARGE = 1 << 18, 1 << 21  # one id space on either side of the packed form


def permute(tokens: NDArray[np.int64], lengths: list[int], id_space: int, **settings: Any) -> NDArray[Any]:
    digests = np.arange(len(lengths), dtype=np.uint64) * np.uint64(0xDEADBEEFCAFE)
    chosen: dict[str, Any] = {"replicate": 0, "seed": 0} | settings
    return permute_in_documents(tokens, np.array(lengths), digests, id_space=id_space, **chosen)


@pytest.mark.parametrize("id_space", [SMALL, LARGE])
def test_each_document_keeps_its_tokens(id_space: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = [0, 1, 5, 0, 300, 2, 0]
    tokens = np.random.default_rng(0).integers(0, SMALL, sum(lengths))
    whole = permute(tokens, lengths, id_space)
    ends = np.cumsum(lengths)
    for size, end in zip(lengths, ends, strict=True):
        assert sorted(whole[end - size : end]) == sorted(tokens[end - size : end])
    assert (whole != tokens).mean() > 0.9
    narrow = permute(tokens, lengths, id_space, dtype=np.uint32)
    assert narrow.dtype == np.uint32
    np.testing.assert_array_equal(narrow, whole)
    monkeypatch.setattr(permutation, "_DOCUMENTS_AT_ONCE", 2)
    np.testing.assert_array_equal(permute(tokens, lengths, id_space), whole)


@pytest.mark.parametrize("id_space", [SMALL, LARGE])
def test_every_order_is_equally_likely(id_space: int) -> None:
    n = 24_000
    drawn = permute(np.tile(np.arange(4), n), [4] * n, id_space).reshape(n, 4)
    counts = [int((drawn == order).all(axis=1).sum()) for order in permutations(range(4))]
    assert sum(counts) == n
    # Chi-squared with 23 degrees of freedom: 58 has probability 8e-5.
    assert sum((c - n / 24) ** 2 / (n / 24) for c in counts) < 58


def test_replicates_and_seeds_differ() -> None:
    tokens = np.arange(100)
    first = permute(tokens, [100], SMALL)
    for other in ({"replicate": 1}, {"seed": 1}, {"seed": -1}):
        assert (permute(tokens, [100], SMALL, **other) != first).any()
    np.testing.assert_array_equal(permute(tokens, [100], SMALL), first)


@pytest.mark.parametrize("tokenizer", ["chars", "whitespace", "bytes"])
def test_null_counts_keep_depths_and_frequencies(tokenizer: str) -> None:
    texts = [f"w{i % 7} b{i % 3} c d{i}" for i in range(300)] + ["", "x"]
    counts = count_texts(texts, tokenizer, n_positions=6, n_folds=4, null_replicates=2, seed=5)
    plain = count_texts(texts, tokenizer, n_positions=6, n_folds=4)
    np.testing.assert_array_equal(counts.count, plain.count)
    assert len(counts.null) == 2
    for null in counts.null:
        np.testing.assert_array_equal(null.depth_by_fold, counts.depth_by_fold)
        size = int(counts.token.max()) + 1
        np.testing.assert_array_equal(
            np.bincount(null.token, weights=null.count, minlength=size),
            np.bincount(counts.token, weights=counts.count, minlength=size),
        )
    assert counts.null[0].count.tolist() != counts.null[1].count.tolist()


def test_the_null_depends_on_neither_order_nor_batches_nor_workers() -> None:
    texts = [f"w{i % 7} b{i % 3} c d{i}" for i in range(100)]
    one = count_texts(texts, n_positions=6, null_replicates=1, batch_size=7, workers=3)
    other = count_texts(texts[::-1], n_positions=6, null_replicates=1)
    for name in ("fold", "position", "token", "count"):
        np.testing.assert_array_equal(getattr(one.null[0], name), getattr(other.null[0], name))


def test_truncation_comes_first() -> None:
    # What lies beyond the context is no part of the null either: only the tokens that were counted are permuted.
    counts = count_texts(["a b c d e f g"] * 3, n_positions=3, null_replicates=1)
    assert set(counts.null[0].vocabulary or ()) == {"a", "b", "c"}
