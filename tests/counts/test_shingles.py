from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest

from posgeom.counts.counting import count_texts
from posgeom.counts.shingles import SAMPLE_SIZE, SEVERAL, Shingles, no_shingles, sample_shingles, shingle_length
from posgeom.errors import CountsError
from posgeom.tokenize.tokenizers import TokenizerIdentity
from tests.counts.helpers import check_same_shingles

Documents = list[list[int]]


def sampled(documents: Documents, folds: list[int], length: int) -> Shingles:
    keys = np.array([token for document in documents for token in document], np.uint64)
    lengths = np.array([len(document) for document in documents], np.int64)
    return sample_shingles(keys, lengths, np.array(folds, np.int64), length)


def slow(documents: Documents, folds: list[int], length: int) -> list[tuple[int, int]]:
    """Documents and fold of every distinct shingle, in no order."""
    holders: dict[tuple[int, ...], set[int]] = defaultdict(set)
    for i, document in enumerate(documents):
        for start in range(len(document) - length + 1):
            holders[tuple(document[start : start + length])].add(i)
    found = []
    for holding in holders.values():
        its_folds = {folds[i] for i in holding}
        found.append((len(holding), its_folds.pop() if len(its_folds) == 1 else SEVERAL))
    return found


def random_documents(n: int, seed: int = 0, vocab_size: int = 3) -> tuple[Documents, list[int]]:
    rng = np.random.default_rng(seed)
    documents = [rng.integers(0, vocab_size, rng.integers(0, 12)).tolist() for _ in range(n)]
    return documents, rng.integers(0, 4, n).tolist()


@pytest.mark.parametrize("length", [1, 2, 3, 5, 6, 8, 12])
def test_every_shingle_is_found_where_there_are_few(length: int) -> None:
    documents, folds = random_documents(60)
    found = sampled(documents, folds, length)
    expected = slow(documents, folds, length)
    assert not found.is_full
    pairs = zip(found.documents.tolist(), found.folds.tolist(), strict=True)
    assert sorted(pairs) == sorted(expected)


def test_a_shingle_counts_once_a_document_and_never_crosses_its_end() -> None:
    found = sampled([[1, 1, 1, 1, 1], [], [1, 1], [1, 1, 1]], [0, 0, 1, 2], 3)
    assert (found.documents.tolist(), found.folds.tolist()) == ([2], [SEVERAL])
    assert not sampled([[1, 2], [3], [4, 5]], [0, 1, 2], 3).hashes.size
    assert not sampled([], [], 3).hashes.size


def test_a_full_sample_holds_the_smallest_hashes_of_all() -> None:
    documents, folds = random_documents(2000, vocab_size=50)
    whole = sampled(documents, folds, 4)
    assert whole.is_full
    assert whole.bound == whole.hashes[-1]
    parts = [sampled(documents[a:b], folds[a:b], 4) for a, b in pairwise(range(0, 2001, 100))]
    check_same_shingles(parts[0].merge(*parts[1:]), whole)
    order = np.random.default_rng(0).permutation(len(parts))
    one_by_one = no_shingles(4)
    for i in order:
        one_by_one = one_by_one.merge(parts[i])
    check_same_shingles(one_by_one, whole)
    keys = np.array([token for document in documents for token in document], np.uint64)
    lengths = np.array([len(document) for document in documents])
    check_same_shingles(sample_shingles(keys, lengths, np.array(folds), 4, bound=whole.bound), whole)
    less = sample_shingles(keys, lengths, np.array(folds), 4, bound=int(whole.hashes[9]))
    assert less.hashes.tolist() == whole.hashes[:10].tolist()


def test_a_shingle_that_all_documents_hold_does_not_hide_the_others() -> None:
    # Most hashes are copies of a few: the sample is filled from the rest all the same.
    documents = [[7] * 40 + [i, i + 1, i + 2] for i in range(5000)]
    folds = [i % 3 for i in range(5000)]
    found = sampled(documents, folds, 3)
    parts = [sampled(documents[i : i + 50], folds[i : i + 50], 3) for i in range(0, 5000, 50)]
    check_same_shingles(parts[0].merge(*parts[1:]), found)
    assert found.is_full


def test_hashes_are_spread_evenly() -> None:
    documents, folds = random_documents(40_000, vocab_size=30)
    found = sampled(documents, folds, 5)
    n_distinct = len(slow(documents, folds, 5))
    estimate = (SAMPLE_SIZE - 1) * 2.0**64 / float(found.hashes[-1])  # its standard error is 1 / sqrt(SAMPLE_SIZE)
    assert abs(estimate / n_distinct - 1) < 5 / SAMPLE_SIZE**0.5


@pytest.mark.parametrize("tokenizer", ["whitespace", "chars", "bytes"])
def test_the_sample_does_not_depend_on_order_batches_workers_or_parts(tokenizer: str) -> None:
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(40)]
    texts = [" ".join(rng.choice(words, rng.integers(0, 40))) for _ in range(700)]
    settings = {"n_positions": 100, "n_folds": 3}
    whole = count_texts(texts, tokenizer, workers=1, **settings).shingles  # type: ignore[arg-type]
    assert whole is not None
    assert whole.is_full
    others = [
        count_texts(texts[::-1], tokenizer, batch_size=13, workers=3, **settings),  # type: ignore[arg-type]
        count_texts(texts[200:], tokenizer, **settings).merge(count_texts(texts[:200], tokenizer, **settings)),  # type: ignore[arg-type]
    ]
    for other in others:
        assert other.shingles is not None
        check_same_shingles(other.shingles, whole)


@pytest.mark.parametrize(
    ("kind", "vocab_size", "length"),
    [
        ("tokenizers", 30_522, 12),
        ("whitespace", None, 12),
        ("chars", None, 48),
        ("bytes", 256, 48),
        ("tokenizers", 5, 48),
    ],
)
def test_how_long_a_shingle_is(kind: str, vocab_size: int | None, length: int) -> None:
    assert shingle_length(TokenizerIdentity(kind, "t", None, vocab_size, 0)) == length


def test_a_damaged_sample_is_refused() -> None:
    one = np.ones(1, np.int64)
    for hashes, documents, folds in (
        (np.array([2, 1], np.uint64), np.ones(2, np.int64), np.ones(2, np.int64)),
        (np.array([1], np.uint64), 0 * one, one),
        (np.array([1], np.uint64), one, -2 * one),
        (np.array([1], np.uint64), one, np.ones(2, np.int64)),
        (
            np.arange(SAMPLE_SIZE + 1, dtype=np.uint64),
            np.ones(SAMPLE_SIZE + 1, np.int64),
            np.ones(SAMPLE_SIZE + 1, np.int64),
        ),
    ):
        with pytest.raises(CountsError, match="sample of shingles"):
            Shingles(3, hashes, documents, folds)
