from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from posgeom.counts import null_corpora
from posgeom.counts.counting import count_texts
from posgeom.counts.null_corpora import null_tokens
from posgeom.options import NullKind

SMALL, LARGE = 1 << 18, 1 << 21  # one id space on either side of the packed form
KINDS: list[NullKind] = ["permute", "rotate"]


def moved(tokens: NDArray[np.int64], lengths: list[int], id_space: int = SMALL, **settings: Any) -> NDArray[Any]:
    digests = np.arange(len(lengths), dtype=np.uint64) * np.uint64(0xDEADBEEFCAFE)
    chosen: dict[str, Any] = {"kind": "permute", "replicate": 0, "seed": 0, "digests": digests} | settings
    return null_tokens(tokens, np.array(lengths), id_space=id_space, **chosen)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("id_space", [SMALL, LARGE])
def test_each_document_keeps_its_tokens(id_space: int, kind: NullKind, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = [0, 1, 5, 0, 300, 2, 0]
    tokens = np.random.default_rng(0).integers(0, SMALL, sum(lengths))
    whole = moved(tokens, lengths, id_space, kind=kind)
    ends = np.cumsum(lengths)
    for size, end in zip(lengths, ends, strict=True):
        assert sorted(whole[end - size : end]) == sorted(tokens[end - size : end])
    assert (whole != tokens).mean() > 0.9
    narrow = moved(tokens, lengths, id_space, kind=kind, dtype=np.uint32)
    assert narrow.dtype == np.uint32
    np.testing.assert_array_equal(narrow, whole)
    monkeypatch.setattr(null_corpora, "_DOCUMENTS_AT_ONCE", 2)
    monkeypatch.setattr(null_corpora, "_TOKENS_AT_ONCE", 4)
    np.testing.assert_array_equal(moved(tokens, lengths, id_space, kind=kind), whole)


@pytest.mark.parametrize("id_space", [SMALL, LARGE])
def test_every_order_is_equally_likely(id_space: int) -> None:
    n = 24_000
    found = moved(np.tile(np.arange(4), n), [4] * n, id_space).reshape(n, 4)
    counts = [int((found == order).all(axis=1).sum()) for order in permutations(range(4))]
    assert sum(counts) == n
    # Chi-squared with 23 degrees of freedom: 58 has probability 8e-5.
    assert sum((c - n / 24) ** 2 / (n / 24) for c in counts) < 58


@pytest.mark.parametrize("length", [2, 7, 24, 100])
def test_a_rotation_begins_at_every_place_equally_often(length: int) -> None:
    n = 40_000
    found = moved(np.tile(np.arange(length), n), [length] * n, kind="rotate").reshape(n, length)
    offsets = found[:, 0]
    np.testing.assert_array_equal(found, (offsets[:, None] + np.arange(length)) % length)
    counts = np.bincount(offsets, minlength=length)
    assert counts.size == length
    excess = ((counts - n / length) ** 2).sum() / (n / length) - (length - 1)
    assert excess < 5 * np.sqrt(2 * (length - 1))  # mean and deviation of chi-squared


def test_an_offset_is_below_any_length() -> None:
    seeds = np.full(4, 2**64 - 1, np.uint64)  # the largest fraction there is
    lengths = np.array([1, 3, 2**20 - 1, 2**20])
    rotated = null_corpora._rotated(np.arange(lengths.sum()), lengths, seeds)
    starts = np.cumsum(lengths) - lengths
    assert (rotated[starts] - starts).tolist() == (lengths - 1).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_replicates_and_seeds_differ(kind: NullKind) -> None:
    tokens = np.arange(100)
    first = moved(tokens, [100], kind=kind)
    for other in ({"replicate": 1}, {"seed": 1}, {"seed": -1}):
        assert (moved(tokens, [100], kind=kind, **other) != first).any()
    np.testing.assert_array_equal(moved(tokens, [100], kind=kind), first)


@pytest.mark.parametrize("kind", KINDS)
def test_documents_of_one_digest_and_length_move_alike(kind: NullKind) -> None:
    digests = np.array([5, 9, 5], np.uint64)
    found = moved(np.tile(np.arange(50), 3), [50] * 3, kind=kind, digests=digests).reshape(3, 50)
    np.testing.assert_array_equal(found[0], found[2])
    assert (found[0] != found[1]).any()


@pytest.mark.parametrize("kind", KINDS)
def test_what_decides_the_fold_decides_the_moves(kind: NullKind) -> None:
    """Edited copies in one group move alike; the same documents, each in a group of its own, do not."""
    texts = [" ".join(f"w{j}" for j in range(29)) + f" edit{i}" for i in range(8)]
    settings: dict[str, Any] = {"n_positions": 30, "null_replicates": 1, "null_kind": kind}
    together = count_texts(texts, groups=["g"] * 8, **settings).null[0]
    place = {(together.vocabulary or ())[t]: p for t, p in zip(together.token, together.position, strict=True)}
    assert len({place[f"edit{i}"] for i in range(8)}) == 1
    assert together.count.tolist().count(8) == 29
    for apart in (count_texts(texts, **settings), count_texts(texts, fold_by="row", **settings)):
        assert apart.null[0].fold.size > 60


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tokenizer", ["chars", "whitespace", "bytes"])
def test_null_counts_keep_depths_and_frequencies(tokenizer: str, kind: NullKind) -> None:
    texts = [f"w{i % 7} b{i % 3} c d{i}" for i in range(300)] + ["", "x"]
    settings: dict[str, Any] = {"n_positions": 6, "n_folds": 4}
    counts = count_texts(texts, tokenizer, null_replicates=2, null_kind=kind, seed=5, **settings)
    plain = count_texts(texts, tokenizer, **settings)
    np.testing.assert_array_equal(counts.count, plain.count)
    assert (len(counts.null), counts.null_kind, plain.null_kind) == (2, kind, None)
    for null in counts.null:
        np.testing.assert_array_equal(null.depth_by_fold, counts.depth_by_fold)
        size = int(counts.token.max()) + 1
        np.testing.assert_array_equal(
            np.bincount(null.token, weights=null.count, minlength=size),
            np.bincount(counts.token, weights=counts.count, minlength=size),
        )
    assert counts.null[0].count.tolist() != counts.null[1].count.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_the_null_depends_on_neither_order_nor_batches_nor_workers(kind: NullKind) -> None:
    texts = [f"w{i % 7} b{i % 3} c d{i}" for i in range(100)]
    one = count_texts(texts, n_positions=6, null_replicates=1, null_kind=kind, batch_size=7, workers=3)
    other = count_texts(texts[::-1], n_positions=6, null_replicates=1, null_kind=kind)
    for name in ("fold", "position", "token", "count"):
        np.testing.assert_array_equal(getattr(one.null[0], name), getattr(other.null[0], name))


def test_truncation_comes_first() -> None:
    # What lies beyond the context is no part of the null either: only the tokens that were counted are moved.
    counts = count_texts(["a b c d e f g"] * 3, n_positions=3, null_replicates=1)
    assert set(counts.null[0].vocabulary or ()) == {"a", "b", "c"}
