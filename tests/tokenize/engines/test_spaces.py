import sys
import unicodedata
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from posgeom.tokenize.engines.selfcheck import FRAGMENTS, adversarial_texts
from posgeom.tokenize.engines.spaces import (
    boundaries,
    comes_apart_before_spaces,
    is_boundary,
    only_marks_spaces,
    punctuation_boundaries,
    settles_before_spaces,
    splits_at_punctuation,
    splits_before_spaces,
    without_prepended_marks,
)
from posgeom.tokenize.tokenizer_files import load_tokenizer
from tests.tokenize.engines.helpers import UNSPLIT, UNSPLIT_MERGES, definition, make, unsplit

SPACED = st.lists(st.sampled_from([*FRAGMENTS, " ", " ", "a "]), max_size=12).map("".join)


def slow_boundaries(text: str) -> list[int]:
    found = []
    for i, character in enumerate(text):
        before = text[i - 1] if i else " "
        if character == " " and not before.isspace() and not (before < " " or before in "\x7f\u2581"):
            found.append(len(text[:i].encode()))
    return found


@given(SPACED)
def test_boundaries_are_spaces_after_a_non_space(text: str) -> None:
    data = text.encode()
    assert boundaries(data).tolist() == slow_boundaries(text)
    spaces = [i for i, byte in enumerate(data) if byte == 0x20]
    assert [i for i in spaces if is_boundary(data, i)] == slow_boundaries(text)


def test_every_kind_of_white_space_is_known() -> None:
    for code in range(sys.maxunicode + 1):
        if not 0xD800 <= code < 0xE000:
            character = chr(code)
            if character.isspace():
                data = ("y" + character + " x").encode()
                assert len(data) - 2 not in boundaries(data), hex(code)


def test_a_text_may_be_taken_apart_there(kind: str) -> None:
    tokenizer = make(kind)
    assert splits_before_spaces(definition(tokenizer))
    for text in adversarial_texts(seed=3, n_mixed=600):
        if "<|" in text or "[" in text:
            continue
        data = text.encode()
        cuts = [0, *boundaries(data).tolist(), len(data)]
        pieces = [data[a:b].decode() for a, b in pairwise(cuts)]
        *parts, whole = tokenizer.encode_batch_fast([*pieces, text], add_special_tokens=False)
        assert [i for part in parts for i in part.ids] == whole.ids, ascii(text)


@pytest.mark.parametrize("kind", ["bert", "bert-cased", "wordpiece-plain"])
def test_or_around_punctuation(kind: str) -> None:
    tokenizer = make(kind)
    assert splits_at_punctuation(definition(tokenizer))
    texts = [t for t in adversarial_texts(seed=4, n_mixed=600) if "[" not in t]
    for text in [*texts, "=\u0338x", "a\u0301.\u0301b", "<\u0338", "!\u200b!"]:
        data = text.encode()
        cuts = [0, *punctuation_boundaries(data).tolist(), len(data)]
        pieces = [data[a:b].decode() for a, b in pairwise(cuts)]
        *parts, whole = tokenizer.encode_batch_fast([*pieces, text], add_special_tokens=False)
        assert [i for part in parts for i in part.ids] == whole.ids, ascii(text)


def test_punctuation_that_is_composed_stays_with_what_follows() -> None:
    assert not splits_at_punctuation(definition(make("words-punctuation")))
    assert not splits_at_punctuation(definition(make("gpt2")))
    assert punctuation_boundaries(b"ab, (c) d").tolist() == [2, 3, 4, 5, 6, 7]
    assert not punctuation_boundaries(b"").size


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_no_character_is_normalised_to_one_that_ends_in_a_space(form: Any) -> None:
    # Else a text could not be taken apart after it: what is a non-space before would be a space after.
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if not 0xD800 <= code < 0xE000 and not character.isspace():
            assert not unicodedata.normalize(form, character)[-1:].isspace(), hex(code)
            assert not character.lower()[-1:].isspace()


def define(pre_tokenizer: Any, normalizer: Any = None, added: str | None = None) -> dict[str, Any]:
    tokenizer = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if added is not None:
        tokenizer.add_tokens([added])
    return definition(tokenizer)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"pre_tokenizer": None}, False),
        ({"pre_tokenizer": pre_tokenizers.Metaspace()}, True),
        ({"pre_tokenizer": pre_tokenizers.Metaspace(split=False)}, False),
        ({"pre_tokenizer": pre_tokenizers.CharDelimiterSplit("x")}, False),
        ({"pre_tokenizer": pre_tokenizers.Split(Regex(r"\w+ \w+"), "isolated")}, False),
        ({"pre_tokenizer": pre_tokenizers.Split(" ", "merged_with_previous")}, False),
        ({"pre_tokenizer": pre_tokenizers.Punctuation()}, False),
        ({"pre_tokenizer": pre_tokenizers.Digits()}, False),
        ({"pre_tokenizer": pre_tokenizers.ByteLevel(use_regex=False)}, False),
        (
            {
                "pre_tokenizer": pre_tokenizers.Sequence(
                    [pre_tokenizers.ByteLevel(use_regex=False), pre_tokenizers.Whitespace()]
                )
            },
            False,
        ),
        (
            {
                "pre_tokenizer": pre_tokenizers.Sequence(
                    [pre_tokenizers.Punctuation("merged_with_previous"), pre_tokenizers.Whitespace()]
                )
            },
            False,
        ),
        ({"pre_tokenizer": pre_tokenizers.ByteLevel(), "normalizer": normalizers.StripAccents()}, False),
        ({"pre_tokenizer": pre_tokenizers.Whitespace(), "normalizer": normalizers.StripAccents()}, True),
        ({"pre_tokenizer": pre_tokenizers.Whitespace(), "normalizer": normalizers.Replace("a", " ")}, False),
        ({"pre_tokenizer": pre_tokenizers.Whitespace(), "normalizer": normalizers.Prepend("_")}, False),
        ({"pre_tokenizer": pre_tokenizers.Whitespace(), "added": "New York"}, False),
        ({"pre_tokenizer": pre_tokenizers.Whitespace(), "added": "  "}, True),
        ({"pre_tokenizer": pre_tokenizers.Whitespace(), "added": " x"}, True),
    ],
)
def test_what_is_not_known_to_split_there_is_left_alone(settings: dict[str, Any], expected: bool) -> None:
    assert splits_before_spaces(define(**settings)) is expected


