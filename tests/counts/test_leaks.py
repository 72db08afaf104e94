from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from posgeom.analysis import analyze
from posgeom.counts.counting import count, count_texts
from posgeom.counts.folds import folds_of, group_digests
from posgeom.counts.leaks import LEAK_SHARE, leak_note, shared_shingles
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.storage import read_counts, write_counts


def words(n: int, length: int = 30, seed: int = 0) -> list[str]:
    """Documents that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    return [" ".join(f"w{i}" for i in rng.integers(0, 300, length)) for _ in range(n)]


def slow_share(texts: list[str], n_folds: int, length: int = 12) -> float:
    folds = folds_of(group_digests(texts), n_folds)
    holders: dict[tuple[str, ...], list[int]] = {}
    for text, fold in zip(texts, folds.tolist(), strict=True):
        tokens = text.split()
        for passage in {tuple(tokens[i : i + length]) for i in range(len(tokens) - length + 1)}:
            holders.setdefault(passage, []).append(fold)
    shared = sum(len(its) for its in holders.values() if len(set(its)) > 1)
    return shared / sum(map(len, holders.values()))


def test_the_share_is_that_of_a_loop() -> None:
    texts = words(12)
    texts += [" ".join(text.split()[5 * (i % 3) :]) for i, text in enumerate(texts)] + ["too short"]
    shared = shared_shingles(count_texts(texts, n_folds=3))
    assert shared is not None
    assert shared.share == pytest.approx(slow_share(texts, 3), abs=1e-12)
    assert (shared.standard_error, shared.length, shared.median_documents) == (0.0, 12, 2)


def test_the_error_of_the_sample_is_as_stated() -> None:
    errors = []
    for seed in range(12):
        base = words(400, seed=seed)
        texts = base + [" ".join(text.split()[i % 20 :]) for i, text in enumerate(base[:200])]
        shared = shared_shingles(count_texts(texts, n_folds=5))
        assert shared is not None
        assert shared.standard_error is not None
        errors.append((shared.share - slow_share(texts, 5)) / shared.standard_error)
    assert np.abs(errors).max() < 4
    assert 0.4 < np.sqrt(np.mean(np.square(errors))) < 1.8


def test_independent_documents_share_nothing() -> None:
    shared = shared_shingles(count_texts(words(300)))
    assert shared is not None
    assert (shared.share, shared.standard_error, shared.median_documents) == (0.0, None, None)
    assert shared.by_chance < 1e-6


def test_duplicates_are_no_leak_and_near_duplicates_are() -> None:
    base = words(60)
    assert leak_note(count_texts(base * 5)) is None
    families = [f"{text} {i}" for text in base for i in range(5)]
    note = leak_note(count_texts(families))
    assert note is not None
    assert note.startswith("Near-duplicates across folds: 9")
    assert "passages of 12 tokens" in note
    assert "--fold-by" in note
    grouped = count_texts(families, groups=[str(i // 5) for i in range(len(families))])
    assert leak_note(grouped) is None
    badly = leak_note(count_texts(families, groups=[str(i) for i in range(len(families))]))
    assert badly is not None
    assert "although folds keep 'groups' together" in badly


def test_short_passages_of_few_letters_are_no_leak() -> None:
    rng = np.random.default_rng(0)
    dna = ["".join(rng.choice(list("ACGT"), 100)) for _ in range(800)]
    assert leak_note(count_texts(dna, "chars")) is None
    # Documents of one letter for the most part share all passages, and nothing can be told from that.
    dull = ["".join(rng.choice(list("AB"), 100, p=[0.98, 0.02])) for _ in range(800)]
    counts = count_texts(dull, "chars")
    shared = shared_shingles(counts)
    assert shared is not None
    assert shared.share > LEAK_SHARE
    assert shared.by_chance > 1
    assert leak_note(counts) is None


def test_what_is_not_known_is_not_said(tmp_path: Path) -> None:
    assert shared_shingles(count_texts(["a b c", "d e"])) is None  # shorter than a passage
    counts = count_texts(words(30))
    assert shared_shingles(replace(counts, shingles=None)) is None
    assert replace(counts, shingles=None).merge(counts).shingles is None
    write_counts(counts, tmp_path / "c.parquet")
    assert shared_shingles(read_counts(tmp_path / "c.parquet")) == shared_shingles(counts)
    assert shared_shingles(counts.binned("uniform:4")) == shared_shingles(counts)


def families(texts: list[str], length: int = 8) -> list[str]:
    """Texts that share a run of words, directly or through others, are one family; short ones go with the longest."""
    parent = list(range(len(texts)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    first: dict[tuple[str, ...], int] = {}
    for i, text in enumerate(texts):
        tokens = text.split()
        for start in range(len(tokens) - length + 1):
            other = first.setdefault(tuple(tokens[start : start + length]), i)
            parent[root(i)] = root(other)
    return [str(root(i)) for i in range(len(texts))]


def test_the_phrases_of_sst2_leak_until_folds_keep_sentences_together(data_dir: Path, bert: Path) -> None:
    texts = pq.read_table(data_dir / "sst2.parquet")["sentence"].to_pylist()
    counts = count_texts(texts, bert)
    shared = shared_shingles(counts)
    assert shared is not None
    assert shared.share == pytest.approx(0.89, abs=0.03)
    assert leak_note(counts) is not None
    together = families(texts)
    assert len(set(together)) > 5000
    grouped = count_texts(texts, bert, groups=together)
    assert shared_shingles(grouped).share < 0.03  # type: ignore[union-attr]
    assert leak_note(grouped) is None


def test_reviews_of_imdb_do_not_leak(imdb: PositionCounts) -> None:
    shared = shared_shingles(imdb)
    assert shared is not None
    assert shared.share < 0.02
    assert leak_note(imdb) is None


def test_the_note_is_part_of_an_analysis(data_dir: Path, bert: Path) -> None:
    log = count(data_dir / "HDFS_2k.log", bert, n_positions=32)
    shared = shared_shingles(log)
    assert shared is not None
    assert shared.median_documents is not None
    assert shared.median_documents > 100  # templates, and not families
    notes = analyze(log, n_dims=8, ranks=[1]).notes
    assert any(note.startswith("Near-duplicates across folds") for note in notes)


def test_a_phrase_that_many_documents_hold_is_not_taken_for_a_leak() -> None:
    phrase = " ".join(f"p{i}" for i in range(12))
    note = None
    for seed in range(5):
        texts = [text + " " + phrase if i % 5 == 0 else text for i, text in enumerate(words(500, seed=seed))]
        note = note or leak_note(count_texts(texts))
    assert note is None


def test_half_of_the_shared_shingles() -> None:
    texts = words(6, length=13)
    copies = [texts[0] + f" {i}" for i in range(8)] + [texts[1] + f" {i}" for i in range(3)] + texts[2:]
    shared = shared_shingles(count_texts(copies, n_folds=100))
    assert shared is not None
    assert shared.median_documents == 8
    assert all(a < b for a, b in pairwise([0, shared.share]))
