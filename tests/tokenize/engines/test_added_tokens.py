from typing import Any

import pytest

from posgeom.corpus.texts import Texts
from posgeom.tokenize.engines.added_tokens import AddedTokens


def added(*contents: str, normalizer: Any = None, normalized: bool = False) -> AddedTokens:
    tokens = [{"content": content, "normalized": normalized} for content in contents]
    return AddedTokens({"added_tokens": tokens, "normalizer": normalizer})


@pytest.mark.parametrize(
    ("contents", "texts", "expected"),
    [
        (["[CLS]", "[SEP]", "<|x|>"], ["a", "b [SEP] c", "[sep]", "[CLS", "<|x|><|x|>", ""], [1, 4]),
        (["ab", "ba"], ["a", "ba", "xa", "b"], [0, 1, 2]),  # over the end of a document: to be safe
        (["aa"], ["aaa", "b", "xaay"], [0, 2]),
        (["<|a|>", "<|ab|>", "<"], ["<", ">", "<|ab|>"], [0, 2]),
        (["\u4e2d"], ["x\u4e2d", "\u4e2e"], [0]),
        ([], ["x"], []),
        (["x"], [], []),
        ([""], ["x"], []),
    ],
)
def test_documents(contents: list[str], texts: list[str], expected: list[int]) -> None:
    assert added(*contents).documents(Texts.from_strings(texts)).tolist() == expected


def test_hundreds_of_tokens_with_one_beginning() -> None:
    tokens = added(*(f"<|reserved_{i}|>" for i in range(300)))
    assert tokens.occur_in("x <|reserved_299|> y")
    assert not tokens.occur_in("x <|reserved_300|> y <| <|reserved_")


def test_tokens_looked_for_in_the_normalised_text() -> None:
    assert added("x", normalized=True).are_plain
    assert added("x", normalizer={"type": "Lowercase"}).are_plain
    assert not added("x", normalizer={"type": "Lowercase"}, normalized=True).are_plain


def test_tokens_that_marks_may_stand_around() -> None:
    marking = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    llama = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"}, marking]}
    assert added("<s>", normalizer=llama, normalized=True).are_plain
    assert not added("a b", normalizer=llama, normalized=True).are_plain
    assert not added("\u2581a", normalizer=llama, normalized=True).are_plain
    assert not added("<s>", normalizer={**marking, "content": "_"}, normalized=True).are_plain
    assert not added("<s>", normalizer={"type": "Prepend", "prepend": "<"}, normalized=True).are_plain