@pytest.mark.parametrize("content", ["a\u00a0b", "a\tb", "a\u00a8", "\ufdfa", "A b"])
def test_an_added_token_that_is_normalised_may_come_to_hold_a_space(content: str) -> None:
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "b": 1, "[UNK]": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.BertNormalizer(strip_accents=False)])
    tokenizer.add_tokens([AddedToken(content, normalized=True)])
    spelled = tokenizer.normalizer.normalize_str(content)
    texts = [f"{'x' * n_before} {spelled}" for n_before in range(1, 24)]
    assert not splits_before_spaces(definition(tokenizer))
    tokens = load_tokenizer(tokenizer).encode(texts, 2)
    assert tokens.tokens.tolist() == [i for text in texts for i in tokenizer.encode(text).ids[:2]]


@pytest.mark.parametrize(("content", "expected"), [("Foo", True), (" [x]", True), ("\n", False), ("caf\u00e9", False)])
def test_other_added_tokens_that_are_normalised(content: str, expected: bool) -> None:
    normalised = define(pre_tokenizers.Whitespace(), normalizers.NFKC(), content)
    assert splits_before_spaces(normalised) is expected
    assert splits_before_spaces(define(pre_tokenizers.Whitespace(), added=content))


def test_a_deleted_character_between_spaces_would_join_them() -> None:
    # Why StripAccents is refused with a regular expression: the pieces of the parts are not those of the whole.
    tokenizer = make("gpt2")
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()])
    text = "x  \u0301  y"
    place = int(boundaries(text.encode())[-1])
    halves = [text.encode()[:place].decode(), text.encode()[place:].decode()]
    apart = [i for half in halves for i in tokenizer.encode(half).ids]
    assert apart != tokenizer.encode(text).ids
    assert not splits_before_spaces(definition(tokenizer))
    assert np.array_equal(boundaries(b"x  y"), [1])


def test_where_a_text_that_is_never_split_settles() -> None:
    for kind in UNSPLIT:
        parsed = definition(unsplit(kind))
        assert settles_before_spaces(parsed)
        assert not splits_before_spaces(parsed)
        for changes in (
            {"ignore_merges": True},
            {"end_of_word_suffix": "</w>"},
            {"dropout": 0.1},
            {"type": "WordLevel"},
            {"vocab": with_piece(parsed, "of\u2581the")},
            {"vocab": with_piece(parsed, "\u2581", remove=True)},
        ):
            assert not settles_before_spaces(parsed | {"model": parsed["model"] | changes}), changes
        assert settles_before_spaces(
            parsed | {"model": parsed["model"] | {"vocab": with_piece(parsed, "\u2581\u2581\u2581")}}
        )
        assert not settles_before_spaces(parsed | {"added_tokens": [{"content": "of the", "normalized": False}]})
        assert not settles_before_spaces(parsed | {"normalizer": {"type": "StripAccents"}})
        assert not settles_before_spaces(parsed | {"normalizer": None, "pre_tokenizer": None})
        assert not settles_before_spaces(parsed | {"pre_tokenizer": {"type": "Digits"}})
    assert settles_before_spaces(definition(make("bert")))


def test_what_comes_apart() -> None:
    for kind in UNSPLIT_MERGES:
        assert comes_apart_before_spaces(definition(unsplit(kind)))
    unigram = definition(unsplit("unigram"))
    assert not comes_apart_before_spaces(unigram)
    llama, gemma = definition(unsplit("llama")), definition(unsplit("gemma"))
    assert without_prepended_marks(gemma) == (
        gemma | {"normalizer": without_prepended_marks(gemma)[0]["normalizer"]},
        "",
    )
    assert without_prepended_marks(llama)[1] == "\u2581"
    assert only_marks_spaces(llama)
    assert not only_marks_spaces(llama | {"normalizer": {"type": "NFC"}})
    # What another normalizer makes a space is split at, and what is prepended need not be a mark.
    for normalizer in ({"type": "NFKC"}, {"type": "Prepend", "prepend": " "}):
        both = {"type": "Sequence", "normalizers": [gemma["normalizer"], normalizer]}
        assert not settles_before_spaces(gemma | {"normalizer": both})


def test_why_a_unigram_model_does_not() -> None:
    # Three ways to cut "xxxxx" score alike; which one is taken depends on the score of what stands before.
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), ("\u2581", -3.3), ("x", -1.1), ("xx", -1.7), ("y", -0.7)], 0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=False, prepend_scheme="never")
    alone = tokenizer.encode(" xxxxx").tokens
    assert any(tokenizer.encode("y" * k + " xxxxx").tokens[-len(alone) :] != alone for k in range(200))


def with_piece(parsed: dict[str, Any], piece: str, *, remove: bool = False) -> Any:
    vocabulary = parsed["model"]["vocab"]
    if isinstance(vocabulary, dict):
        return {key: i for key, i in vocabulary.items() if not remove or key != piece} | (
            {} if remove else {piece: 9999}
        )
    return [row for row in vocabulary if not remove or row[0] != piece] + ([] if remove else [[piece, -5.0]])
