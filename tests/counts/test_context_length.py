"""n where nobody says it, and how many documents are cut where somebody does."""

import io
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from posgeom.corpus.texts import Texts
from posgeom.counts.context_length import LONGEST, SAMPLED
from posgeom.counts.counting import count, count_texts
from posgeom.counts.counts_notes import notes_on_counts
from posgeom.counts.storage import read_counts, write_counts
from posgeom.tokenize.tokenizer_files import load_tokenizer
from posgeom.tokenize.tokenizers import Tokenizer as Contract


def of_words(*lengths: int) -> list[str]:
    return [" ".join(["word"] * length) for length in lengths]


def templates() -> dict[str, Tokenizer]:
    """Tokenizers with special tokens around, and with some inside, where the content stands twice."""
    made = {}
    for name, template in (("around", "[CLS] $A [SEP]"), ("inside", "[CLS] $A [SEP] $A"), ("none", None)):
        tokenizer = Tokenizer(models.WordLevel({"word": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        if template:
            tokenizer.post_processor = processors.TemplateProcessing(
                single=template, special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
            )
        made[name] = tokenizer
    return made


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([251] * 30, 251),  # not above the longest
        ([*range(1, 101)], 96),  # 90, rounded up
        ([1] * 99 + [1000], 8),
        ([1] * 30, 2),
        ([1000] * 30, LONGEST),
        ([0] * 500 + [20] * 50, 20),  # empty documents have no say
        ([9] * SAMPLED + [500] * SAMPLED, 9),  # nor those after the first
    ],
)
def test_n_from_the_lengths(lengths: list[int], expected: int) -> None:
    counts = count_texts(of_words(*lengths))
    assert counts.n_positions == expected
    assert counts.cut_documents == sum(length > expected for length in lengths)
    [note] = counts.reading_notes
    assert note.startswith(f"n = {expected} is chosen, the 90% quantile of the lengths of the first")
    given = count_texts(of_words(*lengths), n_positions=expected)
    assert (given.checksum, given.reading_notes) == (counts.checksum, ())


def test_n_is_the_same_from_a_file_standard_input_and_an_iterator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = of_words(*range(1, 60)) * 3
    (tmp_path / "a.txt").write_text("\n".join(texts) + "\n")
    expected = count_texts(texts)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "a.txt").read_bytes())))
    for counts in (count(tmp_path / "a.txt"), count("-"), count_texts(iter(texts))):
        assert (counts.checksum, counts.cut_documents) == (expected.checksum, expected.cut_documents)


def test_n_is_not_below_a_minimum_length() -> None:
    counts = count_texts(of_words(*[4] * 50, *[30] * 2), min_length=20)
    assert (counts.n_positions, counts.n_documents, counts.short_documents) == (20, 2, 50)
    counts = count_texts(of_words(*[4] * 5, *[30] * 50), full_length=True)
    assert (counts.n_positions, counts.min_length, counts.n_documents) == (30, 30, 50)


@pytest.mark.parametrize("name", ["bytes", "chars", "whitespace", "around", "inside", "none"])
@pytest.mark.parametrize("n", [5, 8, 9])
def test_a_document_is_cut_where_a_longer_context_would_hold_more_of_it(name: str, n: int) -> None:
    def tokenizer() -> Contract:
        return load_tokenizer(templates().get(name, name))

    texts = Texts.from_strings([*of_words(*range(12)), "\xe9" * 4, "\u4e2d" * 3, "a b ", "a b c d e  "])
    tokens = tokenizer().encode(texts, n)
    more = tokenizer().encode(texts, 100)
    assert tokens.cut is not None
    np.testing.assert_array_equal(tokens.cut, more.lengths > tokens.lengths)
    assert 0 < tokens.cut.sum() < len(texts)


def test_cut_documents_are_noted_stored_and_added_up(tmp_path: Path) -> None:
    counts = count_texts(of_words(*range(1, 41)), n_positions=30)
    assert counts.cut_documents == 10
    assert "Length: 25.0% of the documents are longer than n = 30 and were cut there." in notes_on_counts(counts)
    write_counts(counts, tmp_path / "c.parquet")
    stored = read_counts(tmp_path / "c.parquet")
    assert stored.cut_documents == 10
    assert stored.merge(counts).cut_documents == 20
    assert stored.merge(replace(counts, cut_documents=None)).cut_documents is None
    assert not notes_on_counts(count_texts(of_words(*range(1, 31)), n_positions=30, fold_by="row"))


def test_indents_of_a_column_of_fixed_width_are_noted() -> None:
    rows = ["   ACGT", "\tACGA", "  AAGA", *["ACGT"] * 7]
    notes = notes_on_counts(count_texts(rows, "chars", n_positions=8, fold_by="row"))
    assert any("White space: 30% of the documents begin with spaces or tabs" in note for note in notes)
    assert not notes_on_counts(count_texts(["ACGT", "ACGA"] * 5, "chars", n_positions=8, fold_by="row"))
    assert not notes_on_counts(count_texts(["  a b"] * 5, n_positions=8, fold_by="row"))
