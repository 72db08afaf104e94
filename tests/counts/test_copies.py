from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posgeom.counts.copies import copies_note
from posgeom.counts.counting import count_texts
from posgeom.counts.key_sample import SAMPLE_SIZE, KeySample, sample_keys
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.storage import read_counts, write_counts
from posgeom.errors import CountsError
from tests.counts.helpers import check_same_keys


def short_texts(n: int, seed: int = 0) -> list[str]:
    """Documents of 2.5 of 40 words on average, which coincide by chance."""
    rng = np.random.default_rng(seed)
    return [" ".join(f"w{w}" for w in rng.integers(0, 40, 1 + rng.poisson(1.5))) for _ in range(n)]


def distinct_texts(n: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [f"{i} " + " ".join(f"w{w}" for w in rng.integers(0, 40, 8)) for i in range(n)]


def random_digests(n: int, n_distinct: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.integers(0, 2**64, n_distinct, np.uint64)[rng.integers(0, n_distinct, n)]


def test_a_small_sample_is_all_there_is() -> None:
    digests = random_digests(500, 300)
    found = sample_keys(digests)
    distinct, documents = np.unique(digests, return_counts=True)
    assert found.digests.tolist() == distinct.tolist()
    assert found.documents.tolist() == documents.tolist()
    assert found.n_distinct == distinct.size
    assert list(found.copied_share()) == pytest.approx([documents[documents > 1].sum() / 500, 0])
    assert list(found.documents_per_key()) == pytest.approx([500 / distinct.size, 0])


def test_samples_of_parts_are_that_of_the_whole() -> None:
    digests = random_digests(20_000, 5000)
    whole = sample_keys(digests)
    assert whole.is_full
    distinct, documents = np.unique(digests, return_counts=True)
    assert whole.digests.tolist() == distinct[:SAMPLE_SIZE].tolist()
    assert whole.documents.tolist() == documents[:SAMPLE_SIZE].tolist()
    parts = [sample_keys(digests[a:b]) for a, b in pairwise(range(0, 20_001, 500))]
    check_same_keys(parts[0].merge(*parts[1:]), whole)
    one_by_one = sample_keys(digests[:0])
    for a, b in pairwise(range(20_000, -1, -500)):
        one_by_one = one_by_one.merge(sample_keys(digests[b:a], one_by_one.bound))
    check_same_keys(one_by_one, whole)


def test_estimates_agree_with_the_whole_within_their_errors() -> None:
    digests = random_digests(40_000, 30_000)
    sample = sample_keys(digests)
    _, documents = np.unique(digests, return_counts=True)
    share, error = sample.copied_share()
    assert abs(share - documents[documents > 1].sum() / 40_000) < 4 * error < 0.1
    mean, error = sample.documents_per_key()
    assert abs(mean - documents.mean()) < 4 * error < 0.2
    assert abs(sample.n_distinct / documents.size - 1) < 4 / SAMPLE_SIZE**0.5


@pytest.mark.parametrize("grouped", [False, True])
def test_the_samples_do_not_depend_on_order_batches_workers_or_parts(grouped: bool) -> None:
    texts = short_texts(9000)
    groups = [str(i % 3000) for i in range(9000)]

    def counted(rows: slice, **settings: Any) -> PositionCounts:
        return count_texts(texts[rows], n_positions=6, groups=groups[rows] if grouped else None, **settings)

    whole = counted(slice(None), workers=1)
    assert whole.copies is not None
    assert whole.copies.is_full
    assert (whole.fold_values is not None) == grouped
    merged = counted(slice(4000, None)).merge(counted(slice(4000)))
    for other in (counted(slice(None, None, -1), batch_size=113, workers=3), merged):
        check_same_keys(other.copies, whole.copies)
        if grouped:
            check_same_keys(other.fold_values, whole.fold_values)


def test_short_documents_that_coincide_are_said() -> None:
    texts = short_texts(1200)
    share = np.mean([texts.count(text) > 1 for text in texts])
    assert share > 0.25
    note = copies_note(count_texts(texts, n_positions=8))
    assert note is not None
    assert note.startswith(f"Copies: {share:.0%} of the documents have a text that another has too")
    assert "count again with --fold-by row" in note
    assert "although they are one independent document" in note
    assert copies_note(count_texts(texts, n_positions=8, fold_by="row")) is None
    more = copies_note(count_texts(short_texts(20_000), n_positions=8))
    assert more is not None
    assert more.startswith("Copies: about ")


def test_documents_that_differ_need_no_note() -> None:
    assert copies_note(count_texts(distinct_texts(3000), n_positions=8)) is None
    few = distinct_texts(3000)
    assert copies_note(count_texts(few + few[:60], n_positions=8)) is None
    assert copies_note(count_texts(few + [""] * 3000, n_positions=8)) is None
    counts = count_texts(short_texts(300), n_positions=8)
    assert copies_note(replace(counts, copies=None)) is None
    assert replace(counts, copies=None).merge(counts).copies is None


def test_copies_of_one_group_are_said_and_groups_alone_are_not() -> None:
    texts = distinct_texts(300)
    groups = [str(i) for i in range(300) for _ in range(5)]
    note = copies_note(count_texts([text for text in texts for _ in range(5)], n_positions=8, groups=groups))
    assert note is not None
    assert note.startswith("Copies: 'groups' has 300 values for 1,500 documents, and 100% of the documents have")
    assert copies_note(count_texts(distinct_texts(1500), n_positions=8, groups=groups)) is None
    # The same texts, each copy in another group, are no copies within a group.
    apart = [str(i % 300 + 300 * (i // 300)) for i in range(1500)]
    assert copies_note(count_texts(texts * 5, n_positions=8, groups=apart)) is None
    many = [str(i) for i in range(4000) for _ in range(2)]
    note = copies_note(count_texts([t for t in distinct_texts(4000) for _ in range(2)], n_positions=8, groups=many))
    assert note is not None
    assert "'groups' has about 4" in note


def test_the_samples_travel_with_the_counts(tmp_path: Path) -> None:
    counts = count_texts(short_texts(50), n_positions=8, groups=[str(i % 7) for i in range(50)], null_replicates=1)
    write_counts(counts, tmp_path / "c.parquet")
    found = read_counts(tmp_path / "c.parquet")
    check_same_keys(found.copies, counts.copies)
    check_same_keys(found.fold_values, counts.fold_values)
    assert found.null[0].copies is None
    assert copies_note(found) == copies_note(counts)


def test_a_damaged_sample_is_refused() -> None:
    one = np.ones(1, np.int64)
    for digests, documents in (
        (np.array([2, 1], np.uint64), np.ones(2, np.int64)),
        (np.array([1], np.uint64), 0 * one),
        (np.array([1], np.uint64), np.ones(2, np.int64)),
        (np.arange(SAMPLE_SIZE + 1, dtype=np.uint64), np.ones(SAMPLE_SIZE + 1, np.int64)),
    ):
        with pytest.raises(CountsError, match="a sample of keys"):
            KeySample(digests, documents)
