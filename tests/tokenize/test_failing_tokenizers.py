"""Tokenizers that would give other ids on every run, or that fail on some documents."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from posgeom.counts.counting import count, count_texts
from posgeom.counts.counts_notes import notes_on_counts
from posgeom.errors import TokenizerError
from posgeom.tokenize.engines.panics import reraise_interrupt
from posgeom.tokenize.engines.selfcheck import crashes_as_errors
from posgeom.tokenize.tokenizer_files import load_tokenizer


def bpe(dropout: float | None) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")], dropout=dropout))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


def unigram() -> Tokenizer:
    return Tokenizer(models.Unigram([("a", -1.0), ("b", -2.0), ("ab", -1.5), ("\u2581", -3.0)], unk_id=None))


def test_dropout_of_merges_is_switched_off_and_noted(tmp_path: Path) -> None:
    bpe(0.5).save(str(tmp_path / "t.json"))
    texts = ["ab ab", "ab a b"] * 20
    expected = count_texts(texts, bpe(None), n_positions=4)
    for spec in (tmp_path / "t.json", bpe(0.5)):
        counts = [count_texts(texts, spec, n_positions=4) for _ in range(3)]
        assert {c.checksum for c in counts} == {expected.checksum}
        assert counts[0].tokenizer.matches(expected.tokenizer)
        assert "Tokenizer engine: its dropout of merges, 0.5, is switched off." in notes_on_counts(counts[0])
    assert (
        load_tokenizer(bpe(0.5)).on_reference("why").engine_note == "its dropout of merges, 0.5, is switched off; why"
    )
    assert not expected.engine_notes


def test_a_vocabulary_without_an_unknown_token_does_where_none_is_needed() -> None:
    counts = count_texts(["ab", "ba", "abab"], unigram(), n_positions=4)
    assert counts.n_tokens == 5


def test_the_error_names_the_tokenizer_and_the_document(tmp_path: Path) -> None:
    unigram().save(str(tmp_path / "t.json"))
    (tmp_path / "c.txt").write_text("ab\nba\nabz\nab\nz\n")
    with pytest.raises(
        TokenizerError, match=r"tokenizer '.*t\.json' fails on '.*c\.txt', row 3: .*`unk_id` is missing"
    ):
        count(tmp_path / "c.txt", tmp_path / "t.json", n_positions=4)


def test_a_panic_prints_no_lines_of_its_own(tmp_path: Path) -> None:
    definition = json.loads(bpe(None).to_str())
    definition["model"]["continuing_subword_prefix"] = "##"  # the library indexes past the end
    (tmp_path / "t.json").write_text(json.dumps(definition))
    (tmp_path / "c.txt").write_text("ab\n")
    arguments = ["count", tmp_path / "c.txt", "-t", tmp_path / "t.json", "-o", tmp_path / "o.parquet"]
    done = subprocess.run(
        [sys.executable, "-m", "posgeom", *map(str, arguments)], capture_output=True, text=True, env=dict(os.environ)
    )
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert line.startswith("posgeom: error: ")
    assert "t.json' is not a tokenizer.json" in line


def test_an_interrupt_that_compiled_code_made_a_failure_of_is_an_interrupt() -> None:
    panic = BaseException("called `Result::unwrap()` on an `Err` value: PyErr { type: <class 'KeyboardInterrupt'> }")
    broken = ImportError("cannot import the extension")
    broken.__cause__ = KeyboardInterrupt()
    for error in (panic, broken, KeyboardInterrupt()):
        with pytest.raises(KeyboardInterrupt), crashes_as_errors("an engine"):
            raise error
    reraise_interrupt(ValueError("another failure"))
