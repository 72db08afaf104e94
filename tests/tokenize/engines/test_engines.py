"""Every engine against the reference, on texts made to tell them apart."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from posgeom.corpus.texts import Texts
from posgeom.tokenize.engines import chunks
from posgeom.tokenize.engines.added_tokens import AddedTokens
from posgeom.tokenize.engines.choice import KNOWN, choose_engine, kind_of
from posgeom.tokenize.engines.chunks import ChunkCache
from posgeom.tokenize.engines.reference import Reference
from posgeom.tokenize.engines.selfcheck import adversarial_texts, check_engine
from tests.tokenize.engines.helpers import KINDS, UNSPLIT_MERGES, definition, make, unsplit

SUPPORTED = [
    (name, kind) for name, known in KNOWN.items() for kind in KINDS if kind_of(definition(make(kind))) in known
]


def compare(tokenizer: Tokenizer, name: str, seed: int, n_mixed: int) -> None:
    reference, parsed = Reference(tokenizer), definition(tokenizer)
    added = AddedTokens(parsed)
    engine, note = choose_engine(name, parsed, reference, added)
    assert engine is not None
    assert note is None
    assert engine.name.startswith(name)
    words = sorted(tokenizer.get_vocab(with_added_tokens=False))
    texts = [text for text in adversarial_texts(words, seed, n_mixed) if not added.occur_in(text)]
    check_engine(engine, reference, texts)
    check_engine(engine, reference, [])


def test_every_kind_that_is_known_is_tested() -> None:
    tested = {(name, kind_of(definition(make(kind)))) for name, kind in SUPPORTED}
    assert tested == {(name, kind) for name, known in KNOWN.items() for kind in known}


@pytest.mark.parametrize(("name", "kind"), SUPPORTED)
def test_compiled_engines_on_adversarial_texts(name: str, kind: str) -> None:
    compare(make(kind), name, seed=1, n_mixed=6000)


def test_the_chunk_cache_on_adversarial_texts(kind: str) -> None:
    compare(make(kind), "chunks", seed=2, n_mixed=3000)


@pytest.mark.parametrize("kind", UNSPLIT_MERGES)
def test_the_chunk_cache_where_merges_see_the_whole_text(kind: str) -> None:
    compare(unsplit(kind), "chunks", seed=4, n_mixed=6000)


def test_marks_that_stand_in_the_text_and_nothing_at_all() -> None:
    reference, parsed = Reference(unsplit("llama")), definition(unsplit("llama"))
    engine, _ = choose_engine("auto", parsed, reference, AddedTokens(parsed))
    assert engine is not None
    texts = [
        "",
        " ",
        "  ",
        "a",
        " a",
        "a ",
        "a  b ",
        "\u2581",
        "\u2581a",
        "a\u2581 b",
        "a \u2581b",
        "\u2581 \u2581",
        "\n a\n",
    ]
    check_engine(engine, reference, texts)
    check_engine(engine, reference, texts[::-1])


@pytest.mark.parametrize("name", ["nanotoken", "chunks"])
def test_the_real_bert(bert_tokenizer: Tokenizer, name: str) -> None:
    compare(bert_tokenizer, name, seed=3, n_mixed=15_000)


@pytest.mark.parametrize("name", ["nanotoken", "gigatoken", "fastokens", "chunks"])
def test_only_the_first_tokens_are_needed(name: str) -> None:
    tokenizer = make("bert" if name == "nanotoken" else "gpt2")
    reference, parsed = Reference(tokenizer), definition(tokenizer)
    engine, _ = choose_engine(name, parsed, reference, AddedTokens(parsed))
    assert engine is not None
    check_engine(engine, reference, ["a b c " * 30, "", "x", "word" * 40], n_tokens=5)


def test_a_full_cache_starts_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MAX_ENTRIES", 30)
    reference = Reference(make("bert"))
    cache = ChunkCache(reference)
    for seed in range(5):
        check_engine(cache, reference, adversarial_texts(seed=seed, n_mixed=50))


def test_a_cache_serves_several_lengths() -> None:
    reference = Reference(make("bert"))
    cache = ChunkCache(reference)
    for n_tokens in (100, 2, 100):
        check_engine(cache, reference, ["import inspect " * 20, "x" * 500], n_tokens)


def test_threads_share_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MAX_ENTRIES", 500)
    reference = Reference(make("bert"))
    cache = ChunkCache(reference)
    batches = [[f"word{i * j} def {j} {'x' * (i % 9)}" for j in range(60)] for i in range(40)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda batch: cache.encode(Texts.from_strings(batch), 100), batches))
    for batch, (lengths, ids) in zip(batches, found, strict=True):
        expected = reference.encode(Texts.from_strings(batch), 100)
        np.testing.assert_array_equal(lengths, expected[0])
        np.testing.assert_array_equal(ids, expected[1])


def test_names_tell_versions(bert: Path) -> None:
    reference = Reference(Tokenizer.from_file(str(bert)))
    assert reference.name.split() == ["tokenizers", reference.name.split()[1]]
    assert ChunkCache(reference).name == f"chunks, {reference.name}"
