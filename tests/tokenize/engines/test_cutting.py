import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from posgeom.corpus.texts import Texts
from posgeom.tokenize.engines.base import Ragged
from posgeom.tokenize.engines.cutting import FIRST_GUESS, Cutter, cut
from posgeom.tokenize.engines.reference import Reference
from posgeom.tokenize.engines.selfcheck import adversarial_texts
from tests.tokenize.engines.helpers import UNSPLIT, make, unsplit


@given(
    st.lists(
        st.lists(st.sampled_from(["a", "bcd", " ", "\u4e2d", "\xa0", "\n"]), max_size=30).map("".join), max_size=8
    ),
    st.integers(0, 40),
)
def test_cut(strings: list[str], n_bytes: int) -> None:
    texts = Texts.from_strings(strings)
    short, is_cut = cut(texts, np.full(len(strings), n_bytes))
    for whole, part, lost in zip(strings, short, is_cut, strict=True):
        assert whole.startswith(part)
        assert lost == (part != whole)
        if lost:
            assert len(part.encode()) >= n_bytes
            assert whole[len(part)] == " "
            assert not part[-1].isspace()


def test_agrees_with_tokenising_everything(kind: str) -> None:
    compare(make(kind), [t for t in adversarial_texts(seed=5, n_mixed=600) if "<|" not in t and "[" not in t])


@pytest.mark.parametrize("kind", UNSPLIT)
def test_agrees_where_the_text_is_never_split(kind: str) -> None:
    tokenizer = unsplit(kind)
    words = sorted(tokenizer.get_vocab())
    strings = [t for t in adversarial_texts(words, seed=6, n_mixed=1500) if "<unk>" not in t]
    strings += [t.replace("a", "\u2581") + f" \u2581 {t}" for t in strings[::7]]
    compare(tokenizer, strings)


def compare(tokenizer: Tokenizer, strings: list[str]) -> None:
    reference = Reference(tokenizer)
    strings = list(strings)
    strings += [" ".join(strings[i : i + 50]) for i in range(0, 400, 50)]
    texts = Texts.from_strings(strings)
    for n, n_seen in ((1, 2), (3, 3), (3, 6), (16, 32), (64, 128), (64, 64)):
        cutter = Cutter()
        expected = reference.encode(texts, n)
        for _ in range(2):  # the second time with what was learned
            lengths, ids = cutter.first_tokens(texts, n, lambda some, k=n_seen: reference.encode(some, k))  # type: ignore[misc]
            np.testing.assert_array_equal(lengths, expected[0])
            np.testing.assert_array_equal(ids, expected[1])


@pytest.mark.parametrize("word", ["word ", "a ", "\u4e2d ", "supercalifragilistic "])
def test_a_long_document_costs_what_a_short_one_does(word: str) -> None:
    reference = Reference(make("bert"))
    n, handed = 128, []

    def encode(texts: Texts) -> Ragged:
        handed.append(sum(map(len, texts.pieces())))
        return reference.encode(texts, 10**6)

    lengths, _ = Cutter().first_tokens(Texts.from_strings([word * 260_000]), n, encode)
    assert lengths.tolist() == [n]
    assert sum(handed) < 20_000


def test_a_text_without_any_place_to_cut_is_tokenised_whole() -> None:
    reference = Reference(make("bert"))
    whole = Texts.from_strings(["ab,cd;" * 2000])
    lengths, _ = Cutter().first_tokens(whole, 50, lambda some: reference.encode(some, 50))
    assert lengths.tolist() == [50]


@pytest.mark.parametrize(("word", "bytes_per_token"), [("a ", 2), ("word ", 5), ("x" * 9 + " ", 10)])
def test_it_learns_how_dense_the_tokens_are(word: str, bytes_per_token: float) -> None:
    cutter, n, handed = Cutter(), 50, []
    texts = Texts.from_strings([word * 400] * 40)

    def encode(some: Texts, limit: int) -> Ragged:
        handed.append(int(some.sizes().sum()))
        lengths = np.minimum([len(text.split()) for text in some], limit)
        return lengths, np.zeros(int(lengths.sum()), np.int64)

    for _ in range(4):
        handed.clear()
        lengths, _ = cutter.first_tokens(texts, n, lambda some: encode(some, 4 * n))
        assert lengths.tolist() == [n] * 40
    assert cutter.bytes_per_token == pytest.approx(bytes_per_token, rel=0.03)
    assert sum(handed) / texts.sizes().sum() == pytest.approx(n / 400, rel=0.05)


def test_an_engine_that_stops_early_teaches_it_nothing() -> None:
    cutter, texts = Cutter(), Texts.from_strings(["word " * 400] * 40)
    for _ in range(3):
        cutter.first_tokens(texts, 50, lambda some: (np.full(len(some), 50), np.zeros(50 * len(some), np.int64)))
    assert cutter.bytes_per_token == FIRST_GUESS
